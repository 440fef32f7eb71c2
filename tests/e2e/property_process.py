"""A property to look at: the real site on a real reactor, told on stdin what was committed.

Started with a port (0: any). Writes the port as its first line, then "done" after each line that
it took: {"do": "meters_committed", ...}, the board's methods with their arguments.
"""

# mypy: allow-untyped-calls
# (twisted.internet.stdio has few annotations.)

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from twisted.internet import reactor, stdio
from twisted.internet.defer import Deferred, succeed
from twisted.internet.endpoints import serverFromString
from twisted.protocols.basic import LineOnlyReceiver

from jackpotd.metrics import Metrics
from jackpotd.web.site import make_site
from meters.money import CURRENCIES
from signage.board import Award, Board, Resolution, ShownLevel, Sign
from signage.feed import Feed

SIGNS = {
    "pit-1": Sign(title="Riverside Royal", progressives=("riverside-royal",)),
    "pit-2": Sign(title="Lucky Pit", progressives=("riverside-royal", "pai-gow")),
    "all": Sign(title="Riverside Casino", progressives=("riverside-royal", "pai-gow", "dj-wild")),
}


class Well:
    """A daemon in good health."""

    def alive(self) -> bool:
        return True

    def ready(self) -> tuple[bool, Mapping[str, bool]]:
        return True, {"store": True, "caught_up": True, "leader": True}


class NoDesk:
    """A floor desk that knows nobody."""

    def authenticate(self, key: str) -> None:
        return None

    def hits(self, pending: bool) -> Deferred[list[dict[str, object]]]:
        return succeed([])

    def confirm(self, hit: int, by: str) -> Deferred[dict[str, object]]:
        return succeed({})

    def deny(self, hit: int, by: str, reason: str) -> Deferred[dict[str, object]]:
        return succeed({})


class Commits(LineOnlyReceiver):
    """Reads what is committed."""

    delimiter = b"\n"
    MAX_LENGTH = 1 << 20

    def __init__(self, board: Board) -> None:
        self._board = board

    def lineReceived(self, line: bytes) -> None:
        commit: dict[str, Any] = json.loads(line)
        match commit.pop("do"):
            case "show_progressive":
                levels = {name: ShownLevel(**level) for name, level in commit["levels"].items()}
                self._board.show_progressive(commit["name"], commit["title"], levels)
            case "meters_committed":
                self._board.meters_committed(**commit)
            case "hit_committed":
                commit["cards"] = tuple(commit["cards"])
                commit["envy"] = tuple(tuple(each) for each in commit["envy"])
                self._board.hit_committed(Award(**commit))
            case "resolved_committed":
                self._board.resolved_committed(Resolution(**commit))
        self.sendLine(b"done")


def main() -> None:
    board = Board(property_title="Riverside", currency=CURRENCIES["USD"], signs=SIGNS)
    metrics = Metrics(
        CollectorRegistry(), version="0", codes=["bad-key", "not-allowed"], seconds=reactor.seconds
    )
    site = make_site(
        board=board,
        feed=Feed(reactor, board),
        metrics=metrics,
        health=Well(),
        desk=NoDesk(),
        reactor=reactor,
    )
    endpoint = serverFromString(reactor, f"tcp:{sys.argv[1]}:interface=127.0.0.1")
    endpoint.listen(site).addCallback(lambda port: print(port.getHost().port, flush=True))
    stdio.StandardIO(Commits(board))
    reactor.run()


if __name__ == "__main__":
    main()
