"""What Prometheus reads. Every label value comes from the configuration or a closed list.

prometheus_client holds floats: a meter beyond 2^53 minor units would be shown rounded here, and
here only. Nothing reads money back from a metric.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.exposition import choose_encoder

METRIC_NAMES = (
    "jackpotd_build_info",
    "jackpotd_commit_rows",
    "jackpotd_commit_seconds",
    "jackpotd_connections",
    "jackpotd_displays",
    "jackpotd_hits_total",
    "jackpotd_meter_minor_units",
    "jackpotd_oldest_pending_award_seconds",
    "jackpotd_pending_awards",
    "jackpotd_queue_messages",
    "jackpotd_refusals_total",
    "jackpotd_refused_connections_total",
    "jackpotd_store_writable",
    "jackpotd_stream_frames_total",
    "jackpotd_wagers_total",
)
"""Every metric there is; a histogram by its base name."""

HIT_STATUSES = ("pending", "paid", "denied")
REFUSED_CONNECTIONS = ("without-tls", "tls")
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_ROWS = (1, 4, 16, 64, 256, 1024, 4096)


class Metrics:
    """The daemon's metrics, in a registry of their own.

    `codes` are all refusal codes there are; `seconds` gives the time in seconds since 1970.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        version: str,
        codes: Iterable[str],
        seconds: Callable[[], float],
    ) -> None:
        self._registry = registry
        self._seconds = seconds
        self._codes = frozenset(codes)
        self._progressives: dict[str, tuple[str, ...]] = {}
        self._oldest_pending_at_ms: int | None = None
        self._make_counters()
        self._make_gauges()
        Info("jackpotd_build", "The version that runs.", registry=registry).info(
            {"version": version}
        )
        # A code that never happened is 0 and not absent: an alert can be written on its rate.
        for code in self._codes:
            self._refusals.labels(code)
        for reason in REFUSED_CONNECTIONS:
            self._refused_connections.labels(reason)

    def _make_counters(self) -> None:
        registry = self._registry
        self._wagers = Counter(
            "jackpotd_wagers", "Accepted wagers, by seat.", ["progressive"], registry=registry
        )
        self._hits = Counter(
            "jackpotd_hits",
            "Awards that became pending, paid or denied.",
            ["progressive", "status"],
            registry=registry,
        )
        self._refusals = Counter(
            "jackpotd_refusals", "Refused requests.", ["code"], registry=registry
        )
        self._refused_connections = Counter(
            "jackpotd_refused_connections",
            "Connections that ended before anything was said over them.",
            ["reason"],
            registry=registry,
        )
        self._frames = Counter(
            "jackpotd_stream_frames", "Frames sent to displays.", registry=registry
        )
        self._commit_seconds = Histogram(
            "jackpotd_commit_seconds",
            "Time from a batch's hand-over to its being durable.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._commit_rows = Histogram(
            "jackpotd_commit_rows", "Rows in a batch.", buckets=_ROWS, registry=registry
        )

    def _make_gauges(self) -> None:
        registry = self._registry
        self._meter = Gauge(
            "jackpotd_meter_minor_units",
            "The meter as it is shown, in minor units of the currency.",
            ["progressive", "level"],
            registry=registry,
        )
        self._connections = Gauge(
            "jackpotd_connections", "Open connections of the table protocol.", registry=registry
        )
        self._displays = Gauge("jackpotd_displays", "Open event streams.", registry=registry)
        self._queue = Gauge(
            "jackpotd_queue_messages", "Messages waiting to be written.", registry=registry
        )
        self._pending = Gauge(
            "jackpotd_pending_awards", "Awards waiting for the floor.", registry=registry
        )
        self._writable = Gauge(
            "jackpotd_store_writable", "1 while the store takes rows.", registry=registry
        )
        Gauge(
            "jackpotd_oldest_pending_award_seconds",
            "For how long the oldest pending award has been waiting; 0 without one.",
            registry=registry,
        ).set_function(self._oldest_pending_seconds)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics and their content type, as the Accept header asks for them."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def opened(self, progressive: str, meters: Mapping[str, int]) -> None:
        """Begin the series of a progressive; `meters` maps its levels to minor units."""
        self._progressives[progressive] = tuple(meters)
        for level, amount_minor in meters.items():
            self.meter(progressive, level, amount_minor)
        self._wagers.labels(progressive)
        for status in HIT_STATUSES:
            self._hits.labels(progressive, status)

    def retired(self, progressive: str) -> None:
        """End the meters of a progressive; its counters stay."""
        for level in self._progressives.pop(progressive, ()):
            self._meter.remove(progressive, level)

    def meter(self, progressive: str, level: str, amount_minor: int) -> None:
        """Set a committed meter, in minor units."""
        self._meter.labels(progressive, level).set(amount_minor)

    def wager(self, progressive: str, seats: int = 1) -> None:
        """Count the accepted seats of a committed lock."""
        self._wagers.labels(progressive).inc(seats)

    def hit(self, progressive: str, status: str) -> None:
        """Count an award that became `status`, one of HIT_STATUSES. Raises ValueError."""
        if status not in HIT_STATUSES:
            raise ValueError(f"{status!r} is no status of a hit: {', '.join(HIT_STATUSES)}")
        self._hits.labels(progressive, status).inc()

    def refused(self, code: str) -> None:
        """Count a refusal. Raises ValueError for a code that isn't on the list."""
        if code not in self._codes:
            raise ValueError(f"{code!r} is no refusal code; the list is passed in as `codes`")
        self._refusals.labels(code).inc()

    def refused_connection(self, reason: str) -> None:
        """Count a connection refused for one of REFUSED_CONNECTIONS. Raises ValueError."""
        if reason not in REFUSED_CONNECTIONS:
            raise ValueError(f"{reason!r} is no reason: {', '.join(REFUSED_CONNECTIONS)}")
        self._refused_connections.labels(reason).inc()

    def committed(self, seconds: float, rows: int) -> None:
        """Note a batch that is durable now."""
        self._commit_seconds.observe(seconds)
        self._commit_rows.observe(rows)

    def connected(self) -> None:
        """Count a connection of the table protocol in."""
        self._connections.inc()

    def disconnected(self) -> None:
        """Count it out."""
        self._connections.dec()

    def display_opened(self) -> None:
        """Count an event stream in."""
        self._displays.inc()

    def display_closed(self) -> None:
        """Count it out."""
        self._displays.dec()

    def frame(self) -> None:
        """Count a frame that was sent to a display."""
        self._frames.inc()

    def count_queue(self, waiting: Callable[[], int]) -> None:
        """Ask `waiting` how many messages wait to be written, whenever somebody looks."""
        self._queue.set_function(waiting)

    def pending(self, awards: int, oldest_at_ms: int | None) -> None:
        """Set how many awards are pending, and when the oldest was hit (ms since 1970)."""
        self._pending.set(awards)
        self._oldest_pending_at_ms = oldest_at_ms

    def store_writable(self, writable: bool) -> None:
        """Set whether the store takes rows."""
        self._writable.set(int(writable))

    def _oldest_pending_seconds(self) -> float:
        if self._oldest_pending_at_ms is None:
            return 0.0
        return max(0.0, self._seconds() - self._oldest_pending_at_ms / 1000)
