"""The configuration: what it gives, and that everything wrong with it is said at once."""

from __future__ import annotations

from datetime import time
from importlib.resources import as_file, files
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from jackpotd import config
from jackpotd.config import Config, Table
from jackpotd.errors import ConfigError, Problem
from meters.money import CURRENCIES
from meters.paytable import EVERY_HAND, HandPay
from meters.terms import LevelTerms, Line, Terms
from signage.board import Sign

SAMPLE = """\
property: Riverside
currency: USD
timezone: America/New_York
tables:
  FCP-01: {game: four-card-poker, seats: 6}
  LIR-02: {game: let-it-ride, seats: 7}
  CSP-03: {game: caribbean-stud, seats: 7}
  DJW-04: {game: dj-wild-stud, seats: 6}
  PGP-05: {game: pai-gow-poker, seats: 6}
progressives:
  royal:
    paytable: pa/641a-five-card-d
    wager: $5
    tables: [FCP-01, LIR-02]
"""
ROYAL = """\
    paytable: pa/641a-five-card-d
    wager: $5
    tables: [FCP-01, LIR-02]
"""


def load(folder: Path, text: str) -> Config:
    path = folder / "riverside.yaml"
    path.write_text(text, "utf-8")
    return config.load(path)


def problems(folder: Path, text: str) -> tuple[Problem, ...]:
    """Return what is wrong with a configuration."""
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    return caught.value.problems


def with_royal(lines: str) -> str:
    """Return the sample with these lines in the place of its progressive's."""
    assert ROYAL in SAMPLE
    return SAMPLE.replace(ROYAL, lines)


def royal(folder: Path, lines: str) -> Terms:
    return load(folder, with_royal(lines)).progressives["royal"].terms


def changed(old: str, new: str) -> str:
    assert old in SAMPLE
    return SAMPLE.replace(old, new)


def test_a_short_configuration_gets_the_defaults(tmp_path: Path) -> None:
    loaded = load(tmp_path, SAMPLE)
    assert loaded.path == tmp_path / "riverside.yaml"
    assert (loaded.property, loaded.currency) == ("Riverside", CURRENCIES["USD"])
    assert loaded.timezone == ZoneInfo("America/New_York")
    assert loaded.gaming_day == time(6, 0)
    assert loaded.store == tmp_path / "riverside.db"
    assert loaded.principals == tmp_path / "keys.yaml"
    assert loaded.tables_listen == "tcp:7011:interface=127.0.0.1"
    assert loaded.http_listen == "tcp:8011:interface=127.0.0.1"
    assert (loaded.validate, loaded.warnings) == ((), ())
    assert loaded.tables["LIR-02"] == Table(name="LIR-02", game="let-it-ride", seats=7)


