"""A daemon that follows a script: what no real one does on demand, such as falling silent."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from threading import Thread
from typing import Any

WELCOME: Mapping[str, Any] = {"type": "welcome", "protocol": 1, "tables": {}, "meters": {}}
SILENCE = b"silence"
"""Answers nothing until the other side hangs up."""

HANG_UP = b""
"""Closes the connection without an answer."""

Script = Sequence[Mapping[str, Any] | bytes]


class ScriptedPeer:
    """Listens on `port`; each connection gets its script: one answer for every line it sends.

    An answer is an object, or bytes as they are. A connection is closed when its script is at
    its end, and none is taken after the last. `heard` has each connection's lines, read.
    """

    def __init__(self, *scripts: Script) -> None:
        self._scripts = scripts
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.heard: list[list[dict[str, Any]]] = []
        self._thread = Thread(target=self._serve)

    def __enter__(self) -> ScriptedPeer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._thread.join()

    def _serve(self) -> None:
        for place, script in enumerate(self._scripts):
            connection, _ = self._listener.accept()
            self.heard.append([])
            if place == len(self._scripts) - 1:
                self._listener.close()
            with connection, connection.makefile("rb") as lines:
                self._follow(script, connection, lines)

    def _follow(self, script: Script, connection: socket.socket, lines: Any) -> None:
        for answer in script:
            line = lines.readline()
            if not line:
                return
            self.heard[-1].append(json.loads(line))
            if answer == SILENCE:
                lines.readline()
                return
            said = answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n"
            connection.sendall(said)
