"""Everything shown at one moment: encoded once, as a whole and as each sign needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A sign of the property: its `title` and the `progressives` it shows, in order."""

    title: str
    progressives: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """An encoded body and its entity tag (quoted, made from the bytes)."""

    encoded: bytes
    etag: str

    @classmethod
    def of(cls, body: Mapping[str, object]) -> View:
        """Encode a body."""
        encoded = msgspec.json.encode(body)
        return cls(encoded=encoded, etag=f'"{blake2b(encoded, digest_size=12).hexdigest()}"')


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Snapshot:
    """Everything shown at one moment.

    `sequence` is the newest committed row it knows. `revision` counts the changes of what is
    shown: rows that change nothing shown leave it. `meters` maps progressive -> level -> minor
    units.
    """

    sequence: int
    revision: int
    meters: Mapping[str, Mapping[str, int]]
    whole: View
    _head: Mapping[str, object]
    _signs: Mapping[str, Sign]
    _short: Mapping[str, msgspec.Raw]
    _views: dict[str, View] = field(default_factory=dict)

    @property
    def encoded(self) -> bytes:
        """The body of /api/meters."""
        return self.whole.encoded

    @property
    def etag(self) -> str:
        """The entity tag of that body."""
        return self.whole.etag

    def view(self, sign: str | None) -> View:
        """Return the body for one sign, or the whole with None. Raises KeyError.

        A sign's body holds its progressives only and five last awards a level, so that a hundred
        displays don't each read the whole property ten times a second.
        """
        if sign is None:
            return self.whole
        if sign not in self._views:
            names = self._signs[sign].progressives
            shown = {name: self._short[name] for name in names if name in self._short}
            self._views[sign] = View.of({**self._head, "progressives": shown})
        return self._views[sign]
