"""A load of table connections: one process, one selector, pipelined or in lockstep.

Run as a process of its own: `python -m tests.bench.load PORT KEYFILE --tables 300 --in-flight 16
--rounds 1000`; it prints one JSON object with what it measured.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import time
from array import array
from collections import deque
from pathlib import Path
from typing import Any


class Peer:
    """One table's connection: `in_flight` rounds asked and not yet answered."""

    def __init__(self, port: int, key: str, table: str, rounds: int, in_flight: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        hello = {"type": "hello", "protocol": 1, "key": key, "tables": [table]}
        self.socket.sendall(json.dumps(hello).encode() + b"\n")
        with self.socket.makefile("rb") as lines:
            welcome: dict[str, Any] = json.loads(lines.readline())
        state = welcome["tables"][table]
        self.seq, self.round = state["next_seq"], state["round"] + 1
        self.end = self.round + rounds
        self.in_flight = in_flight
        self.asked: deque[float] = deque()
        self.rest = b""
        self.text = '{"type":"wager","table":"TABLE","seq":%d,"round":%d,"seats":[1,2,3,4]}\n'
        self.text = self.text.replace("TABLE", table)
        self.socket.setblocking(False)

    def ask(self) -> None:
        """Ask until as many are in flight as may be."""
        count = min(self.in_flight - len(self.asked), self.end - self.round)
        if count <= 0:
            return
        lines = "".join(self.text % (self.seq + i, self.round + i) for i in range(count))
        self.seq += count
        self.round += count
        self.socket.sendall(lines.encode())
        self.asked.extend([time.perf_counter()] * count)

    def answered(self, latencies: array[float]) -> bool:
        """Take what came; True when every round is answered. Raises on a refusal."""
        data = self.rest + self.socket.recv(262_144)
        whole, ending, self.rest = data.rpartition(b"\n")
        if b'"type":"error"' in whole:
            raise SystemExit(f"refused: {whole[:300]!r}")
        now = time.perf_counter()
        for _ in range(whole.count(b"\n") + bool(ending)):
            latencies.append(now - self.asked.popleft())
        self.ask()
        return not self.asked


def main() -> None:
    """Run the load and print what it measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("key_file", type=Path)
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=500)
    chosen = parser.parse_args()
    key = chosen.key_file.read_text().strip()
    peers = [
        Peer(chosen.port, key, f"T{number:03}", chosen.rounds, chosen.in_flight)
        for number in range(1, chosen.tables + 1)
    ]
    selector = selectors.DefaultSelector()
    latencies = array("d")
    for peer in peers:
        selector.register(peer.socket, selectors.EVENT_READ, peer)
    started = time.perf_counter()
    for peer in peers:
        peer.ask()
    busy = len(peers)
    while busy:
        for found, _ in selector.select():
            peer = found.data
            if peer.answered(latencies):
                selector.unregister(peer.socket)
                busy -= 1
    seconds = time.perf_counter() - started
    ordered = sorted(latencies)
    print(
        json.dumps(
            {
                "rounds": len(ordered),
                "seconds": seconds,
                "rounds_per_second": len(ordered) / seconds,
                "p50_ms": 1000 * ordered[len(ordered) // 2],
                "p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
            }
        )
    )


if __name__ == "__main__":
    main()
