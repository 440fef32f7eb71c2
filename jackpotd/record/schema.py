"""The record's tables, in small named steps."""

from __future__ import annotations

from sqlite_utils import Database, Migrations

APPLICATION_ID = 0x4A4B5044
"""Marks the file as a jackpotd record ("JKPD")."""

steps = Migrations("jackpotd.record")


@steps()
def the_record(db: Database) -> None:
    """The rows, and the property that they belong to."""
    db.conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    # No unique key on ("table", seq): the fold knows each table's next seq, and a random key
    # costs most of the write speed. `marks` finds an old message instead.
    db.conn.execute(
        """
        CREATE TABLE record (
            number INTEGER PRIMARY KEY,   -- 1, 2, 3 ... without a gap
            at INTEGER NOT NULL,          -- UTC milliseconds, never falling
            "table" TEXT NOT NULL,        -- the table that sent it, or ''
            seq INTEGER NOT NULL,         -- that table's number for it, or 0
            kind TEXT NOT NULL,
            event TEXT NOT NULL,          -- JSON
            answer TEXT NOT NULL,         -- JSON
            hash BLOB NOT NULL            -- SHA-256 over the previous hash and this row
        ) STRICT
        """
    )
    db.conn.execute(
        """
        CREATE TABLE head (               -- the last row, so that a cut-off end is seen
            only INTEGER PRIMARY KEY CHECK (only = 1),
            property TEXT NOT NULL,
            currency TEXT NOT NULL,
            number INTEGER NOT NULL,
            hash BLOB NOT NULL
        ) STRICT
        """
    )


@steps()
def hits_by_number(db: Database) -> None:
    """Where each hit and what settled it stand in the record."""
    db.conn.execute(
        """
        CREATE TABLE hits (
            hit INTEGER PRIMARY KEY,
            row INTEGER NOT NULL,         -- of the hit
            settled INTEGER,              -- of its confirmation or denial
            progressive TEXT NOT NULL,
            level TEXT                    -- the level whose meter paid, if one did
        ) STRICT
        """
    )
    db.conn.execute(
        "CREATE INDEX hits_of_level ON hits (progressive, level, hit) WHERE level IS NOT NULL"
    )


@steps()
def snapshots_and_marks(db: Database) -> None:
    """The state now and then, and each table's next seq at that moment."""
    db.conn.execute(
        """
        CREATE TABLE snapshots (
            number INTEGER PRIMARY KEY,   -- the last row folded into it
            hash BLOB NOT NULL,           -- that row's
            digest BLOB NOT NULL,         -- SHA-256 over hash and state
            state BLOB NOT NULL           -- JSON
        ) STRICT
        """
    )
    db.conn.execute(
        """
        CREATE TABLE marks (
            "table" TEXT NOT NULL,
            seq INTEGER NOT NULL,         -- the table's next seq ...
            first INTEGER NOT NULL,       -- ... after the snapshots of these rows
            last INTEGER NOT NULL,
            PRIMARY KEY ("table", seq)
        ) STRICT, WITHOUT ROWID
        """
    )


STEPS = ("the_record", "hits_by_number", "snapshots_and_marks")
"""The names of the steps that this version knows."""