def test_whatever_is_given_takes_the_place_of_a_default(tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    loaded = load(
        tmp_path,
        SAMPLE + 'gaming_day: "10:30"\nstore: books/record.db\nprincipals: who.yaml\n'
        "tables_listen: tcp:0:interface=127.0.0.1\nhttp_listen: 'tcp6:8011:interface=\\:\\:1'\n"
        "validate: [flush]\nsigns:\n  pit: {title: The Pit, progressives: [royal]}\n",
    )
    assert loaded.gaming_day == time(10, 30)
    assert loaded.store == tmp_path / "books" / "record.db"
    assert loaded.principals == tmp_path / "who.yaml"
    assert loaded.tables_listen == "tcp:0:interface=127.0.0.1"
    assert loaded.http_listen == "tcp6:8011:interface=\\:\\:1"
    assert loaded.validate == loaded.progressives["royal"].terms.validate == ("flush",)
    assert loaded.signs == {"pit": Sign(title="The Pit", progressives=("royal",))}
    assert loaded.warnings == ()


def test_paths_are_whole_wherever_the_daemon_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(tmp_path, SAMPLE)
    monkeypatch.chdir(tmp_path)
    loaded = config.load(Path("riverside.yaml"))
    assert loaded.path == tmp_path / "riverside.yaml"
    assert loaded.store == tmp_path / "riverside.db"


def test_a_progressive_is_its_paytable_on_its_wager(tmp_path: Path) -> None:
    """Rules 2.2: "$10,000 for 1" on a $5 wager is $50,000."""
    progressive = load(tmp_path, SAMPLE).progressives["royal"]
    assert progressive.paytable_name == "pa/641a-five-card-d"
    assert progressive.terms == Terms(
        name="royal",
        title="royal",
        wager_minor=500,
        tables=("FCP-01", "LIR-02"),
        levels=(
            LevelTerms(
                name="mega", seed_minor=5_000_000, reseed_minor=5_000_000, increment_ppm=100_000
            ),
            LevelTerms(
                name="major", seed_minor=500_000, reseed_minor=500_000, increment_ppm=80_000
            ),
            LevelTerms(
                name="minor", seed_minor=125_000, reseed_minor=125_000, increment_ppm=30_000
            ),
        ),
        pays={
            "royal flush": Line(text="100% of mega", level="mega", share_ppm=1_000_000),
            "straight flush": Line(text="100% of major", level="major", share_ppm=1_000_000),
            "four of a kind": Line(text="100% of minor", level="minor", share_ppm=1_000_000),
            "full house": Line(text="50 for 1", pays_minor=25_000),
            "flush": Line(text="40 for 1", pays_minor=20_000),
            "straight": Line(text="30 for 1", pays_minor=15_000),
            "three of a kind": Line(text="9 for 1", pays_minor=4_500),
        },
        envy={"royal flush": 500_000, "straight flush": 150_000},
        hand_pay=HandPay.PERCENTAGE,
        validate=(),
    )


def test_a_progressive_says_whether_it_holds_the_table_and_what_folded_hands_win(
    tmp_path: Path,
) -> None:
    terms = royal(
        tmp_path,
        ROYAL + "    title: The  Royal\n    hold_table: false\n    folded_hands_qualify: true\n",
    )
    assert (terms.title, terms.hold_table, terms.folded_hands_qualify) == ("The Royal", False, True)


def test_without_signs_each_progressive_has_one_of_its_name(tmp_path: Path) -> None:
    loaded = load(tmp_path, SAMPLE + "    title: The Royal\n")
    assert loaded.signs == {"royal": Sign(title="The Royal", progressives=("royal",))}


def test_a_table_may_have_two_progressives_or_none(tmp_path: Path) -> None:
    loaded = load(
        tmp_path,
        SAMPLE + "  aces: {paytable: pa/641a-four-card-a, wager: $1, tables: [FCP-01]}\n",
    )
    assert [each.terms.tables for each in loaded.progressives.values()] == [
        ("FCP-01", "LIR-02"),
        ("FCP-01",),
    ]


# What is wrong with the file itself.

WRONG = [
    ("property: Riverside\n", "", (1, "property"), "this is missing"),
    ("property: Riverside", "property: 5", (1, "property"), "5 is no text"),
    ("property: Riverside", 'property: " "', (1, "property"), "the text is empty"),
    ("property: Riverside", "property: [a]", (1, "property"), "one text is wanted"),
    ("property: Riverside", f"property: {'x' * 501}", (1, "property"), "at most 500"),
    ("currency: USD\n", "", (1, "currency"), "this is missing"),
    ("currency: USD", "currency: usd", (2, "currency"), "did you mean USD?"),
    ("currency: USD", "currency: XXX", (2, "currency"), "XXX is none of AUD"),
    ("timezone: America/New_York\n", "", (1, "timezone"), "this is missing"),
    ("America/New_York", "America/Riverside", (3, "timezone"), "is no time zone"),
    ("America/New_York", "../../etc/passwd", (3, "timezone"), "is no time zone"),
    ("America/New_York", "America", (3, "timezone"), "is no time zone"),
    ("seats: 6}\n  LIR", "seats: 0}\n  LIR", (5, "tables.FCP-01.seats"), "not between 1 and 12"),
    ("seats: 6}\n  LIR", "seats: 13}\n  LIR", (5, "tables.FCP-01.seats"), "between 1 and 12"),
    ("seats: 6}\n  LIR", "seats: six}\n  LIR", (5, "tables.FCP-01.seats"), "an integer"),
    ("seats: 6}\n  LIR", 'seats: "6"}\n  LIR', (5, "tables.FCP-01.seats"), "without quotes"),
    ("seats: 6}\n  LIR", "seats: true}\n  LIR", (5, "tables.FCP-01.seats"), "an integer"),
    (", seats: 6}\n  LIR", "}\n  LIR", (5, "tables.FCP-01.seats"), "this is missing"),
    ("{game: four-card-poker, seats", "{seats", (5, "tables.FCP-01.game"), "this is missing"),
    ("game: four-card-poker", "game: four card", (5, "tables.FCP-01.game"), "is no game"),
    ("tables: [FCP-01, LIR-02]", "tables: []", (14, "progressives.royal.tables"), "without tables"),
    ("    tables: [FCP-01, LIR-02]\n", "", (12, "progressives.royal.tables"), "this is missing"),
    ("[FCP-01, LIR-02]", "FCP-01", (14, "progressives.royal.tables"), "a list is wanted"),
    (
        "[FCP-01, LIR-02]",
        "[FCP-01, FCP-01]",
        (14, "progressives.royal.tables[1]"),
        "given twice",
    ),
    (
        "[FCP-01, LIR-02]",
        "[FCP-01, FCP-2]",
        (14, "progressives.royal.tables[1]"),
        "there is no table FCP-2 (did you mean FCP-01?)",
    ),
    ("    wager: $5\n", "", (12, "progressives.royal.wager"), "write it like $5"),
    ("wager: $5", "wager: 5", (13, "progressives.royal.wager"), "5 is no text"),
    ("wager: $5", "wager: €5", (13, "progressives.royal.wager"), "is not an amount of USD"),
    ("wager: $5", "wager: $0", (13, "progressives.royal.wager"), "more than nothing"),
    ("wager: $5", "wager: $5.001", (13, "progressives.royal.wager"), "finer than 2"),
    ("wager: $5", "wager: $-5", (13, "progressives.royal.wager"), "not an amount"),
    ("    paytable: pa/641a-five-card-d\n", "", (12, "progressives.royal.paytable"), "missing"),
    (
        "pa/641a-five-card-d",
        "pa/641a-five-card-dd",
        (12, "progressives.royal.paytable"),
        "did you mean pa/641a-five-card-d?",
    ),
    ("pa/641a-five-card-d", "5", (12, "progressives.royal.paytable"), "5 is no text"),
    ("[FCP-01, LIR-02]", "[FCP-01, 2]", (14, "progressives.royal.tables[1]"), "2 is no text"),
    ("  royal:\n", "  the royal:\n", (12, "progressives.the royal"), "names have letters"),
    ("  royal:\n", "  -royal:\n", (12, "progressives.-royal"), "begin with a letter"),
    ("  royal:\n", "  royal:mega:\n", (12, "progressives.royal:mega"), "names have letters"),
    ("  royal:\n", f"  {'r' * 65}:\n", (12, f"progressives.{'r' * 65}"), "at most 64"),
    ("  FCP-01:", "  fcp_01: {game: x, seats: 1}\n  FCP-01:", (6, "tables.FCP-01"), "tell FCP-01"),
]


@pytest.mark.parametrize(("old", "new", "place", "words"), WRONG)
def test_each_fault_is_said_with_its_line_its_key_and_the_remedy(
    tmp_path: Path, old: str, new: str, place: tuple[int, str], words: str
) -> None:
    (problem,) = problems(tmp_path, changed(old, new))
    assert (problem.line, problem.key) == place
    assert words in problem.message
    assert problem.file == str(tmp_path / "riverside.yaml")


def test_a_misspelt_key_is_said_and_so_is_the_one_that_is_missing(tmp_path: Path) -> None:
    found = problems(tmp_path, changed("currency", "curency"))
    assert [(each.line, each.key) for each in found] == [(1, "currency"), (2, "curency")]
    assert "did you mean currency?" in found[1].message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("gaming_day: 06:00", "base 60"),
        ('gaming_day: "6:00"', "is no time of day"),
        ('gaming_day: "24:00"', "is no time of day"),
        ('gaming_day: "06:60"', "is no time of day"),
        ("gaming_day: 6", "6 is no text"),
        ("store: postgresql://db.example/riverside", "keeps its record in SQLite"),
        ("store: postgres://db.example/riverside", "keeps its record in SQLite"),
        ("store: http://db.example/riverside", "is no file"),
        ("store: books/", "is no file"),
        ("store: missing/riverside.db", "is not there"),
        ("tables_listen: 7011", "7011 is no text"),
        ('tables_listen: "7011"', "no kind of listener"),
        ("tables_listen: udp:7011", "no kind of listener"),
        ("tables_listen: tcp:port", "'port' is no port"),
        ("tables_listen: tcp:65536", "'65536' is no port"),
        ("tables_listen: tcp:-1", "'-1' is no port"),
        ("tables_listen: 'tcp:'", "'' is no port"),
        ("tables_listen: tcp:7011:interface=localhost", "no address of an interface"),
        ("tables_listen: tcp:7011:interfaces=127.0.0.1", "can't be listened on"),
        ("http_listen: ssl:8011:privateKey=missing.pem", "missing.pem is not there"),
        ("http_listen: 'systemd:domain=INET'", "systemd:domain=INET:index=0"),
        ("validate: every", "write percentage, all, or a list of hands"),
        ("validate: [flash]", "no progressive pays flash (did you mean flush?)"),
        ("signs: {pit 1: {progressives: [royal]}}", "names have letters"),
        ("signs: {pit: {title: Royal}}", "this is missing"),
        ("signs: {pit: {progressives: []}}", "at least one progressive"),
        ("signs: {pit: {progressives: [roial]}}", "no progressive roial (did you mean royal?)"),
        ("signs: {pit: {progressives: [royal, royal]}}", "given twice"),
        ("signs: [royal]", "signs by their names are wanted"),
        ("merge: {<<: *royal}", "there is no such key"),
    ],
)
def test_what_is_no_right_setting_is_said_at_its_line(
    tmp_path: Path, line: str, words: str
) -> None:
    found = [each for each in problems(tmp_path, f"{SAMPLE}{line}\n") if words in each.message]
    assert [problem.line for problem in found] == [15]
    assert found[0].key.startswith(line.partition(":")[0])


