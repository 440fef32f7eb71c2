"""Ways to change a record behind its back, each with what verification says of it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from jackpotd.record.rows import chained, first_hash, write_state
from meters.floor import Floor
from tests.record_builder import CURRENCY, PROPERTY

LAST = 31
MIDDLE = 16
"""A wager of table T2."""

Tamper = Callable[[sqlite3.Connection], None]


def tamper(path: Path, change: Tamper) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        change(conn)


def sql(*statements: str) -> Tamper:
    """Return what runs these statements."""

    def run(conn: sqlite3.Connection) -> None:
        for statement in statements:
            assert conn.execute(statement).rowcount != 0, statement

    return run


def rechained(*statements: str) -> Tamper:
    """Return what runs these statements and makes every hash fit again, as a forger would."""

    def run(conn: sqlite3.Connection) -> None:
        sql(*statements)(conn)
        last = first_hash(PROPERTY, CURRENCY)
        for number, *rest in conn.execute(
            'SELECT number, at, "table", seq, kind, event, answer FROM record ORDER BY number'
        ).fetchall():
            last = chained(last, (number, *rest))
            conn.execute("UPDATE record SET hash = ? WHERE number = ?", (last, number))
        conn.execute("UPDATE head SET number = ?, hash = ?", (number, last))
        for at, state in conn.execute("SELECT number, state FROM snapshots").fetchall():
            (row_hash,) = conn.execute("SELECT hash FROM record WHERE number = ?", (at,)).fetchone()
            digest = hashlib.sha256(row_hash + state).digest()
            conn.execute(
                "UPDATE snapshots SET hash = ?, digest = ? WHERE number = ?",
                (row_hash, digest, at),
            )

    return run


def other_state(conn: sqlite3.Connection) -> None:
    """Put another state in a snapshot, with the digest that fits it."""
    number, row_hash = conn.execute("SELECT number, hash FROM snapshots ORDER BY 1").fetchone()
    state = write_state(Floor(number=number))
    conn.execute(
        "UPDATE snapshots SET state = ?, digest = ? WHERE number = ?",
        (state, hashlib.sha256(row_hash + state).digest(), number),
    )


COLUMNS = {
    "at": "at + 1",
    '"table"': """ "table" || 'x' """,
    "seq": "seq + 1",
    "kind": "kind || 's'",
    "event": "replace(event, '}', ' }')",
    "answer": "replace(answer, '}', ' }')",
    "hash": "zeroblob(32)",
}

ADD = 'INSERT INTO record SELECT {}, at, "table", seq, kind, event, answer, hash FROM record'

ROWS = {
    "the first row is gone": (
        sql("DELETE FROM record WHERE number = 1"),
        "row 2 stands where row 1 should",
    ),
    "a row is gone": (
        sql(f"DELETE FROM record WHERE number = {MIDDLE}"),
        "row 17 stands where row 16 should",
    ),
    "a row is gone and the others moved up": (
        sql(
            f"DELETE FROM record WHERE number = {MIDDLE}",
            f"UPDATE record SET number = number - 1 WHERE number > {MIDDLE}",
            "UPDATE head SET number = 30",
        ),
        "row 16: its hash does not match",
    ),
    "the last row is gone": (
        sql("DELETE FROM record WHERE number = 31"),
        "the last row is row 30, but the head says 31",
    ),
    "the last hit is gone, and the head says so": (
        rechained("DELETE FROM record WHERE number >= 30"),
        "the index of hits has hit 9 at row 30, which is none",
    ),
    "everything after the last snapshot is gone, and one row before": (
        rechained("DELETE FROM snapshots", "DELETE FROM record WHERE number >= 27"),
        "the index of hits has hit 8 settled by row 27, but it is pending",
    ),
    "all rows are gone": (
        sql("DELETE FROM record"),
        "the last row is row 0, but the head says 31",
    ),
    "two rows are swapped": (
        sql(
            "UPDATE record SET number = 99 WHERE number = 16",
            "UPDATE record SET number = 16 WHERE number = 17",
            "UPDATE record SET number = 17 WHERE number = 99",
        ),
        "row 16: its hash does not match",
    ),
    "a row has another number": (
        sql("UPDATE record SET number = 32 WHERE number = 31"),
        "the last row is row 32, but the head says 31",
    ),
    "a row is added": (
        sql(ADD.format(32) + " WHERE number = 31"),
        "the last row is row 32, but the head says 31",
    ),
    "a row is added, and the head says so": (
        sql(ADD.format(32) + " WHERE number = 31", "UPDATE head SET number = 32"),
        "row 32: its hash does not match",
    ),
    "a row is added before the first": (
        sql(ADD.format(0) + " WHERE number = 1"),
        "1 rows stand outside of rows 1 to 31",
    ),
    "a row is added far before the first": (
        sql(ADD.format(-(2**63)) + " WHERE number = 1"),
        "1 rows stand outside of rows 1 to 31",
    ),
    "a text is no UTF-8": (
        sql("UPDATE record SET event = CAST(x'ff' AS TEXT) WHERE number = 16"),
        "the row after row 15 can't be read",
    ),
}

FORGED = {
    "another wager": (
        "UPDATE record SET event = replace(event, '[2]', '[2,3]') WHERE number = 16",
        "row 16: its answer is not what its event gives",
    ),
    "another hand": (
        "UPDATE record SET event = replace(event, 'straight flush', 'three of a kind') "
        "WHERE number = 24",
        "row 24: its answer is not what its event gives",
    ),
    "another award": (
        "UPDATE record SET answer = replace(answer, '100015', '100016') WHERE number = 24",
        "row 24: its answer is not what its event gives",
    ),
    "another floorperson": (
        "UPDATE record SET answer = replace(answer, 'floor-8', 'floor-9') WHERE number = 26",
        "row 26: its answer is not what its event gives",
    ),
    "another table": (
        """UPDATE record SET "table" = 'T9' WHERE number = 16""",
        "row 16: its answer is not what its event gives",
    ),
    "another seq": (
        "UPDATE record SET seq = seq + 1 WHERE number = 16",
        "row 16: its answer is not what its event gives",
    ),
    "an earlier time": (
        "UPDATE record SET at = 1 WHERE number = 16",
        "row 16: its time lies before that of the row before it",
    ),
    "a time beyond the calendar": (
        f"UPDATE record SET at = {2**62} WHERE number = 31",
        "row 31: its time is beyond the calendar",
    ),
    "an unknown kind": (
        "UPDATE record SET kind = 'bonus' WHERE number = 16",
        "row 16: unknown kind 'bonus'",
    ),
    "a kind with other fields": (
        "UPDATE record SET kind = 'hit' WHERE number = 16",
        "row 16: its event can't be read",
    ),
    "an event that is no JSON": (
        "UPDATE record SET event = 'wager' WHERE number = 16",
        "row 16: its event can't be read",
    ),
    "a table that is nowhere": (
        """UPDATE record SET event = replace(event, '"T1"', '"T9"') WHERE number = 4""",
        "row 4: its event can't be folded",
    ),
    "a wager of no seat": (
        "UPDATE record SET event = replace(event, '[2]', '[]') WHERE number = 16",
        "row 16: its event can't be folded",
    ),
    "a fraction where a number is meant": (
        "UPDATE record SET event = replace(event, '[2]', '[2.0]') WHERE number = 16",
        "row 16: its event can't be read",
    ),
}

HITS = {
    "a hit stands at another row": (
        "UPDATE hits SET row = 12 WHERE hit = 3",
        r"row 11: the index of hits has \(3, 12, ",
    ),
    "a hit is settled by another row": (
        "UPDATE hits SET settled = 14 WHERE hit = 3",
        "row 13: the index of hits has hit 3 settled by row 14, and not by row 13",
    ),
    "a settled hit is pending": (
        "UPDATE hits SET settled = NULL WHERE hit = 3",
        "row 13: the index of hits has hit 3 settled by row None, and not by row 13",
    ),
    "a hit that was paid at once is settled": (
        "UPDATE hits SET settled = 13 WHERE hit = 1",
        "row 9: the index of hits has hit 1 settled by row 13",
    ),
    "a pending hit is settled": (
        "UPDATE hits SET settled = 31 WHERE hit = 9",
        "the index of hits has hit 9 settled by row 31, but it is pending",
    ),
    "a hit is of another progressive": (
        "UPDATE hits SET progressive = 'bonus' WHERE hit = 3",
        "row 11: the index of hits has",
    ),
    "a hit is of another level": (
        "UPDATE hits SET level = 'minor' WHERE hit = 3",
        "row 11: the index of hits has",
    ),
    "a hit is of no level": (
        "UPDATE hits SET level = NULL WHERE hit = 3",
        "row 11: the index of hits has",
    ),
    "a hit has another number": (
        "UPDATE hits SET hit = 10 WHERE hit = 9",
        "row 30: the index of hits has",
    ),
    "a hit is gone": ("DELETE FROM hits WHERE hit = 3", "row 11: the index of hits has"),
    "the last hit is gone": (
        "DELETE FROM hits WHERE hit = 9",
        r"row 30: the index of hits has \(None, None, ",
    ),
    "a hit's text is no UTF-8": (
        "UPDATE hits SET progressive = CAST(x'ff' AS TEXT) WHERE hit = 3",
        "it can't be read: Could not decode to UTF-8",
    ),
    "a hit is added": (
        "INSERT INTO hits VALUES (10, 31, NULL, 'bonus', 'meter')",
        "the index of hits has hit 10 at row 31, which is none",
    ),
    "a hit is added before the first": (
        "INSERT INTO hits VALUES (0, 9, NULL, 'bonus', 'meter')",
        "row 9: the index of hits has",
    ),
}

MARKS = {
    "a mark has another seq": (
        """UPDATE marks SET seq = 50 WHERE "table" = 'T1' AND seq = 5""",
        "row 10: the marks don't say that T1 has seq 5 next after it",
    ),
    "a mark is of another table": (
        """UPDATE marks SET "table" = 'T4' WHERE "table" = 'T1' AND seq = 5""",
        "row 10: the marks don't say that T1 has seq 5 next after it",
    ),
    "a mark begins later": (
        """UPDATE marks SET first = 11 WHERE "table" = 'T1' AND seq = 5""",
        "row 10: the marks don't say that T1 has seq 5 next after it",
    ),
    "a mark begins earlier": (
        """UPDATE marks SET first = 9 WHERE "table" = 'T1' AND seq = 5""",
        "row 9: the marks don't say that",
    ),
    "a mark ends later": (
        """UPDATE marks SET last = 27 WHERE "table" = 'T1' AND seq = 5""",
        "row 27: a mark says that T1 has seq 5 next after it, which is not so",
    ),
    "a mark ends at no row": (
        """UPDATE marks SET last = 99 WHERE "table" = 'T1' AND seq = 8""",
        "row 99: a mark says that T1 has seq 8 next after it, which is not so",
    ),
    "the mark of an idle table ends earlier": (
        """UPDATE marks SET last = first WHERE "table" = 'T2' AND first <> last""",
        "row 27: the marks don't say that T2 has seq",
    ),
    "a mark is gone": (
        """DELETE FROM marks WHERE "table" = 'T1' AND seq = 5""",
        "row 10: the marks don't say that T1 has seq 5 next after it",
    ),
    "a mark is added": (
        "INSERT INTO marks VALUES ('T1', 4, 10, 10)",
        "row 10: a mark says that T1 has seq 4 next after it, which is not so",
    ),
}

SNAPSHOTS = {
    "a snapshot has another state": (
        sql(
            "UPDATE snapshots SET state = CAST(replace(state, '250', '251') AS BLOB) "
            "WHERE number = 19"
        ),
        "row 19: the snapshot after it is not the state at that row",
    ),
    "a snapshot has another state, and the digest of it": (
        other_state,
        "row 19: the snapshot after it is not the state at that row",
    ),
    "a snapshot has another digest": (
        sql("UPDATE snapshots SET digest = zeroblob(32) WHERE number = 19"),
        "row 19: the snapshot after it is not the state at that row",
    ),
    "a snapshot has another hash": (
        sql("UPDATE snapshots SET hash = zeroblob(32) WHERE number = 19"),
        "row 19: the snapshot after it is not the state at that row",
    ),
    "a snapshot is of another row": (
        sql("UPDATE snapshots SET number = 20 WHERE number = 19"),
        "row 20: ",
    ),
    "a snapshot is of no row": (
        sql("UPDATE snapshots SET number = 99 WHERE number = 19"),
        "there is a snapshot after row 99, which is none",
    ),
}

HEAD = {
    "the head has another number": (
        "UPDATE head SET number = 30",
        "the last row is row 31, but the head says 30",
    ),
    "the head has another hash": (
        "UPDATE head SET hash = zeroblob(32)",
        "the last row is row 31, but the head says that its hash is another",
    ),
    "the head has another property": (
        "UPDATE head SET property = 'Lakeside'",
        "is the record of Lakeside in USD, not of Riverside in USD",
    ),
    "the head has another currency": (
        "UPDATE head SET currency = 'CAD'",
        "is the record of Riverside in CAD, not of Riverside in USD",
    ),
    "the head is gone": ("DELETE FROM head", "the record has rows but no head"),
}

TAMPERED: dict[str, tuple[Tamper, str]] = {
    **ROWS,
    **{name: (rechained(statement), said) for name, (statement, said) in FORGED.items()},
    **{name: (sql(statement), said) for name, (statement, said) in (HITS | MARKS | HEAD).items()},
    **SNAPSHOTS,
}
