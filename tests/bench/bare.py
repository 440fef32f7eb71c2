"""What the machine gives without jackpotd: a bare echo and a bare controller, for comparison.

`python -m tests.bench.bare echo|controller FOLDER` listens on a free port, prints it, and runs
until it is ended. The controller decodes a wager, appends a row of the daemon's size in group
commits and answers; it has no rules, no hash chain, no keys and no displays.
"""

from __future__ import annotations

import queue
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from twisted.internet import protocol
from twisted.internet import reactor as _reactor

reactor: Any = _reactor
MOST_ROWS = 2_048


class Wager(msgspec.Struct):
    """A wager as the load sends it."""

    type: str
    table: str
    seq: int
    round: int
    seats: list[int]


_decode = msgspec.json.Decoder(Wager).decode
_encode = msgspec.json.Encoder().encode
_METERS = {"royal": {"mega": 5_000_150, "major": 500_120, "minor": 125_045}}
_EVENT = '{"round":%d,"seats":[1,2,3,4]}'
_ANSWER = _encode({"progressive": "royal", "amount_minor": 2000, "meters": _METERS}).decode()
_HASH = b"x" * 32


def _accepted(wager: Wager) -> bytes:
    return (
        _encode(
            {
                "type": "accepted",
                "table": wager.table,
                "seq": wager.seq,
                "round": wager.round,
                "progressive": "royal",
                "seats": wager.seats,
                "amount": 2000,
                "meters": _METERS,
            }
        )
        + b"\n"
    )


_WELCOME = b'{"type":"welcome","tables":{"%s":{"next_seq":1,"round":0}}}\n'


class Peer(protocol.Protocol):
    """Cuts lines, says welcome to a hello, and hands every wager on."""

    transport: Any

    def __init__(self, take: Callable[[Peer, Wager], None]) -> None:
        self._take = take
        self._rest = b""

    def dataReceived(self, data: bytes) -> None:
        """Take whole lines."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if b'"hello"' in line:
                table = msgspec.json.decode(line)["tables"][0].encode()
                self.transport.write(_WELCOME % table)
            else:
                self._take(self, _decode(line))


class Peers(protocol.Factory):
    """Makes peers."""

    noisy = False

    def __init__(self, take: Callable[[Peer, Wager], None]) -> None:
        self._take = take

    def buildProtocol(self, addr: object) -> Peer:
        """Make one."""
        return Peer(self._take)


class Controller:
    """Group commit in a thread: while one batch is written the next one fills."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._filling: list[tuple[Peer, Wager]] = []
        self._writing = self._due = False
        self._number = 0
        self._jobs: queue.SimpleQueue[list[tuple[Peer, Wager]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def take(self, peer: Peer, wager: Wager) -> None:
        """Queue a wager."""
        self._filling.append((peer, wager))
        if not self._due and not self._writing:
            self._due = True
            reactor.callLater(0, self._turn)

    def _turn(self) -> None:
        self._due, self._writing = False, True
        batch, self._filling = self._filling[:MOST_ROWS], self._filling[MOST_ROWS:]
        self._jobs.put(batch)

    def _written(self, batch: list[tuple[Peer, Wager]]) -> None:
        self._writing = False
        for peer, wager in batch:
            peer.transport.write(_accepted(wager))
        if self._filling:
            self._due = True
            reactor.callLater(0, self._turn)

    def _write(self) -> None:
        conn = new_record(self._folder / "bare.db")
        while True:
            batch = self._jobs.get()
            rows: list[tuple[object, ...]] = []
            for _, wager in batch:
                self._number += 1
                event = _EVENT % wager.round
                row = (self._number, 0, wager.table, wager.seq, "wager", event, _ANSWER, _HASH)
                rows.append(row)
            append(conn, rows)
            reactor.callFromThread(self._written, batch)


def new_record(path: Path) -> sqlite3.Connection:
    """Make an empty table of the record's shape, durable as the record is."""
    conn = sqlite3.connect(path, isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("PRAGMA synchronous = FULL")
    conn.execute(
        'CREATE TABLE record (number INTEGER PRIMARY KEY, at INTEGER, "table" TEXT, seq INTEGER, '
        "kind TEXT, event TEXT, answer TEXT, hash BLOB) STRICT"
    )
    return conn


def append(conn: sqlite3.Connection, rows: list[tuple[object, ...]]) -> None:
    """Append rows in one transaction."""
    conn.execute("BEGIN IMMEDIATE")
    conn.executemany("INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    conn.execute("COMMIT")


def main() -> None:
    """Listen, say where, and run."""
    kind, folder = sys.argv[1], Path(sys.argv[2])
    # As the daemon does: see jackpotd.cli.
    sys.setswitchinterval(0.0002)
    if kind == "echo":
        take: Callable[[Peer, Wager], None] = lambda peer, wager: peer.transport.write(  # noqa: E731
            _accepted(wager)
        )
    else:
        take = Controller(folder).take
    port = reactor.listenTCP(0, Peers(take), interface="127.0.0.1", backlog=512)
    print(port.getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    main()
