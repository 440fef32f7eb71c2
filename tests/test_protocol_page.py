"""docs/protocol.md is true: its codes, its limits, its fields, and every line of JSON on it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from jackpotd.session import MAX_MALFORMED
from jackpotd.table_link import HELLO_SECONDS
from jackpotd.wire import MAX_LINE, PROTOCOL, REQUESTS, Malformed, Request, read
from meters.outcomes import RETRY, Code
from signage.feed import METERS_INTERVAL_S
from tests.e2e.talking import hit, wager
from tests.jackpotd.table_port import HOUSE, WATCH, Port, confirm, deny, hello, void

PAGE = (Path(__file__).parent.parent / "docs" / "protocol.md").read_text("utf-8")
FLAT = " ".join(PAGE.split())
"""The page without its line breaks."""

CLOSING = (Code.TOO_LONG, Code.NO_HELLO, Code.BAD_PROTOCOL, Code.BAD_KEY)
KINDS = {str(kind.__struct_config__.tag): kind for kind in REQUESTS}


def rows(heading: str) -> list[list[str]]:
    """Return the cells of each table row under a heading, without the table's head."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = [
        [cell.strip() for cell in each.strip("|").split("|")]
        for each in section.splitlines()
        if each.startswith("|")
    ]
    assert cells, heading
    return cells[2:]


def named(cell: str) -> list[str]:
    """Return what stands between backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def json_lines() -> list[str]:
    """Return every line of the page's JSON blocks."""
    blocks = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    return [each for block in blocks for each in block.splitlines() if each]


def is_push_or_reply(message: dict[str, Any]) -> bool:
    # `hit` is a table's request and a watcher's push: only the push has a sequence.
    return message["type"] not in KINDS or "sequence" in message


REQUEST_ROWS = [
    *rows("Requests of a table"),
    *rows("Requests of the floor"),
    *rows("Anyone"),
]
SAID = [each for each in json_lines() if not is_push_or_reply(json.loads(each))]
TOLD = [each for each in json_lines() if is_push_or_reply(json.loads(each))]


# The codes


def test_the_codes_are_those_of_the_daemon_in_their_order() -> None:
    assert [named(code) for code, _, _ in rows("Refusals")] == [[code.value] for code in Code]


def test_each_code_says_whether_to_try_again() -> None:
    found = {named(code)[0]: retry for code, retry, _ in rows("Refusals")}
    assert found == {code.value: "yes" if code in RETRY else "no" for code in Code}


def test_each_code_says_when_and_whether_the_connection_closes() -> None:
    for code, _, when in rows("Refusals"):
        assert len(when) > 10
        assert ("closes the connection" in when) == (Code(named(code)[0]) in CLOSING)


# The limits


@pytest.mark.parametrize(
    "words",
    [
        f"at most {MAX_LINE:,} bytes long with its ending",
        f"the line is longer than {MAX_LINE:,} bytes",
        f"within {HELLO_SECONDS} seconds",
        f"`protocol` is not {PROTOCOL};",
        f"{MAX_MALFORMED} malformed messages in a row",
        f"at most {round(1 / METERS_INTERVAL_S)} times a second",
        "`seq`, `round`, `seat` and `hit` lie between 1 and 2^53-1",
    ],
)
def test_the_limits_are_those_of_the_daemon(words: str) -> None:
    assert words in FLAT


@pytest.mark.parametrize(
    ("number", "taken"), [(0, False), (1, True), (2**53 - 1, True), (2**53, False)]
)
def test_a_number_lies_where_the_page_says(number: int, taken: bool) -> None:
    for message in (wager("T", number, number, number), hit("T", number, number, number, "flush")):
        assert isinstance(read(json.dumps(message).encode()), Request) == taken
    assert isinstance(read(json.dumps(confirm(number)).encode()), Request) == taken


# The requests


def test_the_page_has_every_request() -> None:
    assert ["hello", *(named(row[0])[0] for row in REQUEST_ROWS)] == list(KINDS)


def test_the_fields_of_a_tables_requests_are_all_there_are() -> None:
    for kind, fields, _ in rows("Requests of a table"):
        (name,) = named(kind)
        known = set(KINDS[name].__struct_fields__) - {"table", "seq"}
        assert set(named(fields)) == known