@pytest.mark.parametrize(
    "line",
    [
        "http_listen: unix:/run/jackpotd/http",
        "http_listen: systemd:domain=INET:index=0",
        "http_listen: tcp:8011:127.0.0.1",
        "http_listen: tcp:port=8011:interface=127.8.8.8",
    ],
)
def test_what_stays_on_this_machine_brings_no_warning(tmp_path: Path, line: str) -> None:
    assert load(tmp_path, f"{SAMPLE}{line}\n").warnings == ()


@pytest.mark.parametrize(
    "line",
    [
        "tables_listen: tcp:7011",
        "tables_listen: tcp:7011:interface=10.0.0.1",
        "tables_listen: tcp:7011:0.0.0.0",
        "http_listen: 'tcp6:8011:interface=\\:\\:'",
    ],
)
def test_a_listener_beyond_this_machine_without_tls_brings_a_warning(
    tmp_path: Path, line: str
) -> None:
    (warning,) = load(tmp_path, f"{SAMPLE}{line}\n").warnings
    assert (warning.line, warning.key) == (15, line.partition(":")[0])
    assert "without TLS" in warning.message


def test_every_error_is_said_at_once(tmp_path: Path) -> None:
    text = """\
property: 5
currency: XXX
timezone: Nowhere
gaming_day: 06:00
store: postgresql://db
tables_listen: tcp:x
validate: some
colour: red
tables:
  FCP-01: {game: four-card-poker, seats: 99}
  FCP 02: {game: four-card-poker, seats: 6}
  LIR-03: {game: let-it-ride, seats: 6, seats: 7}
progressives:
  royal:
    paytable: pa/641a-five-card-d
    wager: 5
    tables: [FCP-01, LIR-03, XXX-04]
    hold_table: yes
    terms:
      levels:
        mega: {cap: $500, 000}
        major: {seed: $5000}
        huge: {cap: 1.5}
      pays: {full house: 60 for 1}
  aces:
    paytable: pa/nothing
    wager: $1
    tables: [LIR-03]
    terms: {levels: {meter: {increment: 21}}}
signs:
  pit: {progressives: [royal, kings]}
"""
    assert [(each.line, each.key) for each in problems(tmp_path, text)] == [
        (1, "property"),
        (2, "currency"),
        (3, "timezone"),
        (4, "gaming_day"),
        (5, "store"),
        (6, "tables_listen"),
        (7, "validate"),
        (8, "colour"),
        (10, "tables.FCP-01.seats"),
        (11, "tables.FCP 02"),
        (12, "tables.LIR-03.seats"),
        (16, "progressives.royal.wager"),
        (17, "progressives.royal.tables[2]"),
        (18, "progressives.royal.hold_table"),
        (21, "progressives.royal.terms.levels.mega.cap"),
        (22, "progressives.royal.terms.levels.major.seed"),
        (23, "progressives.royal.terms.levels.huge.cap"),
        (23, "progressives.royal.terms.levels.huge"),
        (24, "progressives.royal.terms.pays.full house"),
        (26, "progressives.aces.paytable"),
        (29, "progressives.aces.terms.levels.meter.increment"),
        (31, "signs.pit.progressives"),
    ]


