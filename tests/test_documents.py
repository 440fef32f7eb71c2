"""The documents are true: commands, options, metrics, keys, accounts, columns, addresses, links."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from jackpotd import config
from jackpotd.accounts.export import COLUMNS
from jackpotd.cli import main
from jackpotd.errors import ConfigError
from jackpotd.metrics import HIT_STATUSES, METRIC_NAMES
from jackpotd.principals import ROLES, read_principals
from jackpotd.record.rows import KINDS
from jackpotd.web.site import MAX_DISPLAYS
from meters.money import CURRENCIES
from tests.e2e.running import Property
from tests.e2e.talking import Peer
from tests.jackpotd.accounts.stories import eventful, told
from tests.jackpotd.web.exchange import House

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = (README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
ACCOUNTING = (ROOT / "docs" / "accounting.md").read_text("utf-8")


def section(page: str, heading: str) -> str:
    """Return what stands under a heading."""
    found = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert found, heading
    return found


def rows(text: str, head: str) -> list[list[str]]:
    """Return the cells of the table whose first cell is `head`, without that row."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        for line in text.splitlines()
    ]
    places = [place for place, cells in enumerate(lines) if cells[:1] == [head]]
    assert len(places) == 1, head
    found = lines[places[0] + 2 :]
    return found[: found.index([])] if [] in found else found


def code(text: str) -> list[str]:
    """Return what stands between backquotes."""
    return re.findall(r"`([^`]+)`", text)


def fenced(page: str) -> list[tuple[str, str]]:
    """Return the blocks of code of a page, each with its kind."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


# Commands


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that words name, and the words left. KeyError if there is none."""
    command: click.Command = main
    while words and isinstance(command, click.Group):
        if words[0].startswith("-") and command is not main:
            break
        command, words = command.commands[words[0]], words[1:]
    return command, words


