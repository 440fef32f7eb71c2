"""The commands. The one place that knows the reactor."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from pathlib import Path

import click
import msgspec
from twisted.internet import reactor
from twisted.logger import globalLogBeginner, textFileLogObserver
from twisted.python.failure import Failure

from jackpotd import __version__, config
from jackpotd.commands.floor import confirm, deny, hits, meters
from jackpotd.commands.ledger import ledger
from jackpotd.commands.play import demo, simulate
from jackpotd.commands.property import backup, check, init, key, paytables
from jackpotd.errors import JackpotdError
from jackpotd.service import Daemon


class Commands(click.Group):
    """Says an error of ours in plain words and exits with 1."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except JackpotdError as error:
            click.echo(f"jackpotd: {error}", err=True)
            ctx.exit(1)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="jackpotd")
def main() -> None:
    """Progressive jackpots for casino table games: meters, hits, signs and the ledger."""


@main.command()
@click.argument("config_file", metavar="CONFIG", type=click.Path(path_type=Path))
@click.option("--ready-fd", type=int, help="A file descriptor to write the ports to, when ready.")
def run(config_file: Path, ready_fd: int | None) -> None:
    """Run the daemon in the foreground, until SIGTERM."""
    loaded = config.load(config_file)
    globalLogBeginner.beginLoggingTo([textFileLogObserver(sys.stderr)])
    for warning in loaded.warnings:
        click.echo(f"jackpotd: warning: {warning}", err=True)
    # Timers follow the monotonic clock: a wall clock that is set back must not stop them.
    # The record's thread and the reactor take turns: at Python's usual 5 ms each of its statements
    # would wait that long while the tables are busy.
    sys.setswitchinterval(0.0002)
    reactor.seconds = time.monotonic  # type: ignore[method-assign]
    daemon = Daemon(loaded, reactor=reactor, now_ms=lambda: time.time_ns() // 1_000_000)
    failures: list[Failure] = []

    def failed(failure: Failure) -> None:
        # A start that SIGTERM cut short failed at nothing, and the reactor stops already.
        if not daemon.stopping:
            failures.append(failure)
            reactor.stop()

    def started(ports: dict[str, int]) -> None:
        _spare_collector()
        _tell_ready(ready_fd, ports)

    def begin() -> None:
        daemon.start().addCallback(started).addErrback(failed)

    # Installed before anything listens: from then on a SIGHUP never ends the daemon.
    signal.signal(
        signal.SIGHUP,
        lambda *_: reactor.callFromThread(daemon.reload),  # type: ignore[attr-defined]
    )
    reactor.callWhenRunning(begin)
    reactor.addSystemEventTrigger("before", "shutdown", daemon.stop)
    reactor.run()
    if failures:
        failures[0].raiseException()


def _spare_collector() -> None:
    # Messages live until they are durable, a batch at a time. At Python's usual thresholds the
    # cycle collector walks them, and all the modules, hundreds of times a second for nothing.
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _tell_ready(ready_fd: int | None, ports: dict[str, int]) -> None:
    if ready_fd is not None:
        with os.fdopen(ready_fd, "wb") as ready:
            ready.write(msgspec.json.encode(ports) + b"\n")
    address = os.environ.get("NOTIFY_SOCKET")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
            notify.connect("\0" + address[1:] if address.startswith("@") else address)
            notify.send(b"READY=1")


for command in (
    init,
    check,
    paytables,
    key,
    backup,
    meters,
    hits,
    confirm,
    deny,
    ledger,
    simulate,
    demo,
):
    main.add_command(command)