@pytest.mark.parametrize("text", ["", "just text\n", "- a\n- b\n", "a: [b\n"])
def test_a_file_that_is_no_configuration_says_so_in_one_line(tmp_path: Path, text: str) -> None:
    assert len(problems(tmp_path, text)) == 1


def test_tables_and_progressives_are_mappings_with_something_in_them(tmp_path: Path) -> None:
    head, _, rest = SAMPLE.partition("tables:")
    found = problems(tmp_path, head + "tables: [FCP-01]\nprogressives: {}\n")
    assert [(each.line, each.key) for each in found] == [(4, "tables"), (5, "progressives")]
    progressives = rest[rest.index("progressives:") :]
    for tables in ("", "tables: {}\n", "tables: 5\n"):
        (problem,) = problems(tmp_path, head + tables + progressives)
        assert problem.key == "tables"


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read: No such file"):
        config.load(tmp_path / "missing.yaml")


# Which game may play which paytable.


@pytest.mark.parametrize(
    ("paytable", "tables"),
    [
        ("pa/641a-five-card-d", "FCP-01, LIR-02, CSP-03"),
        ("pa/639a-h", "CSP-03, FCP-01"),
        ("pa/643a-five-card-a", "LIR-02, FCP-01, CSP-03"),
    ],
)
def test_games_whose_chapters_print_one_paytable_share_a_jackpot(
    tmp_path: Path, paytable: str, tables: str
) -> None:
    lines = f"    paytable: {paytable}\n    wager: $5\n    tables: [{tables}]\n"
    assert royal(tmp_path, lines).tables == tuple(tables.split(", "))


def test_any_other_game_is_an_error_that_names_both_and_their_sections(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, changed("LIR-02]", "DJW-04]"))
    assert (problem.line, problem.key) == (14, "progressives.royal.tables[1]")
    for words in (
        "DJW-04 plays dj-wild-stud (58 Pa. Code § 687a.12(c))",
        "pa/641a-five-card-d is printed for",
        "four-card-poker (58 Pa. Code § 641a.12(e))",
        "caribbean-stud (58 Pa. Code § 639a.12(d))",
    ):
        assert words in problem.message


@pytest.mark.parametrize("letter", ["a", "b", "c", "e"])
def test_a_paytable_that_may_not_be_linked_takes_one_table(tmp_path: Path, letter: str) -> None:
    """§ 639a.12(d)(3)."""
    text = changed("LIR-02:", "CSP-04:").replace("let-it-ride", "caribbean-stud")
    text = text.replace("pa/641a-five-card-d", f"pa/639a-{letter}")
    (problem,) = problems(tmp_path, text.replace("[FCP-01, LIR-02]", "[CSP-03, CSP-04]"))
    assert (problem.line, problem.key) == (14, "progressives.royal.tables")
    assert "may not be linked: one table (58 Pa. Code § 639a.12(d))" in problem.message
    loaded = load(tmp_path, text.replace("[FCP-01, LIR-02]", "[CSP-03]"))
    assert loaded.progressives["royal"].terms.tables == ("CSP-03",)


def test_a_game_without_a_chapter_is_warned_of(tmp_path: Path) -> None:
    (warning,) = load(tmp_path, changed("dj-wild-stud", "dj-wild-stad")).warnings
    assert (warning.line, warning.key) == (8, "tables.DJW-04.game")
    assert "did you mean dj-wild-stud?" in warning.message


