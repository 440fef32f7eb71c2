"""A property to play at: the sample configuration in a folder, with keys, on free ports."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

from jackpotd import config
from jackpotd.child import DaemonProcess
from jackpotd.client import address_of
from jackpotd.config import Config
from jackpotd.record.rows import Row
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.starter import CONCENTRATOR, FLOORPERSON, write_property


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveProperty:
    """The sample property: `tables_key` speaks for every table, `floor_key` is a floorperson's."""

    config: Config
    tables_key: str
    floor_key: str

    def daemon(self) -> DaemonProcess:
        """Return its daemon, to be started with `with`, and again after it was ended."""
        return DaemonProcess(self.config.path, self.config.path.parent / "daemon.log")

    def address(self) -> tuple[str, int]:
        """Return where its tables connect."""
        return address_of(self.config.tables_listen)

    def rows(self) -> list[Row]:
        """Return every row of the record."""
        record = SqliteRecord(
            self.config.store,
            property_name=self.config.property,
            currency=self.config.currency.code,
            read_only=True,
        )
        try:
            return list(record.rows())
        finally:
            record.close()


def live_property(folder: Path) -> LiveProperty:
    """Write a property into a folder."""
    with (
        socket.create_server(("127.0.0.1", 0)) as tables,
        socket.create_server(("127.0.0.1", 0)) as http,
    ):
        listeners = {
            "tables_listen": f"tcp:{tables.getsockname()[1]}:interface=127.0.0.1",
            "http_listen": f"tcp:{http.getsockname()[1]}:interface=127.0.0.1",
        }
    started = write_property(folder, **listeners)
    return LiveProperty(
        config=config.load(started.config),
        tables_key=started.keys[CONCENTRATOR],
        floor_key=started.keys[FLOORPERSON],
    )
