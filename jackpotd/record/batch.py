"""What the daemon hands to a record, and what a record hands back."""

from __future__ import annotations

from dataclasses import dataclass, field

from jackpotd.record.rows import Draft, Row
from meters.floor import Floor


@dataclass(frozen=True, slots=True, kw_only=True)
class HitRow:
    """A hit in this batch: its number, its row, and the level whose meter paid, if one did."""

    hit: int
    row: int
    progressive: str
    level: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state after row `number`, written down, and each table's next seq."""

    number: int
    state: bytes
    next_seqs: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A message answered before: by table and seq, or (seq 0) what settled a hit."""

    table: str = ""
    seq: int = 0
    hit: int = 0


@dataclass(slots=True, kw_only=True)
class Batch:
    """Rows to append in one transaction, then look-ups that may meet those rows."""

    drafts: list[Draft] = field(default_factory=list)
    hits: list[HitRow] = field(default_factory=list)
    settled: list[tuple[int, int]] = field(default_factory=list)
    lookups: list[Lookup] = field(default_factory=list)
    snapshot: Snapshot | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HitOnRecord:
    """A hit as the record has it: its row, and the row that settled it if one did."""

    hit: int
    row: Row
    settled: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What the record says: the folded state, and when its last row was written."""

    floor: Floor
    at_ms: int