# What terms may say of a paytable that the regulation prints.


def terms_text(paytable: str, wager: str, table: str, terms: str) -> str:
    indented = "".join(f"      {line}\n" for line in terms.splitlines())
    head = f"    paytable: {paytable}\n    wager: {wager}\n    tables: [{table}]\n"
    return with_royal(head + ("    terms:\n" + indented if terms else ""))


D = ("pa/641a-five-card-d", "$5", "FCP-01")
E = ("pa/639a-e", "$1", "CSP-03")
ACES = ("pa/641a-four-card-b", "$1", "FCP-01")
BONUS = ("pa/641a-five-card-hand-bonus", "$1", "FCP-01")
THREE = ("pa/643a-three-card-a", "$1", "LIR-02")
WILD = ("pa/687a-2", "$5", "DJW-04")
PAI_GOW = ("pa/561-13d", "$1", "PGP-05")


@pytest.mark.parametrize(
    ("paytable", "terms", "key", "words"),
    [
        (D, "levels: {mega: {seed: $9 for 1}}", "levels.mega.seed", "a seed of $10,000 for 1"),
        (D, 'levels: {mega: {seed: "$50,000"}}', "levels.mega.seed", "a seed of $10,000 for 1"),
        (D, "levels: {mega: {reseed: $0}}", "levels.mega.reseed", "a reseed of $10,000 for 1"),
        (D, "levels: {mega: {increment: 9%}}", "levels.mega.increment", "an increment of 10%"),
        (D, "levels: {mega: {reserve: 1%}}", "levels.mega.reserve", "prints no reserve"),
        (E, "levels: {meter: {reserve: 4%}}", "levels.meter.reserve", "a reserve of 5%"),
        (BONUS, "levels: {meter: {reseed: $1 for 1}}", "levels.meter.reseed", "a reseed of $0"),
        (WILD, "levels: {meter: {seed: $9}}", "levels.meter.seed", "a seed of $10,000"),
        (D, "levels: {giant: {cap: $1}}", "levels.giant", "the paytable has mega, major, minor"),
        (D, "pays: {flush: 41 for 1}", "pays.flush", "prints 40 for 1"),
        (D, "pays: {flush: 40 to 1}", "pays.flush", "prints 40 for 1"),
        (D, "pays: {flush: $200}", "pays.flush", "prints 40 for 1"),
        (D, "pays: {royal flush: 99% of mega}", "pays.royal flush", "prints 100% of mega"),
        (D, "pays: {royal flush: 100% of major}", "pays.royal flush", "prints 100% of mega"),
        (D, "pays: {two pair: 2 for 1}", "pays.two pair", "prints no line for two pair"),
        (WILD, "pays: {flush: 40 for 1}", "pays.flush", "prints 40 to 1"),
        (WILD, "envy: {royal flush: $1}", "envy", "$5,000 for royal flush"),
        (E, "envy: {royal flush: $1}", "envy", "prints no Envy"),
        (PAI_GOW, "envy: {five aces: $1}", "envy", "prints no Envy"),
        (PAI_GOW, "hand_pay: full", "hand_pay", "prints tenth hand pays"),
        (THREE, "hand_pay: percentage", "hand_pay", "prints full hand pays"),
        (PAI_GOW, "validate: percentage", "validate", "prints validation of all"),
    ],
)
def test_what_the_regulation_prints_must_be_so(
    tmp_path: Path, paytable: tuple[str, str, str], terms: str, key: str, words: str
) -> None:
    found = problems(tmp_path, terms_text(*paytable, terms))
    (problem,) = [each for each in found if each.key == f"progressives.royal.terms.{key}"]
    assert words in problem.message
    assert problem.line == 16
    if "paytable has" not in words:
        assert problem.message.startswith("58 Pa. Code §")


@pytest.mark.parametrize(
    ("paytable", "terms", "missing"),
    [
        (WILD, "", ["levels.meter.increment"]),
        (PAI_GOW, "", ["levels.meter.increment", "levels.meter.seed"]),
        (PAI_GOW, "levels: {meter: {increment: 20%}}", ["levels.meter.seed"]),
        (BONUS, "", ["pays"]),
        (THREE, "", ["pays"]),
    ],
)
def test_what_the_regulation_leaves_open_must_be_given(
    tmp_path: Path, paytable: tuple[str, str, str], terms: str, missing: list[str]
) -> None:
    found = problems(tmp_path, terms_text(*paytable, terms))
    assert sorted(each.key for each in found) == [
        f"progressives.royal.terms.{key}" for key in missing
    ]


def test_an_open_figure_that_is_wrong_is_not_said_to_be_missing_too(tmp_path: Path) -> None:
    found = problems(tmp_path, terms_text(*PAI_GOW, "levels: {meter: {seed: 2000, increment: 20}}"))
    assert [each.key for each in found] == [
        "progressives.royal.terms.levels.meter.increment",
        "progressives.royal.terms.levels.meter.seed",
    ]


def test_what_is_open_is_named_in_the_error(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, terms_text(*THREE, ""))
    assert "mini royal" in problem.message


