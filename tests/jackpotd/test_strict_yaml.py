"""The strict reader: what it takes, what it refuses, and where it says so."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jackpotd import strict_yaml
from jackpotd.errors import ConfigError, Problem
from jackpotd.strict_yaml import Broken, Item


def parsed(text: str | bytes) -> tuple[object, list[Problem]]:
    """Return the plain value of a text and the problems found in it."""
    problems: list[Problem] = []
    data = text.encode() if isinstance(text, str) else text
    return plain(strict_yaml.parse(data, "sample.yaml", problems)), problems


def plain(item: Item) -> object:
    """Return an item without its places."""
    if isinstance(item.value, dict):
        return {key: plain(each) for key, each in item.value.items()}
    if isinstance(item.value, list):
        return [plain(each) for each in item.value]
    return item.value


def places(problems: list[Problem]) -> list[tuple[int, str]]:
    return [(problem.line, problem.key) for problem in problems]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b", {"a": "b"}),
        ("seats: 6", {"seats": 6}),
        ("balance: -6", {"balance": -6}),
        ("nothing: 0", {"nothing": 0}),
        ("hold_table: true", {"hold_table": True}),
        ("hold_table: false", {"hold_table": False}),
        ("money: $10,000 for 1", {"money": "$10,000 for 1"}),
        ("rate: 12.5%", {"rate": "12.5%"}),
        ("line: 9 to 1", {"line": "9 to 1"}),
        ("listen: tcp:7011:interface=127.0.0.1", {"listen": "tcp:7011:interface=127.0.0.1"}),
        ('quoted: "yes"', {"quoted": "yes"}),
        ("quoted: '06:00'", {"quoted": "06:00"}),
        ('quoted: "5"', {"quoted": "5"}),
        ('quoted: "~"', {"quoted": "~"}),
        ('"on": "off"', {"on": "off"}),
        ("sign: {title: Royal, shows: [a, b]}", {"sign": {"title": "Royal", "shows": ["a", "b"]}}),
        ("list:\n- a\n- b: c\n", {"list": ["a", {"b": "c"}]}),
        ("note: >-\n  two\n  lines\n", {"note": "two lines"}),
        ("note: |\n  two\n  lines\n", {"note": "two\nlines\n"}),
        ("# only a remark\n---\na: b\n", {"a": "b"}),
        ("a: b\r\nc: d\r\n", {"a": "b", "c": "d"}),
        ("title: Café Royal £5", {"title": "Café Royal £5"}),
        ("empty: {}\nnone: []", {"empty": {}, "none": []}),
    ],
)
def test_what_can_be_read_in_one_way_only_is_read(text: str, value: object) -> None:
    assert parsed(text) == (value, [])


@pytest.mark.parametrize(
    ("scalar", "remedy"),
    [
        *((word, "write true or false") for word in ("yes", "no", "on", "off", "y", "n")),
        *((word, "write true or false") for word in ("Yes", "NO", "On", "oFF", "Y", "True")),
        *((word, "nothing is given") for word in ("~", "null", "Null", "NULL", "")),
        *((number, "plain decimal digits") for number in ("010", "0x1F", "0b11", "0o17", "-007")),
        *((number, "plain decimal digits") for number in ("1_000", "+5", "-0", "9" * 20)),
        *((number, "base 60") for number in ("1:30", "06:00", "12:30:45", "190:20:30.15")),
        *((number, "no floating-point") for number in ("1.5", "1.", ".5", "-0.0", "6.02e+23")),
        *((number, "no floating-point") for number in ("1e3", "1E3", "1_0.5", "+1.0")),
        *((number, "no infinity and no NaN") for number in (".inf", "-.INF", ".nan", ".NaN")),
        *((number, "no infinity and no NaN") for number in ("inf", "nan", "-Infinity")),
        *((day, "as a date") for day in ("2026-12-01", "2026-12-01 06:00:00", "2026-1-2T3:4:5Z")),
        *((sign, "a meaning of its own") for sign in ("=", "<<")),
    ],
)
def test_unquoted_text_that_readers_take_for_other_things_is_refused(
    scalar: str, remedy: str
) -> None:
    value, problems = parsed(f"first: fine\nsecond: {scalar}\nthird: fine\n")
    assert value == {"first": "fine", "second": Broken.BROKEN, "third": "fine"}
    assert places(problems) == [(2, "second")]
    assert remedy in problems[0].message


@pytest.mark.parametrize("scalar", ["yes", "010", "1:30", "1.5", ".inf", "2026-12-01", "=", "~"])
def test_the_same_in_quotes_is_text(scalar: str) -> None:
    assert parsed(f"a: \"{scalar}\"\nb: '{scalar}'") == ({"a": scalar, "b": scalar}, [])


@given(st.text("0123456789+-._:abefinostxyTZ~= ", min_size=1, max_size=9).map(str.strip))
def test_what_pyyaml_would_read_as_no_text_is_read_as_the_same_or_refused(scalar: str) -> None:
    try:
        theirs = yaml.safe_load(f"[{scalar}]")
    except (yaml.YAMLError, ValueError):  # no YAML, or no day of the calendar
        return
    ours, problems = parsed(f"[{scalar}]")
    assert problems or repr(ours) == repr(theirs)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", (3, "a"), "given twice, first on line 1"),
        ("x:\n  a: 1\n  a: 1\n", (3, "x.a"), "given twice, first on line 2"),
        ("x: {a: 1, a: 2}\n", (1, "x.a"), "given twice"),
        ("a: &again 1\n", (1, "a"), "&again"),
        ("a: &again {b: 1}\n", (1, "a"), "&again"),
        ("a: 1\n&again b: 1\n", (2, ""), "&again"),
        ("a: !!int 5\n", (1, "a"), "is a tag"),
        ("a: ! 5\n", (1, "a"), "is a tag"),
        ("a: !!python/object:os.system [x]\n", (1, "a"), "is a tag"),
        ("a: b\n---\nc: d\n", (2, ""), "one document"),
        ("%YAML 1.1\n---\na: b\n", (1, ""), "no % directives"),
        ("[a]: b\n", (1, ""), "a key is plain text"),
        ("? {a: b}\n: c\n", (1, ""), "a key is plain text"),
        ('"": b\n', (1, ""), "a key is not empty"),
        ('"a\\nb": c\n', (1, ""), "a key has no tabs, no line ends"),
        ("on: b\n", (1, "on"), "write true or false"),
        ("5: b\n", (1, "5"), 'put it in quotes: "5"'),
        ("true: b\n", (1, "true"), 'put it in quotes: "true"'),
        ('a: "x\\ty"\n', (1, "a"), "no control characters"),
        ('a: "x\\u202ey"\n', (1, "a"), "no control characters"),
        ("a: {cap: $500, 000}\n", (1, "a.cap"), 'write "$500,000"'),
        ("a: {seats: 5,000}\n", (1, "a.seats"), 'write "5,000"'),
        ("x:\n- a\n- {b: 1.5}\n", (3, "x[1].b"), "no floating-point"),
    ],
)
def test_what_hides_or_repeats_values_is_refused_at_its_line(
    text: str, place: tuple[int, str], words: str
) -> None:
    _, problems = parsed(text)
    assert places(problems) == [place]
    assert words in problems[0].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (b"", 0, "the file is empty"),
        (b"# a remark\n", 0, "the file is empty"),
        (b"a: b\nc: caf\xe9\n", 2, "not UTF-8"),
        ("a: b\n".encode("utf-16"), 1, "not UTF-8"),
        (b"a: b\n\tc: d\n", 2, "a tab has no place here"),
        (b"a: b # remark\twith a tab\n", 1, "a tab has no place here"),
        (b"a: b\x00c\n", 1, "U+0000"),
        (b"a: b\x7fc\n", 1, "U+007F"),
        (b"a: b\x1b[2Jc\n", 1, "U+001B"),
        ("a: b\u2028c: d\n".encode(), 1, "U+2028"),
        ("a: b\u0085c: d\n".encode(), 1, "U+0085"),
        ("a: b\u202ec\n".encode(), 1, "U+202E"),
        ("\ufeffa: b\n".encode(), 1, "U+FEFF"),
        ("a: b\uffffc\n".encode(), 0, "no YAML"),
        (b"a: [b\n", 2, "no YAML"),
        (b"a: b: c\n", 1, "no YAML"),
        (b"a: b\n c: d\n", 2, "no YAML"),
        (b"a: *nothing\n", 1, "write it out here"),
        (b"a: " + b"x" * strict_yaml.MAX_BYTES, 0, "larger than 1,048,576 bytes"),
    ],
)
def test_a_file_that_is_no_plain_yaml_text_is_refused(text: bytes, line: int, words: str) -> None:
    _, problems = parsed(text)
    assert [problem.line for problem in problems] == [line]
    assert words in problems[0].message
    assert problems[0].file == "sample.yaml"


def test_an_amount_within_braces_is_whole_with_its_commas() -> None:
    value, problems = parsed('a: {cap: $1,500,000, seed: $1,000 for 1, "000": b, c: $5}\n')
    assert value == {"a": {"cap": "$1,500,000", "seed": "$1,000 for 1", "000": "b", "c": "$5"}}
    assert problems == []


def test_the_rest_of_an_amount_is_no_key_and_its_beginning_no_amount() -> None:
    value, problems = parsed("a: {cap: $500, 000, seed: $1, 000 for 1}\n")
    assert value == {"a": {"cap": Broken.BROKEN, "seed": Broken.BROKEN}}
    assert places(problems) == [(1, "a.cap"), (1, "a.seed")]


@pytest.mark.parametrize("beginning", ["a: yes\nb: ", "a: yes\n? "])
def test_nesting_has_an_end(beginning: str) -> None:
    deep = strict_yaml.MAX_DEPTH
    assert parsed("[" * deep + "]" * deep)[1] == []
    _, problems = parsed(f"{beginning}{'[' * 5000}{']' * 5000}\n")
    assert [problem.line for problem in problems] == [1, 2]
    assert f"nested more than {deep} deep" in problems[1].message


def test_every_fault_is_found_at_once() -> None:
    _, problems = parsed(
        "a: yes\nb: [1.5, {c: 010}]\nd: &x 1\ne: *x\nf: {g: 1, g: 2}\nh:\ni: fine\n<<: j\n"
    )
    assert places(problems) == [
        (1, "a"),
        (2, "b[0]"),
        (2, "b[1].c"),
        (3, "d"),
        (4, "e"),
        (5, "f.g"),
        (6, "h"),
        (8, "<<"),
    ]


def test_a_value_knows_its_line_and_its_key() -> None:
    problems: list[Problem] = []
    root = strict_yaml.parse(b"\na:\n  b:\n  - c\n  - d: e\n", "sample.yaml", problems)
    assert isinstance(root.value, dict)
    a = root.value["a"]
    assert isinstance(a.value, dict)
    listed = a.value["b"]
    assert isinstance(listed.value, list)
    second = listed.value[1]
    assert isinstance(second.value, dict)
    deepest = second.value["d"]
    assert (deepest.line, deepest.key, deepest.value) == (5, "a.b[1].d", "e")


def test_a_file_that_is_not_there_is_a_problem_of_the_file(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.yaml", tmp_path):
        problems: list[Problem] = []
        assert strict_yaml.read(path, problems).value is Broken.BROKEN
        assert (problems[0].file, problems[0].line) == (str(path), 0)
        assert "can't be read" in problems[0].message


def test_a_file_is_read_with_its_path_in_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "sample.yaml"
    path.write_bytes(b"a: b\nc: 1.5\n")
    problems: list[Problem] = []
    strict_yaml.read(path, problems)
    assert str(problems[0]).startswith(f"{path}:2: c: 1.5 can be read in several ways")


def test_problems_are_said_by_file_and_line_each_once() -> None:
    def problem(file: str, line: int) -> Problem:
        return Problem(file=file, line=line, key="", message="wrong")

    error = ConfigError([problem("b", 9), problem("a", 3), problem("b", 2), problem("b", 9)])
    assert str(error) == "b:2: wrong\nb:9: wrong\na:3: wrong"
    assert error.problems == (problem("b", 2), problem("b", 9), problem("a", 3))