def typed(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command on a page, with the line that it stands on."""
    blocks = "\n".join(text for kind, text in fenced(page) if kind in ("", "ini"))
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    table = re.findall(r"^\|.*$", outside, re.MULTILINE)
    # A command in a text may be broken over two lines.
    prose = re.sub(r"^\|.*$", "", outside, flags=re.MULTILINE).replace("\n", " ")
    lines = [(line, line.partition(" #")[0]) for line in blocks.splitlines()]
    lines += [(line, each) for line in table for each in code(line)]
    lines += [(each, each) for each in code(prose)]
    for line, text in lines:
        if match := re.search(r"(?:^|[ /])jackpotd ([a-z].*)", text):
            yield line, match[1].split()


ALL_TYPED = [
    pytest.param(line, words, id=f"{page.name}: {' '.join(words)}")
    for page in PAGES
    for line, words in typed(page.read_text("utf-8"))
]


@pytest.mark.parametrize(("line", "words"), ALL_TYPED)
def test_every_command_of_the_documents_can_be_typed(line: str, words: list[str]) -> None:
    command, _ = command_of(words)
    options = {opt for each in command.params for opt in each.opts} | {"--help"}
    assert set(re.findall(r"(?<!\S)`?(--[a-z-]+)", line)) <= options


def leaves(group: click.Group, *above: str) -> Iterator[str]:
    """Yield every command that does something."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, *above, name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join((*above, name))


@pytest.mark.parametrize("command", list(leaves(main)))
def test_the_operations_page_says_what_every_command_does(command: str) -> None:
    described = {
        " ".join(word for word in each.split()[1:] if word.islower() and word[0] != "-")
        for cells in rows(OPERATIONS, "command")
        for each in code(cells[0])
    }
    assert command in described


# Metrics and health


def test_the_operations_page_has_every_metric_and_no_other() -> None:
    described = [code(cells[0]) for cells in rows(OPERATIONS, "metric")]
    assert sorted(described) == [[name] for name in METRIC_NAMES]
    assert set(re.findall(r"jackpotd_\w+", OPERATIONS)) == set(METRIC_NAMES)


def test_the_labels_of_the_metrics_are_as_described() -> None:
    said = {code(cells[0])[0]: cells[1] for cells in rows(OPERATIONS, "metric")}
    metrics = House().metrics
    metrics.opened("royal", {"mega": 1})
    exposed = metrics.exposition("")[0].decode()
    for name, cell in said.items():
        series = " ".join(re.findall(rf"^{name}{{(.*)}}", exposed, re.MULTILINE))
        assert set(code(cell)) == set(re.findall(r"(\w+)=", series)) - {"version"}
    assert ", ".join(HIT_STATUSES) in said["jackpotd_hits_total"]


def test_the_checks_of_readiness_are_named() -> None:
    health = section(OPERATIONS, "Metrics and health")
    checks = House().ask("/readyz").json["checks"]
    (named,) = re.findall(r"with the checks \(([^)]*)\)", " ".join(health.split()))
    assert sorted(code(named)) == sorted(checks)


# Configuration

EVERYTHING = """\
property: Riverside
currency: USD
timezone: America/New_York
qqqqqqqq: 1
tables: {T1: {game: let-it-ride, seats: 6, qqqqqqqq: 1}}
progressives:
  own:
    wager: $5
    tables: [T1]
    qqqqqqqq: 1
    paytable:
      title: Own
      levels: {mega: {seed: $1, increment: 1%, qqqqqqqq: 1}}
      pays: {flush: 1 for 1}
      qqqqqqqq: 1
    terms: {qqqqqqqq: 1, levels: {mega: {qqqqqqqq: 1}}}
signs: {S: {progressives: [own], qqqqqqqq: 1}}
"""
PLACES = {
    "": "",
    "tables.T1": "tables.NAME",
    "progressives.own": "progressives.NAME",
    "progressives.own.terms": "progressives.NAME.terms",
    "progressives.own.terms.levels.mega": "progressives.NAME.terms.levels.LEVEL",
    "progressives.own.paytable": "paytable",
    "progressives.own.paytable.levels.mega": "paytable.levels.LEVEL",
    "signs.S": "signs.NAME",
}


def known_keys(folder: Path) -> set[tuple[str, str]]:
    """Return every key that the configuration reads, with where it stands: asked of the reader."""
    path = folder / "riverside.yaml"
    path.write_text(EVERYTHING)
    with pytest.raises(ConfigError) as refused:
        config.load(path)
    found: dict[str, list[str]] = {}
    for problem in refused.value.problems:
        place, _, key = problem.key.rpartition(".")
        assert key == "qqqqqqqq", problem
        found[PLACES[place]] = problem.message.partition("; known are ")[2].split(", ")
    assert set(found) == set(PLACES.values())
    # The keys of a level are described once.
    assert found.pop("progressives.NAME.terms.levels.LEVEL") == found["paytable.levels.LEVEL"]
    return {(place, key) for place, keys in found.items() for key in keys}


def described_keys() -> set[tuple[str, str]]:
    """Return every key of the page's tables, with where it stands."""
    text = section(OPERATIONS, "Configuration")
    properties, _, paytables = text.partition("A paytable of your own")
    tables = rows(properties, "key") + rows(paytables, "key")
    paths = [key for cells in tables for key in code(cells[0])]
    found = set()
    for path in paths:
        parts = path.split(".")
        for place, part in enumerate(parts):
            if part.islower() and (place or part != "paytable"):
                found.add((".".join(parts[:place]), part))
    return found


def test_the_operations_page_has_every_key_of_the_configuration(tmp_path: Path) -> None:
    assert described_keys() == known_keys(tmp_path)


def test_what_holds_if_a_key_is_left_out_is_as_described(tmp_path: Path) -> None:
    first = section(OPERATIONS, "Configuration").partition("A paytable of your own")[0]
    said = {code(cells[0])[0]: cells[2].strip("`") for cells in rows(first, "key")}
    assert said["gaming_day"] == f'"{config.GAMING_DAY}"'
    assert said["tables_listen"] == config.TABLES_LISTEN
    assert said["http_listen"] == config.HTTP_LISTEN
    assert said["principals"] == config.PRINCIPALS
    needed = {key for key, left_out in said.items() if left_out == "needed"}
    assert {key for key in needed if "." not in key} == set(config.REQUIRED) - {
        "tables",
        "progressives",
    }
    path = tmp_path / "riverside.yaml"
    path.write_text("tables: {T1: {}}\nprogressives: {own: {}}\nsigns: {S: {}}\n")
    with pytest.raises(ConfigError) as refused:
        config.load(path)
    missing = {each.key for each in refused.value.problems if each.message == "this is missing"}
    named = {re.sub(r"\.(T1|own|S)\.", ".NAME.", key) for key in missing}
    assert named == needed


def test_the_currencies_that_are_named_are_known() -> None:
    (named,) = re.findall(r"^\| `currency` \|([^:]*):", OPERATIONS, re.MULTILINE)
    assert set(code(named)) < set(CURRENCIES)


def test_the_roles_and_the_keys_of_a_principal_are_as_described(tmp_path: Path) -> None:
    text = section(OPERATIONS, "Keys and roles")
    assert [code(cells[0]) for cells in rows(text, "role")] == [[role] for role in ROLES]
    path = tmp_path / "keys.yaml"
    path.write_text("somebody: {role: floor, qqqqqqqq: 1}\n")
    with pytest.raises(ConfigError, match="there is no such key") as refused:
        read_principals(path, ())
    known = re.findall(r"known are (.*)", str(refused.value))[0].split(", ")
    assert set(known) <= set(code(text))


def test_the_configuration_of_the_readme_is_fine(tmp_path: Path) -> None:
    (text,) = (text for kind, text in fenced(README.read_text("utf-8")) if kind == "yaml")
    path = tmp_path / "riverside.yaml"
    path.write_text(text)
    assert config.load(path).warnings == ()


def test_the_talk_of_the_readme_is_what_is_said(tmp_path: Path) -> None:
    blocks = fenced(README.read_text("utf-8"))
    (text,) = (text for kind, text in blocks if kind == "yaml")
    (talk,) = (text for kind, text in blocks if text.startswith("> "))
    house = Property(config=tmp_path / "riverside.yaml").write(text)
    house.add_key("pit", "table", "FCP-01", "LIR-02")
    lines = talk.splitlines()
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as peer:
        for asked, answered in zip(lines[::2], lines[1::2], strict=True):
            peer.send([json.loads(asked.removeprefix("> "))])
            reply = peer.heard().decode().strip()
            parts = answered.removeprefix("< ").split("...")
            assert re.fullmatch(".*".join(map(re.escape, parts)), reply), reply


# Accounting


def test_the_accounts_are_those_that_the_books_name(tmp_path: Path) -> None:
    path = tmp_path / "riverside.db"
    eventful(path)
    with told(path) as (entries, _):
        named = {posting.account for entry in entries for posting in entry.postings}
    described = [code(cells[0])[0] for cells in rows(ACCOUNTING, "account")]
    assert len(described) == len(set(described))
    assert set(described) == {in_general(each) for each in named}


def in_general(account: str) -> str:
    """Put P, L and T in the place of a progressive, a level and a table."""
    account = re.sub(r"^Assets:Tables:\w+$", "Assets:Tables:T", account)
    account = re.sub(r"(?<=:Progressive:)\w+", "P", account)
    return re.sub(r"(?<=:P:)\w+(?=:)", "L", account)


def test_the_columns_of_the_export_are_in_their_order() -> None:
    described = [key for cells in rows(ACCOUNTING, "column") for key in code(cells[0])]
    assert described == list(COLUMNS)


def test_the_kinds_of_entries_are_those_that_post() -> None:
    (kinds,) = (cells[1] for cells in rows(ACCOUNTING, "column") if cells[0] == "`kind`")
    # To set a table moves no money.
    assert code(kinds) == [kind for kind in KINDS if kind != "table"]


# Addresses, the unit file, links


def test_every_address_of_the_operations_page_is_there_and_no_other() -> None:
    house = House()
    described = {
        path: "floor" in cells[1]
        for cells in rows(OPERATIONS, "address")
        for path in code(cells[0])
    }
    for path, is_floors in described.items():
        real = path.replace("NAME", "pit-1").replace("HIT", "17")
        method = "POST" if "HIT" in path else "GET"
        answer = house.ask(real, method=method, body=b"{}" if method == "POST" else None)
        assert answer.status == (401 if is_floors else 200), path
    first_steps = {step.decode() for step in house.site.resource.children}
    assert {path.split("/")[1] for path in described} == first_steps - {"assets"}
    below_api = {step.decode() for step in house.site.resource.children[b"api"].children}
    assert {path.split("/")[2] for path in described if "/api/" in path} == below_api


def test_the_unit_file_starts_the_daemon_with_files_enough_for_every_display() -> None:
    (text,) = (text for kind, text in fenced(OPERATIONS) if kind == "ini")
    unit = configparser.ConfigParser()
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(text)
    service = unit["Service"]
    assert re.fullmatch(r"/\S+/jackpotd run /\S+\.yaml", service["ExecStart"])
    assert service["Type"] == "notify"
    assert int(service["LimitNOFILE"]) > 2 * MAX_DISPLAYS


def anchors(page: Path) -> set[str]:
    """Return what links may point to within a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


LINKS = [
    pytest.param(page, target, id=f"{page.name}: {target}")
    for page in PAGES
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))
    if "://" not in target
]


@pytest.mark.parametrize(("page", "target"), LINKS)
def test_every_link_between_documents_leads_somewhere(page: Path, target: str) -> None:
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    assert file.is_file()
    assert file.is_relative_to(ROOT)
    if anchor:
        assert anchor in anchors(file)


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached = {README}
    waiting = [README]
    while waiting:
        page = waiting.pop()
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8")):
            file = (page.parent / target).resolve()
            if file.suffix == ".md" and file not in reached:
                reached.add(file)
                waiting.append(file)
    assert reached >= set(PAGES)