def test_a_pai_gow_seed_is_at_least_2000_dollars(tmp_path: Path) -> None:
    """§ 561.13d(g)."""
    terms = "levels:\n  meter:\n    seed: $1,999.99\n    increment: 20%"
    found = problems(tmp_path, terms_text(*PAI_GOW, terms))
    assert {each.key for each in found} == {
        "progressives.royal.terms.levels.meter.seed",
        "progressives.royal.terms.levels.meter.reseed",
    }
    assert all("at least $2,000.00 (58 Pa. Code § 561.13d)" in each.message for each in found)
    level = royal(
        tmp_path,
        "    paytable: pa/561-13d\n    wager: $1\n    tables: [PGP-05]\n    terms:\n      levels:\n"
        "        meter: {seed: $2000, reseed: $3000, increment: 20%, reserve: 2.5%}\n",
    ).levels[0]
    assert level == LevelTerms(
        name="meter",
        seed_minor=200_000,
        reseed_minor=300_000,
        increment_ppm=200_000,
        reserve_ppm=25_000,
    )


def test_a_plain_amount_is_itself_and_one_for_1_rises_with_the_wager(tmp_path: Path) -> None:
    caps = "levels:\n  mega: {cap: $500000}\n  major: {cap: $2000 for 1}"
    terms = load(tmp_path, terms_text(*D, caps)).progressives["royal"].terms
    assert [level.cap_minor for level in terms.levels] == [50_000_000, 1_000_000, None]


def test_a_cap_is_not_below_the_seed(tmp_path: Path) -> None:
    found = problems(tmp_path, terms_text(*D, "levels: {mega: {cap: $49999}}"))
    assert [each.key for each in found] == ["progressives.royal.terms.levels.mega.cap"]


def test_a_level_may_pay_a_printed_fixed_line_first(tmp_path: Path) -> None:
    """Rules 4.4: who pays it is a choice of the property."""
    pays = "pays:\n  flush: 50 for 1 from meter\n  four of a kind: 500 for 1 from meter"
    terms = load(tmp_path, terms_text(*E, pays)).progressives["royal"].terms
    assert terms.pays["flush"] == Line(text="50 for 1 from meter", level="meter", pays_minor=5000)
    assert terms.pays["full house"] == Line(text="100 for 1", pays_minor=10_000)
    assert list(terms.pays) == [
        "royal flush",
        "straight flush",
        "four of a kind",
        "full house",
        "flush",
    ]


def test_a_level_that_is_to_pay_must_be_there(tmp_path: Path) -> None:
    found = problems(tmp_path, terms_text(*E, "pays: {flush: 50 for 1 from mega}"))
    assert [(each.line, each.key) for each in found] == [
        (16, "progressives.royal.terms.pays.flush")
    ]
    assert "there is no level mega" in found[0].message


def test_what_is_printed_may_be_said_again(tmp_path: Path) -> None:
    again = (
        "levels:\n  mega: {seed: '$10,000 for 1', reseed: '$10,000 for 1', increment: 10%, "
        "reserve: 0%}\npays: {flush: 40 for 1}\nhand_pay: percentage\nvalidate: percentage"
    )
    plain = load(tmp_path, terms_text(*D, "")).progressives["royal"].terms
    terms = load(tmp_path, terms_text(*D, again)).progressives["royal"].terms
    assert list(plain.differences(terms, CURRENCIES["USD"])) == []


def test_a_default_envy_gives_way_as_a_whole(tmp_path: Path) -> None:
    """Field: the five-card amounts are no printed text."""
    loaded = load(tmp_path, terms_text(*D, "envy: {royal flush: $500 for 1}"))
    assert loaded.progressives["royal"].terms.envy == {"royal flush": 250_000}
    loaded = load(tmp_path, terms_text(*D, "envy: {}"))
    assert loaded.progressives["royal"].terms.envy == {}


def test_an_open_envy_can_be_given_for_hands_with_a_line(tmp_path: Path) -> None:
    loaded = load(tmp_path, terms_text(*ACES, "envy: {four aces: $100 for 1}"))
    assert loaded.progressives["royal"].terms.envy == {"four aces": 10_000}
    found = problems(tmp_path, terms_text(*ACES, "envy: {royal flush: $100 for 1}"))
    assert [each.key for each in found] == ["progressives.royal.terms.envy.royal flush"]


def test_a_default_of_the_hand_pays_gives_way(tmp_path: Path) -> None:
    loaded = load(tmp_path, terms_text(*D, "hand_pay: full"))
    assert loaded.progressives["royal"].terms.hand_pay is HandPay.FULL


@pytest.mark.parametrize(
    ("of_the_property", "of_the_terms", "validated"),
    [
        ("", "", ()),
        ("", "validate: percentage", ()),
        ("", "validate: all", EVERY_HAND),
        ("", "validate: [flush, full house]", ("flush", "full house")),
        ("validate: all\n", "", EVERY_HAND),
        ("validate: all\n", "validate: [flush]", EVERY_HAND),
        ("validate: [straight]\n", "validate: [flush]", ("flush", "straight")),
        ("validate: percentage\n", "validate: [flush]", ("flush",)),
    ],
)
def test_the_property_and_its_terms_add_what_is_validated(
    tmp_path: Path, of_the_property: str, of_the_terms: str, validated: tuple[str, ...]
) -> None:
    """Rules 4.5."""
    loaded = load(tmp_path, of_the_property + terms_text(*D, of_the_terms))
    assert loaded.progressives["royal"].terms.validate == validated