@pytest.mark.parametrize("said", SAID)
def test_each_request_on_the_page_is_understood(said: str) -> None:
    understood = read(said.encode())
    assert not isinstance(understood, Malformed), understood
    assert understood.__struct_config__.tag == json.loads(said)["type"]


def test_there_is_an_example_of_every_request_with_fields() -> None:
    with_fields = {name for name, kind in KINDS.items() if kind.__struct_fields__}
    assert {json.loads(said)["type"] for said in SAID} == with_fields


# The replies


def shape(value: Any) -> Any:
    """Return the keys of a reply and the kind of each value; a list has one kind of items."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        kinds = [shape(item) for item in value]
        assert all(kind == kinds[0] for kind in kinds)
        return kinds[:1]
    return type(value).__name__


@pytest.fixture(scope="module")
def replies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Every kind of reply and push, from a table, a floorperson and a watcher that play."""
    port = Port(tmp_path_factory.mktemp("house"), HOUSE)
    table, floor, watcher = port.connect(), port.welcome("floor-7"), port.welcome("books")
    told = [
        *watcher.exchange(WATCH),
        *table.exchange(
            hello("pit", "FCP-01"),
            wager("FCP-01", 1, 1, 1, 2, 5),
            hit("FCP-01", 2, 1, 2, "royal flush"),
            hit("FCP-01", 3, 1, 5, "royal flush"),
            hello("pit", "FCP-01"),
            wager("FCP-01", 9, 2, 1),
        ),
        *floor.exchange(deny(1), confirm(2)),
        *table.exchange(
            wager("FCP-01", 4, 2, 1),
            void("FCP-01", 5, 2),
            wager("FCP-01", 6, 3, 1),
            hit("FCP-01", 7, 3, 1, "royal flush"),
        ),
        *watcher.told(),
    ]
    found = defaultdict(list)
    for each in told:
        found[each["type"]].append(each)
    return found


def test_there_is_an_example_of_every_reply_but_pong(replies: dict[str, list[Any]]) -> None:
    assert {json.loads(told)["type"] for told in TOLD} == set(replies)


@pytest.mark.parametrize("told", TOLD)
def test_each_reply_on_the_page_has_the_keys_of_a_real_one(
    told: str, replies: dict[str, list[Any]]
) -> None:
    message = json.loads(told)
    real = [shape(each) for each in replies[message["type"]]]
    assert shape(message) in real


def test_the_reply_of_each_request_is_named(tmp_path: Path) -> None:
    port = Port(tmp_path, HOUSE)
    table, floor = port.welcome("fcp-01"), port.welcome("floor-7")
    asked = {
        "wager": table.ask(wager("FCP-01", 1, 1, 1, 2)),
        "hit": table.ask(hit("FCP-01", 2, 1, 1, "royal flush")),
        "confirm": floor.ask(confirm(1)),
        "ping": floor.ask({"type": "ping"}),
        "watch": port.welcome("books").ask(WATCH),
    }
    asked["void"] = table.exchange(wager("FCP-01", 3, 2, 1), void("FCP-01", 4, 2))[1]
    table.exchange(wager("FCP-01", 5, 3, 1), hit("FCP-01", 6, 3, 1, "royal flush"))
    asked["deny"] = floor.ask(deny(2))
    for row in REQUEST_ROWS:
        assert named(row[-1])[0] == asked.pop(named(row[0])[0])["type"]
    assert asked == {}


def test_what_the_page_says_of_the_royal_is_what_the_daemon_says(tmp_path: Path) -> None:
    """Its wager, its hit and its seq-gap, sent as they stand there to a table at seq 43."""
    port = Port(tmp_path, HOUSE)
    table = port.queue.floor.tables["FCP-01"]
    table.next_seq, table.round, port.queue.floor.next_hit = 43, 100, 17
    pit = port.welcome("fcp-01")
    lines = json_lines()
    (gap,) = [each for each in lines if "seq-gap" in each]
    pit.send(wager("FCP-01", 45, 101, 1))
    port.run()
    assert pit.heard() == [gap.encode() + b"\n"]
    lock = next(each for each in lines if '"type":"wager"' in each)
    at = lines.index(lock)
    lock, accepted, royal, award = lines[at : at + 4]
    pit.send(lock.encode() + b"\n", royal.encode() + b"\n")
    port.run()
    assert pit.heard() == [accepted.encode() + b"\n", award.encode() + b"\n"]
