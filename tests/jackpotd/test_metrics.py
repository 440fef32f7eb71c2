"""What Prometheus reads: names with units, and labels that no client can choose."""

from __future__ import annotations

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from jackpotd.metrics import HIT_STATUSES, METRIC_NAMES, Metrics

AT_MS = 1_772_357_400_250


class Daemon:
    """Metrics at a time that the test sets."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.now_s = AT_MS / 1000
        self.metrics = Metrics(
            self.registry,
            version="0.1.0",
            codes=["seq-gap", "unavailable"],
            seconds=lambda: self.now_s,
        )

    def value(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)


@pytest.fixture
def daemon() -> Daemon:
    return Daemon()


def test_the_list_of_names_is_what_is_exposed(daemon: Daemon) -> None:
    daemon.metrics.opened("royal", {"mega": 1})
    text, _ = daemon.metrics.exposition("")
    exposed = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in text_string_to_metric_families(text.decode())
        if not family.name.endswith("_created")
    }
    assert sorted(exposed) == list(METRIC_NAMES)


def test_a_meter_is_shown_in_minor_units(daemon: Daemon) -> None:
    daemon.metrics.opened("royal", {"mega": 5_000_000, "major": 500_000})
    daemon.metrics.meter("royal", "mega", 5_000_123)
    assert daemon.value("jackpotd_meter_minor_units", progressive="royal", level="mega") == (
        5_000_123
    )
    assert daemon.value("jackpotd_meter_minor_units", progressive="royal", level="major") == 500_000


def test_a_retired_progressive_has_no_meter_and_keeps_its_counts(daemon: Daemon) -> None:
    daemon.metrics.opened("royal", {"mega": 5_000_000})
    daemon.metrics.wager("royal", 3)
    daemon.metrics.retired("royal")
    daemon.metrics.retired("royal")
    assert daemon.value("jackpotd_meter_minor_units", progressive="royal", level="mega") is None
    assert daemon.value("jackpotd_wagers_total", progressive="royal") == 3


def test_what_never_happened_is_zero_and_not_absent(daemon: Daemon) -> None:
    daemon.metrics.opened("royal", {"mega": 1})
    assert daemon.value("jackpotd_wagers_total", progressive="royal") == 0
    for status in HIT_STATUSES:
        assert daemon.value("jackpotd_hits_total", progressive="royal", status=status) == 0
    assert daemon.value("jackpotd_refusals_total", code="unavailable") == 0


def test_hits_are_counted_by_what_became_of_them(daemon: Daemon) -> None:
    for status in ("pending", "pending", "denied"):
        daemon.metrics.hit("royal", status)
    assert daemon.value("jackpotd_hits_total", progressive="royal", status="pending") == 2
    assert daemon.value("jackpotd_hits_total", progressive="royal", status="denied") == 1


def test_a_status_or_code_that_is_on_no_list_makes_no_series(daemon: Daemon) -> None:
    with pytest.raises(ValueError, match="no status of a hit"):
        daemon.metrics.hit("royal", "lost")
    with pytest.raises(ValueError, match="no refusal code"):
        daemon.metrics.refused("'; drop table")
    assert b"drop table" not in daemon.metrics.exposition("")[0]
    daemon.metrics.refused("seq-gap")
    assert daemon.value("jackpotd_refusals_total", code="seq-gap") == 1


def test_connections_and_displays_are_counted_in_and_out(daemon: Daemon) -> None:
    metrics = daemon.metrics
    for _ in range(3):
        metrics.connected()
        metrics.display_opened()
    metrics.disconnected()
    metrics.display_closed()
    assert daemon.value("jackpotd_connections") == daemon.value("jackpotd_displays") == 2


def test_a_batch_is_noted_with_its_time_and_size(daemon: Daemon) -> None:
    daemon.metrics.committed(0.002, 300)
    assert daemon.value("jackpotd_commit_seconds_bucket", le="0.0025") == 1
    assert daemon.value("jackpotd_commit_seconds_bucket", le="0.001") == 0
    assert daemon.value("jackpotd_commit_rows_sum") == 300


def test_the_oldest_pending_award_grows_older_by_itself(daemon: Daemon) -> None:
    assert daemon.value("jackpotd_oldest_pending_award_seconds") == 0
    daemon.metrics.pending(2, AT_MS)
    assert daemon.value("jackpotd_pending_awards") == 2
    daemon.now_s += 90
    assert daemon.value("jackpotd_oldest_pending_award_seconds") == 90
    daemon.metrics.pending(0, None)
    assert daemon.value("jackpotd_oldest_pending_award_seconds") == 0


def test_the_queue_the_store_and_the_frames_are_shown(daemon: Daemon) -> None:
    daemon.metrics.count_queue(lambda: 12)
    daemon.metrics.store_writable(True)
    daemon.metrics.frame()
    assert daemon.value("jackpotd_queue_messages") == 12
    assert daemon.value("jackpotd_store_writable") == 1
    assert daemon.value("jackpotd_stream_frames_total") == 1
    daemon.metrics.store_writable(False)
    assert daemon.value("jackpotd_store_writable") == 0


def test_refused_connections_are_counted_by_reason(daemon: Daemon) -> None:
    name = "jackpotd_refused_connections_total"
    daemon.metrics.refused_connection("without-tls")
    assert daemon.value(name, reason="without-tls") == 1
    assert daemon.value(name, reason="tls") == 0
    with pytest.raises(ValueError, match="no reason"):
        daemon.metrics.refused_connection("weather")