def test_a_hand_bonus_of_500_for_1_is_validated_once_it_is_given(tmp_path: Path) -> None:
    """§ 641a.11(c)(7)(ii), whichever hand it is and whoever pays it."""
    pays = "pays: {royal flush: 100% of meter, four of a kind: 500 for 1, flush: 20 for 1}"
    terms = load(tmp_path, terms_text(*BONUS, pays)).progressives["royal"].terms
    assert terms.validate == ("four of a kind",)
    assert terms.levels[0].reseed_minor == 0
    more = pays.replace("20 for 1", "500 for 1 from meter") + "\nvalidate: [royal flush]"
    terms = load(tmp_path, terms_text(*BONUS, more)).progressives["royal"].terms
    assert terms.validate == ("flush", "four of a kind", "royal flush")


def test_pai_gow_awards_are_all_validated_and_a_tenth_is_a_hand_pay(tmp_path: Path) -> None:
    """§ 561.13d(d)(3) and (e)."""
    terms = (
        load(tmp_path, terms_text(*PAI_GOW, "levels: {meter: {seed: $2000, increment: 20%}}"))
        .progressives["royal"]
        .terms
    )
    assert (terms.validate, terms.hand_pay) == (EVERY_HAND, HandPay.TENTH)


def test_dj_wild_is_for_the_wager_that_is_printed(tmp_path: Path) -> None:
    """§ 687a.12(c): paytable 2 is for $5."""
    increment = "levels: {meter: {increment: 21%}}"
    text = terms_text(*WILD, increment)
    terms = load(tmp_path, text.replace("    wager: $5\n", "")).progressives["royal"].terms
    assert (terms.wager_minor, terms.levels[0].seed_minor) == (500, 1_000_000)
    assert terms.pays["flush"] == Line(text="40 to 1", pays_minor=20_500)
    (problem,) = problems(tmp_path, text.replace("wager: $5", "wager: $1"))
    assert (problem.line, problem.key) == (13, "progressives.royal.wager")


def test_a_paytable_in_dollars_is_not_for_another_currency(tmp_path: Path) -> None:
    text = terms_text("pa/687a-2", "€5", "DJW-04", "").replace("USD", "EUR")
    (problem,) = problems(tmp_path, text)
    assert (problem.line, problem.key) == (12, "progressives.royal.paytable")
    assert "pa/687a-2 is not for EUR" in problem.message
    loaded = load(tmp_path, SAMPLE.replace("USD", "EUR").replace("$5", "€5"))
    assert loaded.progressives["royal"].terms.levels[0].seed_minor == 5_000_000


# A property's own paytable.

OWN = """\
title: Monday Trips
levels:
  meter: {seed: $500, increment: 10%, reserve: 2%}
pays:
  royal flush: 100% of meter
  three of a kind: $5
"""


def own(extra: str = "", terms: str = "") -> str:
    """Return the sample with a paytable that is written out."""
    written = "".join(f"      {line}\n" for line in (OWN + extra).splitlines())
    text = "    paytable:\n" + written + "    wager: $1\n    tables: [FCP-01, DJW-04]\n"
    return with_royal(text + (f"    terms: {terms}\n" if terms else ""))


def test_an_own_paytable_is_for_any_game(tmp_path: Path) -> None:
    progressive = load(tmp_path, own()).progressives["royal"]
    assert progressive.paytable_name == "royal"
    assert progressive.terms.tables == ("FCP-01", "DJW-04")
    assert progressive.terms.levels[0].seed_minor == 50_000
    assert progressive.terms.pays["three of a kind"] == Line(text="$5", pays_minor=500)


def test_an_own_paytable_that_names_its_games_is_for_those(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, own("games: [four-card-poker]\n"))
    assert problem.key == "progressives.royal.tables[1]"
    assert "DJW-04 plays dj-wild-stud" in problem.message
    assert "royal is for four-card-poker" in problem.message


def test_terms_may_change_every_part_of_an_own_paytable(tmp_path: Path) -> None:
    terms = (
        load(
            tmp_path,
            own(
                "validate: [royal flush]\nenvy: {royal flush: $9}\n",
                "{levels: {meter: {seed: $600, reseed: $0, increment: 1%, reserve: 0%, cap: $700}},"
                " pays: {three of a kind: 7 for 1, flush: 9 to 1}, envy: {flush: $2},"
                " hand_pay: tenth, validate: [flush]}",
            ),
        )
        .progressives["royal"]
        .terms
    )
    assert terms.levels == (
        LevelTerms(
            name="meter",
            seed_minor=60_000,
            reseed_minor=0,
            increment_ppm=10_000,
            reserve_ppm=0,
            cap_minor=70_000,
        ),
    )
    assert [line.text for line in terms.pays.values()] == ["100% of meter", "7 for 1", "9 to 1"]
    assert (terms.envy, terms.hand_pay, terms.validate) == (
        {"flush": 200},
        HandPay.TENTH,
        ("flush",),
    )


