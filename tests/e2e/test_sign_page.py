"""The sign in a real browser, beside a real daemon's site in a process of its own."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.riverside import Property

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = ((1920, 1080), (1080, 1920), (800, 480), (1280, 720), (3840, 2160))
AMOUNTS = ((0, "$0.00"), (12_345_678, "$123,456.78"), (9_999_999_999, "$99,999,999.99"))
# Generous, as a test runs beside others: nothing here measures time.
PATIENCE_MS = 30_000

OVERFLOWING = """() => [...document.querySelectorAll("body, main, h1, #board *, #notice *")]
  .filter((element) => element.checkVisibility() && getComputedStyle(element).display !== "inline")
  .filter(({scrollWidth, clientWidth}) => scrollWidth > clientWidth + 1)
  .map(({className, tagName, textContent}) => `${tagName} ${className}: ${textContent}`)"""
OUTSIDE = """() => [...document.querySelectorAll(".level, .amount, .card, .last li")]
  .filter((element) => element.checkVisibility())
  .filter((element) => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    return left < 0 || top < 0 || right > innerWidth + 1 || bottom > innerHeight + 1;
  })
  .map(({className, textContent}) => `${className}: ${textContent}`)"""


@pytest.fixture
def riverside() -> Iterator[Property]:
    house = Property()
    house.start()
    try:
        house.open_royal(100, mega=123_456_789, major=1_234_567, minor=98_765)
        yield house
    finally:
        house.kill()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def sign(browser: Browser, riverside: Property) -> Iterator[Page]:
    """The sign of the royal, live at 1920x1080."""
    page = browser.new_page(viewport={"width": 1920, "height": 1080})
    page.set_default_timeout(PATIENCE_MS)
    page.clock.install()
    expect.set_options(timeout=PATIENCE_MS)
    page.goto(f"http://127.0.0.1:{riverside.port}/sign/pit-1")
    expect(page.locator("body")).to_have_attribute("data-state", "live")
    yield page
    page.close()


def amount(page: Page, level: str) -> Any:
    return page.locator(f'[data-level="{level}"] .meter .amount')


def test_every_level_shows_its_committed_amount(sign: Page, riverside: Property) -> None:
    expect(sign.locator("h1")).to_have_text("Riverside Royal")
    expect(sign.locator(".level h3")).to_have_text(["mega", "major", "minor"])
    expect(sign.locator(".meter .amount")).to_have_text(["$1,234,567.89", "$12,345.67", "$987.65"])
    riverside.meters(101, major=1_234_600)
    expect(amount(sign, "major")).to_have_text("$12,346.00")


def test_a_hit_is_pending_with_table_and_amount_beside_the_new_running_value(
    sign: Page, riverside: Property
) -> None:
    riverside.meters(150, mega=100_000_000, generations={"mega": 2})
    riverside.hit(150)
    card = sign.locator('[data-level="mega"] .card')
    expect(card).to_have_attribute("data-status", "pending")
    for text in ("pending", "$1,234,567.89", "Table LIR-02 · Seat 5", "Royal flush"):
        expect(card).to_contain_text(text)
    expect(amount(sign, "mega")).to_have_text("$1,000,000.00")
    riverside.meters(151, mega=100_000_500)
    expect(amount(sign, "mega")).to_have_text("$1,000,005.00")
    expect(card).to_contain_text("$1,234,567.89")
    expect(sign.locator("#announcement")).to_have_text(
        "Pending: mega $1,234,567.89, table LIR-02, seat 5, royal flush"
    )
    value, beside = amount(sign, "mega").bounding_box(), card.bounding_box()
    assert value is not None
    assert beside is not None
    assert value["x"] + value["width"] <= beside["x"]


def test_a_paid_award_is_celebrated_and_then_one_of_the_last(
    sign: Page, riverside: Property
) -> None:
    riverside.hit(150)
    riverside.resolve(150, "paid", 151)
    card = sign.locator('[data-level="mega"] .card')
    expect(card).to_have_attribute("data-status", "paid")
    sign.clock.fast_forward(20_000)
    expect(card).to_have_count(0)
    expect(sign.locator('[data-level="mega"] .last li')).to_contain_text(["$1,234,567.89LIR-02"])


def test_a_denied_award_disappears_without_a_word(sign: Page, riverside: Property) -> None:
    riverside.hit(150)
    card = sign.locator(".card")
    expect(card).to_have_count(1)
    riverside.resolve(150, "denied", 151)
    expect(card).to_have_count(0)
    expect(sign.locator(".last li")).to_have_count(0)
    expect(sign.locator("#announcement")).to_contain_text("Pending: mega")


def test_five_last_awards_of_a_level_can_be_read(sign: Page, riverside: Property) -> None:
    for hit in range(1, 9):
        riverside.hit(hit, status="paid", amount_minor=hit * 100)
    rows = sign.locator('[data-level="mega"] .last li b')
    expect(rows).to_have_text(["$8.00", "$7.00", "$6.00", "$5.00", "$4.00"])
    for row in rows.all():
        expect(row).to_be_in_viewport(ratio=1)


def test_envy_of_a_hand_without_a_wager_is_pending_with_what_the_others_get(
    sign: Page, riverside: Property
) -> None:
    riverside.hit(150, level=None, line=None, meter_minor=None, amount_minor=0)
    card = sign.locator(".extra .card")
    for text in ("pending Envy", "$5,000.00", "Table LIR-02"):
        expect(card).to_contain_text(text)


def test_a_sign_whose_daemon_is_gone_shows_no_value_and_recovers_by_itself(
    sign: Page, riverside: Property
) -> None:
    riverside.kill()
    notice = sign.locator("#notice")
    expect(notice).to_contain_text("Not connected")
    expect(notice).to_contain_text("not current")
    expect(sign.locator("#board")).to_be_hidden()
    expect(amount(sign, "mega")).to_be_hidden()
    for width, height in SIZES:
        sign.set_viewport_size({"width": width, "height": height})
        assert sign.evaluate(OVERFLOWING) == []
    riverside.start()
    riverside.open_royal(100, mega=123_456_789, major=1_234_567, minor=98_765)
    expect(notice).to_be_hidden()
    expect(amount(sign, "mega")).to_be_visible()
    expect(amount(sign, "mega")).to_have_text("$1,234,567.89")


def test_a_daemon_that_is_connected_but_silent_is_no_better(
    sign: Page, riverside: Property
) -> None:
    riverside.signal(signal.SIGSTOP)
    expect(sign.locator("#notice")).to_contain_text("Not connected")
    expect(sign.locator("#board")).to_be_hidden()
    riverside.signal(signal.SIGCONT)
    expect(sign.locator("#notice")).to_be_hidden()
    riverside.meters(101, mega=123_456_800)
    expect(amount(sign, "mega")).to_have_text("$1,234,568.00")


def test_a_daemon_that_knows_less_than_the_sign_is_not_believed(
    sign: Page, riverside: Property
) -> None:
    riverside.kill()
    expect(sign.locator("#notice")).to_be_visible()
    riverside.start()
    riverside.open_royal(99, mega=100, major=100, minor=100)
    # Two answers: the page has taken the first before it asks for the second.
    for _ in range(2):
        with sign.expect_response(lambda answer: "/api/meters" in answer.url) as asked:
            pass
        assert asked.value.json()["sequence"] == 99
    expect(sign.locator("body")).to_have_attribute("data-state", "stale")
    riverside.meters(101, mega=123_456_800)
    expect(amount(sign, "mega")).to_have_text("$1,234,568.00")
    expect(amount(sign, "mega")).to_be_visible()


STATES = """() => {
  const states = [];
  new MutationObserver(() => states.push(document.body.dataset.state))
    .observe(document.body, {attributes: true});
  return states;
}"""


def test_a_quiet_house_is_no_silence(sign: Page, riverside: Property) -> None:
    states = sign.evaluate_handle(STATES)
    sign.evaluate(
        """() => new Promise((resolve) => {
          let ticks = 0;
          const source = new EventSource("/api/stream?sign=pit-1");
          source.addEventListener("tick", () => {
            ticks += 1;
            if (ticks === 2) {
              source.close();
              resolve();
            }
          });
        })"""
    )
    assert states.json_value() == []


def test_a_sign_behind_a_proxy_that_holds_the_stream_back_asks_and_stays_current(
    browser: Browser, riverside: Property
) -> None:
    page = browser.new_page()
    page.route("**/api/stream*", lambda route: route.abort())
    page.goto(f"http://127.0.0.1:{riverside.port}/sign/pit-1")
    expect(page.locator("body")).to_have_attribute("data-state", "live", timeout=PATIENCE_MS)
    states = page.evaluate_handle(STATES)
    for sequence in (101, 102, 103):
        riverside.meters(sequence, mega=sequence * 100)
        expect(amount(page, "mega")).to_have_text(f"${sequence}.00", timeout=PATIENCE_MS)
    assert states.json_value() == []
    page.close()


def test_a_tablet_that_slept_believes_its_values_only_when_it_has_heard_again(
    sign: Page, riverside: Property
) -> None:
    states = sign.evaluate_handle(STATES)
    sign.clock.fast_forward(3_600_000)
    sign.wait_for_function("(states) => states.length === 2", arg=states)
    assert states.json_value() == ["stale", "live"]


def test_a_rolling_value_never_passes_a_committed_one_and_never_goes_back(
    sign: Page, riverside: Property
) -> None:
    seen = sign.evaluate_handle(
        """() => {
          const element = document.querySelector('[data-level="minor"] .meter .amount');
          const seen = [element.textContent];
          new MutationObserver(() => seen.push(element.textContent))
            .observe(element, {childList: true, characterData: true, subtree: true});
          return seen;
        }"""
    )
    riverside.meters(101, minor=150_000)
    expect(amount(sign, "minor")).to_have_text("$1,500.00")
    shown = [int(re.sub(r"\D", "", text)) for text in seen.json_value()]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (98_765, 150_000)
    assert len(shown) > 2


def test_a_value_does_not_roll_where_less_motion_is_preferred(
    sign: Page, riverside: Property
) -> None:
    sign.emulate_media(reduced_motion="reduce")
    seen = sign.evaluate_handle(
        """() => {
          const element = document.querySelector('[data-level="minor"] .meter .amount');
          const seen = [];
          new MutationObserver(() => seen.push(element.textContent))
            .observe(element, {childList: true});
          return seen;
        }"""
    )
    riverside.meters(101, minor=150_000)
    expect(amount(sign, "minor")).to_have_text("$1,500.00")
    assert seen.json_value() == ["$1,500.00"]


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_amount_fits_every_display(
    sign: Page, riverside: Property, size: tuple[int, int]
) -> None:
    sign.emulate_media(reduced_motion="reduce")
    sign.set_viewport_size({"width": size[0], "height": size[1]})
    sequence = 200
    for minor, text in AMOUNTS:
        sequence += 10
        riverside.meters(sequence, mega=minor, generations={"mega": sequence})
        riverside.hit(sequence, amount_minor=minor, status="paid")
        expect(amount(sign, "mega")).to_have_text(text)
        assert sign.evaluate(OVERFLOWING) == sign.evaluate(OUTSIDE) == []
    riverside.hit(sequence + 1, amount_minor=9_999_999_999)
    expect(sign.locator(".card")).to_contain_text("$99,999,999.99")
    assert sign.evaluate(OVERFLOWING) == sign.evaluate(OUTSIDE) == []


def test_the_pages_load_without_an_error_and_lead_to_each_other(
    browser: Browser, riverside: Property
) -> None:
    page = browser.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"http://127.0.0.1:{riverside.port}/")
    page.get_by_role("link", name="Lucky Pit").click()
    expect(page.locator("body")).to_have_attribute("data-state", "live")
    expect(page.locator(".progressive > h2")).to_have_text(["Riverside Royal"])
    page.goto(f"http://127.0.0.1:{riverside.port}/sign/pit-9")
    assert [text for text in problems if "404" not in text] == []
    page.get_by_role("link").click()
    expect(page.get_by_role("heading", name="Signs")).to_be_visible()
    page.close()


def test_without_scripts_the_sign_says_where_the_values_are(
    browser: Browser, riverside: Property
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{riverside.port}/sign/pit-1")
    # Playwright's other locators look past a noscript.
    expect(page.locator("noscript p")).to_be_visible()
    page.locator("noscript a").click()
    expect(page.locator("body")).to_contain_text("$1,234,567.89")
    context.close()
