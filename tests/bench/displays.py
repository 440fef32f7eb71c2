"""Displays on the event stream: how long from a commit to its frame.

`python -m tests.bench.displays PORT --displays 1000 --seconds 20` opens the streams in one
process and prints one JSON object. A frame's `at` is when its newest row was written; the
displays' clock is the same machine's.
"""

from __future__ import annotations

import argparse
import json
import re
import selectors
import socket
import time
from array import array
from datetime import datetime

_AT = re.compile(rb'"at":"([^"]+)"')


def main() -> None:
    """Open the streams, read them, print what was measured."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--displays", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--interval", type=float, default=0.25)
    chosen = parser.parse_args()
    selector = selectors.DefaultSelector()
    for _ in range(chosen.displays):
        connection = socket.create_connection(("127.0.0.1", chosen.port))
        connection.sendall(b"GET /api/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        connection.setblocking(False)
        selector.register(connection, selectors.EVENT_READ)
    delays = array("d")
    frames = read = 0
    moments: dict[bytes, float] = {}
    end = time.monotonic() + chosen.seconds
    # What was current when a display connected is older than any commit of the load.
    begin = time.time() + 1
    while time.monotonic() < end:
        for found, _ in selector.select(timeout=0.5):
            data = found.fileobj.recv(65_536)  # type: ignore[union-attr]
            now = time.time()
            read += len(data)
            frames += data.count(b"event: meters")
            if now < begin:
                continue
            for at in _AT.findall(data):
                moment = moments.get(at)
                if moment is None:
                    moment = moments[at] = datetime.fromisoformat(at.decode()).timestamp()
                delays.append(now - moment)
    ordered = sorted(delays)
    print(
        json.dumps(
            {
                "displays": chosen.displays,
                "frames_per_second": frames / chosen.seconds,
                "bytes_per_second": read / chosen.seconds,
                "p50_ms": 1000 * ordered[len(ordered) // 2],
                "p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
            }
        )
    )


if __name__ == "__main__":
    main()