def test_an_own_paytable_can_be_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "monday.yaml").write_text(OWN, "utf-8")
    lines = "    paytable: monday.yaml\n    wager: $1\n    tables: [PGP-05]\n"
    progressive = load(tmp_path, with_royal(lines)).progressives["royal"]
    assert (progressive.paytable_name, progressive.paytable.title) == (
        "monday.yaml",
        "Monday Trips",
    )


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("title: Monday Trips\n", "", (1, "title"), "this is missing"),
        ("title", "titel", (1, "titel"), "did you mean title?"),
        ("increment: 10%", "increment: 10", (3, "levels.meter.increment"), "like 21%"),
        ("increment: 10%", "increment: 0.00001%", (3, "levels.meter.increment"), "per million"),
        ("increment: 10%", "increment: 101%", (3, "levels.meter.increment"), "at most 100%"),
        ("increment: 10%, ", "", (3, "levels.meter.increment"), "leaves the rate"),
        ("seed: $500", "seed: 500", (3, "levels.meter.seed"), "like $10,000 for 1"),
        ("seed: $500, ", "", (3, "levels.meter.seed"), "leaves the seed"),
        ("seed", "start", (3, "levels.meter.start"), "there is no such key"),
        ("  meter:", "  the meter:", (3, "levels.the meter"), "names have letters"),
        ("100% of meter", "100% of mega", (5, "pays.royal flush"), "there is no level mega"),
        ("100% of meter", "101% of meter", (5, "pays.royal flush"), "at most 100% of a level"),
        ("100% of meter", "0% of meter", (5, "pays.royal flush"), "more than 0%"),
        ("100% of meter", "a lot", (5, "pays.royal flush"), "no pay line"),
        ("royal flush", "Royal Flush", (5, "pays.Royal Flush"), "small words"),
        ("royal flush", "royal_flush", (5, "pays.royal_flush"), "small words"),
        ("$5\n", "0 for 1\n", (6, "pays.three of a kind"), "pays nothing"),
        ("$5\n", "0.001 for 1\n", (6, "pays.three of a kind"), "no whole number of minor"),
        ("$5\n", "$5\nhand_pay: half\n", (7, "hand_pay"), "none of percentage, full, tenth"),
        ("$5\n", "$5\nvalidate: [flush]\n", (7, "validate.flush"), "no line for this hand"),
        ("$5\n", "$5\nenvy: {flush: $5}\n", (7, "envy.flush"), "has a line under pays"),
        ("$5\n", "$5\nlinkable: maybe\n", (7, "linkable"), "true or false"),
        ("$5\n", "$5\nnot_printed: [pays]\n", (7, "not_printed"), "none of envy, hand_pay"),
        ("$5\n", "$5\nwager: $2\n", (13, "progressives.royal.wager"), "for a $2.00 wager"),
    ],
)
def test_what_is_wrong_with_an_own_paytable_is_said_where_it_is_written(
    tmp_path: Path, old: str, new: str, place: tuple[int, str], words: str
) -> None:
    assert old in OWN
    (tmp_path / "monday.yaml").write_text(OWN.replace(old, new, 1), "utf-8")
    lines = "    paytable: monday.yaml\n    wager: $1\n    tables: [PGP-05]\n"
    found = problems(tmp_path, with_royal(lines))
    assert (found[0].line, found[0].key) == place
    assert words in found[0].message
    name = "riverside.yaml" if place[1].startswith("progressives") else "monday.yaml"
    assert found[0].file == str(tmp_path / name)


def test_a_paytable_file_that_is_missing_is_said(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, changed("pa/641a-five-card-d", "monday.yaml"))
    assert (problem.file, problem.line) == (str(tmp_path / "monday.yaml"), 0)


# Theory, and the sample.


def test_a_return_over_100_percent_is_warned_of(tmp_path: Path) -> None:
    """Rules 4.4: paytable E returns 109.16% where the house pays its fixed lines."""
    (warning,) = load(tmp_path, terms_text(*E, "")).warnings
    assert (warning.line, warning.key) == (12, "progressives.royal")
    assert "109.16%" in warning.message
    pays = "pays: {four of a kind: 500 for 1 from meter}"
    assert load(tmp_path, terms_text(*E, pays)).warnings == ()


def test_the_sample_property_has_no_fault_and_no_warning(tmp_path: Path) -> None:
    with as_file(files("configs") / "riverside.yaml") as path:
        loaded = config.load(path)
    assert loaded.warnings == ()
    assert (loaded.property, loaded.currency.code) == ("Riverside", "USD")
    games = {
        loaded.tables[name].game for name in loaded.progressives["riverside-royal"].terms.tables
    }
    assert len(games) == 4
    levels = {name: len(each.terms.levels) for name, each in loaded.progressives.items()}
    assert levels == {"riverside-royal": 3, "four-aces": 1, "wild-royal": 1, "golden-dragon": 1}
    shown = {name for sign in loaded.signs.values() for name in sign.progressives}
    assert shown == set(loaded.progressives)


def test_the_own_paytable_that_the_sample_shows_as_a_remark_is_right(tmp_path: Path) -> None:
    text = (files("configs") / "riverside.yaml").read_text("utf-8")
    lines = text.splitlines(keepends=True)
    start = lines.index("  # monday-trips:\n")
    end = lines.index("\n", start)
    lines[start:end] = [line.replace("# ", "", 1) for line in lines[start:end]]
    loaded = load(tmp_path, "".join(lines))
    assert loaded.progressives["monday-trips"].terms.pays["three of a kind"].pays_minor == 500
