"""The part of a configuration that says where the daemon listens, and with which TLS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jackpotd import listen
from jackpotd.errors import Problem
from jackpotd.fields import Fields
from jackpotd.listen import TlsFiles
from jackpotd.strict_yaml import Item

KEYS = ("tables_listen", "http_listen", "client_authority", "without_tls")
TABLES_LISTEN = "tcp:7011:interface=127.0.0.1"
HTTP_LISTEN = "tcp:8011:interface=127.0.0.1"
THIS_HOST, ANY_HOST = "this host", "any host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Where tables and browsers connect: Twisted endpoint strings, and the files of their TLS.

    `tables_tls` and `http_tls` are None for listeners without TLS. `without_tls` is THIS_HOST or
    ANY_HOST: from where these take connections.
    """

    tables_listen: str
    http_listen: str
    tables_tls: TlsFiles | None
    http_tls: TlsFiles | None
    without_tls: str


def read_listeners(
    fields: Fields, keys: Mapping[str, Item], folder: Path, warnings: list[Problem]
) -> Listeners:
    """Read the listeners of a configuration in `folder`; what is legal but unwise is warned of."""
    without_tls = fields.choice(keys.get("without_tls"), (THIS_HOST, ANY_HOST)) or THIS_HOST
    tables, http = (
        _endpoint(fields, keys.get(name), default)
        for name, default in (("tables_listen", TABLES_LISTEN), ("http_listen", HTTP_LISTEN))
    )
    for name, text in (("tables_listen", tables), ("http_listen", http)):
        if text is not None and listen.is_open(text):
            warnings.append(keys[name].problem(_warning(text, without_tls)))
    authority = _authority(fields, keys.get("client_authority"), tables, folder)
    return Listeners(
        tables_listen=tables or TABLES_LISTEN,
        http_listen=http or HTTP_LISTEN,
        tables_tls=_tls(fields, keys.get("tables_listen"), tables, folder, authority),
        http_tls=_tls(fields, keys.get("http_listen"), http, folder),
        without_tls=without_tls,
    )


def _endpoint(fields: Fields, item: Item | None, default: str) -> str | None:
    """Return an endpoint string; None for one with a fault."""
    if item is None:
        return default
    text = fields.text(item, listen.EXAMPLE)
    fault = listen.fault(text) if text is not None else ""
    if fault:
        fields.say(item, fault)
        return None
    return text


def _warning(text: str, without_tls: str) -> str:
    open_ = f"{text} listens beyond this host without TLS"
    if without_tls == ANY_HOST:
        return f"{open_}: keys cross the network unencrypted, so keep that network apart"
    return (
        f"{open_}, and connections from there are refused: listen with {listen.TLS_EXAMPLE}, "
        f'or say "without_tls: {ANY_HOST}"'
    )


def _authority(
    fields: Fields, item: Item | None, tables_listen: str | None, folder: Path
) -> Path | None:
    text = fields.text(item, "tls/clients.pem")
    if item is None or text is None:
        return None
    if tables_listen is not None and listen.Listener.read(tables_listen).kind != "ssl":
        message = f"only a tables_listen with TLS sees certificates: {listen.TLS_EXAMPLE}"
        fields.say(item, message)
    elif listen.is_missing(folder / text):
        fields.say(item, f"{folder / text} is not there")
    return folder / text


def _tls(
    fields: Fields,
    item: Item | None,
    text: str | None,
    folder: Path,
    authority: Path | None = None,
) -> TlsFiles | None:
    files = listen.tls_files(text, folder, authority=authority) if text is not None else None
    if item is not None and files is not None:
        for path in dict.fromkeys((files.private_key, files.certificate, files.chain)):
            if path is not None and listen.is_missing(path):
                fields.say(item, f"{path} is not there")
    return files
