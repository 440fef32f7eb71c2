"""The principals: who may speak for tables, confirm hits, see the books (keys.yaml).

A key is 256 random bits, so nobody can try the keys: it is kept as a plain SHA-256. A slow hash
makes guessing dear where people choose the secret; here it would only make every hello dear.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from twisted.logger import Logger

from jackpotd.errors import ConfigError, JackpotdError, Problem
from jackpotd.fields import NAMES_ARE, Fields, close_to, is_name
from jackpotd.strict_yaml import Item, parse, read

KEY_BYTES = 32
KEYS = ("role", "tables", "key_sha256")
HEADER = (
    "# Who may speak to the daemon. Only hashes are here: `jackpotd key add` shows a key once.\n"
)

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_log = Logger()


class Role(StrEnum):
    """What a principal may do."""

    TABLE = "table"
    FLOOR = "floor"
    ACCOUNTING = "accounting"
    ADMIN = "admin"


ROLES = tuple(role.value for role in Role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Somebody with a key: `tables` are those that a role `table` speaks for, else empty."""

    name: str
    role: Role
    tables: tuple[str, ...]
    key_sha256: str


Stamp: TypeAlias = tuple[int, int, int]
"""What changes when a file does: its modification time in ns, its inode and its size."""


class KeyRefused(JackpotdError):
    """A principal that can't be added; the message says what would be right."""


class Principals:
    """The principals of a property, as the file says now.

    The file is read again when it has changed, so that a new key works at once. If it can't be
    used, what it said before holds, and the log tells what is wrong with it, once.
    """

    def __init__(self, path: Path, tables: Collection[str]) -> None:
        self._path = path
        self._tables = tables
        self._stamp: Stamp | None = None
        self._by_digest: Mapping[str, Principal] = {}
        self._by_name: Mapping[str, Principal] = {}

    @classmethod
    def load(cls, path: Path, tables: Collection[str], *, missing_ok: bool = False) -> Principals:
        """Read the file; `tables` are those of the configuration.

        Raises ConfigError; for a missing file too, unless `missing_ok`.
        """
        principals = cls(path, tables)
        if not missing_ok or path.exists():
            principals._stamp = _stamp(path)
            principals._read()
        return principals

    def by_key(self, key: str) -> Principal | None:
        """Return whom a key belongs to; None for a key that nobody has."""
        self._follow()
        digest = _digest(key)
        found = self._by_digest.get(digest)
        if found is None or not hmac.compare_digest(found.key_sha256, digest):
            return None
        return found

    def by_name(self, name: str) -> Principal | None:
        """Return the principal of a name, which a certificate may prove; None if there is none."""
        self._follow()
        return self._by_name.get(name)

    def reload(self) -> None:
        """Read the file again, changed or not; if it can't be used, what it said before holds."""
        self._stamp = _stamp(self._path)
        try:
            self._read()
        except ConfigError as error:
            _log.error(
                "{path} can't be used, so the keys stay as they were:\n{problems}",
                path=str(self._path),
                problems=str(error),
            )
        else:
            _log.info("{path} was read again", path=str(self._path))

    def add(self, name: str, *, role: str, tables: Iterable[str] = ()) -> str:
        """Add a principal to the file and return its new key, which is kept nowhere.

        All else in the file stays as it is. The file is replaced as a whole, readable by its
        owner only. Raises KeyRefused.
        """
        tables = tuple(tables)
        if not all(map(is_name, (name, *tables))):
            raise KeyRefused(f"{', '.join((name, *tables))!r}: {NAMES_ARE}")
        key = secrets.token_urlsafe(KEY_BYTES)
        entry = _entry_text(name, role, tables, _digest(key))
        path = self._path.resolve()
        try:
            with _locked(path.parent):
                _replace(path, self._with_entry(path, name, entry))
        except OSError as error:
            raise KeyRefused(f"{path} can't be written: {error.strerror}") from error
        return key

    def _with_entry(self, path: Path, name: str, entry: str) -> bytes:
        """Return the file with an entry more. Raises KeyRefused if that can't be used."""
        data = path.read_bytes() if path.exists() else HEADER.encode()
        if name in Fields([]).keys_of(parse(data, str(path), [])):
            raise KeyRefused(f"{path} has a principal {name} already")
        data = data.rstrip() + b"\n" + entry.encode()
        problems: list[Problem] = []
        try:
            _checked(parse(data, str(path), problems), problems, self._tables)
        except ConfigError as error:
            message = f"{name} can't be added, as this would be wrong:\n{error}"
            raise KeyRefused(message) from error
        return data

    def _follow(self) -> None:
        if _stamp(self._path) != self._stamp:
            self.reload()

    def _read(self) -> None:
        found = read_principals(self._path, self._tables)
        self._by_digest = {each.key_sha256: each for each in found}
        self._by_name = {each.name: each for each in found}


def read_principals(path: Path, tables: Collection[str]) -> tuple[Principal, ...]:
    """Read a principals file. Raises ConfigError with every problem in it."""
    problems: list[Problem] = []
    return _checked(read(path, problems), problems, tables)


def _entry_text(name: str, role: str, tables: tuple[str, ...], digest: str) -> str:
    # The quotes keep a name such as `on` and a digest of digits from being read as other things.
    spoken_for = ", ".join(f'"{table}"' for table in tables)
    lines = [f'"{name}":', f"  role: {role}"]
    lines += [f"  tables: [{spoken_for}]"] if tables else []
    lines += [f'  key_sha256: "{digest}"']
    return "\n".join(lines) + "\n"


def _checked(item: Item, problems: list[Problem], tables: Collection[str]) -> tuple[Principal, ...]:
    fields = Fields(problems)
    found = [
        _principal(fields, name, each, tables)
        for name, each in fields.named(item, "principals").items()
    ]
    holders: dict[str, str] = {}
    for principal in found:
        if principal is None:
            continue
        holder = holders.setdefault(principal.key_sha256, principal.name)
        if holder != principal.name:
            message = f"{holder} has the same key: give each principal its own"
            fields.say(fields.entries(item)[principal.name], message, "key_sha256")
    if problems:
        raise ConfigError(problems)
    return tuple(principal for principal in found if principal is not None)


def _principal(fields: Fields, name: str, item: Item, known: Collection[str]) -> Principal | None:
    keys = fields.keys(item, KEYS, required=("role", "key_sha256"))
    word = fields.choice(keys.get("role"), ROLES)
    listed = keys.get("tables")
    tables = fields.words(listed)
    if word == Role.TABLE and (listed is None or listed.value == []):
        below = ("tables",) if listed is None else ()
        fields.say(listed or item, "a principal with the role table names its tables", *below)
    if word not in (None, Role.TABLE) and listed is not None:
        fields.say(listed, f"only the role table has tables, not {word}")
    for table in tables:
        if listed is not None and table not in known:
            fields.say(listed, f"there is no table {table}{close_to(table, known)}")
    digest = fields.text(keys.get("key_sha256"), "the 64 hexadecimal digits that key add wrote")
    if digest is not None and not _HASH.fullmatch(digest):
        fields.say(keys["key_sha256"], "no SHA-256: 64 hexadecimal digits in small letters")
    if word is None or digest is None:
        return None
    return Principal(name=name, role=Role(word), tables=tables, key_sha256=digest)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change a file of this folder."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, data: bytes) -> None:
    """Put a new file in the place of the old one, whole or not at all."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if os.geteuid() == 0:
                # root adds a key for a daemon of another user, who must be able to read the file.
                owner = (path if path.exists() else path.parent).stat()
                os.fchown(descriptor, owner.st_uid, owner.st_gid)
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
