"""`make bench`: a table of figures and ratios, all in one run, written to docs/performance.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.bare import append, new_record
from tests.bench.place import Place, Running, bare, daemon, jackpotd, make_place

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
_BEGIN, _END = "<!-- figures -->", "<!-- end of figures -->"


def load(running: Running, place: Place, *, rounds: int, in_flight: int) -> dict[str, float]:
    """Put a load on a server, and add the processor time that a round cost it."""
    before = running.cpu_seconds()
    found = measured(
        "tests.bench.load",
        str(running.ports["tables"]),
        str(place.key_file),
        *("--rounds", str(rounds), "--in-flight", str(in_flight)),
    )
    found["cpu_us"] = (running.cpu_seconds() - before) / found["rounds"] * 1e6
    return found


def measured(module: str, *arguments: str) -> dict[str, float]:
    """Run a measuring module in a process of its own and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def raw_rows_per_second(folder: Path, batch: int) -> float:
    """Return how fast rows of the record's size go into SQLite by themselves."""
    event = '{"round":101,"seats":[1,2,3,4]}'
    answer = '{"progressive":"royal","amount_minor":2000,"meters":{"royal":{"mega":5000150}}}'
    conn = new_record(folder / f"raw-{batch}.db")
    total, number = 200_000 if batch > 1 else 2_000, 0
    started = time.perf_counter()
    while number < total:
        rows: list[tuple[object, ...]] = [
            (number + each + 1, 0, "T001", number, "wager", event, answer, b"x" * 32)
            for each in range(batch)
        ]
        append(conn, rows)
        number += batch
    seconds = time.perf_counter() - started
    conn.close()
    return number / seconds


def main() -> None:
    """Measure everything, print it, write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000, help="rows of the large record")
    parser.add_argument("--rounds", type=int, default=1_000, help="rounds of each of 300 tables")
    parser.add_argument("--no-page", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jackpotd-bench-") as name:
        report = measure(Path(name), chosen.events, chosen.rounds)
    text = "\n".join(report)
    print(text)
    if not chosen.no_page:
        page = PAGE.read_text()
        figures = f"{_BEGIN}\n{text}\n{_END}"
        PAGE.write_text(re.sub(f"{_BEGIN}.*{_END}", lambda _: figures, page, flags=re.DOTALL))


def measure(folder: Path, events: int, rounds: int) -> list[str]:
    """Run every part; return the lines of the report."""
    place = make_place(folder)
    report = [_machine(), ""]
    report += ["| the floor that the machine gives | |", "| --- | --- |"]
    for batch in (1, 256, 1024):
        rate = raw_rows_per_second(folder, batch)
        report.append(f"| SQLite rows/s by themselves, {batch} a transaction | {rate:,.0f} |")
    report += ["", *_served(folder, place, rounds)]
    report += ["", *_displays(place)]
    report += ["", *_large(place, events)]
    return report


def _machine() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {model[1] if model else platform.machine()}, "
        f"{os.cpu_count()} processors, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}; clients on the same machine."
    )


def _served(folder: Path, place: Place, rounds: int) -> list[str]:
    lines = [
        "| rounds/s, 300 connections | pipelined, 16 in flight | p50, p99 ms | lockstep "
        "| p50, p99 ms | CPU µs a round | peak MiB |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    found: dict[str, dict[str, float]] = {}
    for kind in ("echo", "controller"):
        place_of = folder / kind
        place_of.mkdir()
        with bare(kind, place_of) as running:
            piped = load(running, place, rounds=rounds, in_flight=16)
        place_of = folder / f"{kind}-lockstep"
        place_of.mkdir()
        with bare(kind, place_of) as running:
            lockstep = load(running, place, rounds=rounds // 5, in_flight=1)
            found[kind] = piped
            lines.append(_row(f"bare {kind}", piped, lockstep, running.peak_mib()))
    with daemon(place) as running:
        piped = load(running, place, rounds=rounds, in_flight=16)
        lockstep = load(running, place, rounds=rounds // 5, in_flight=1)
        lines.append(_row("jackpotd", piped, lockstep, running.peak_mib()))
    ratio = piped["rounds_per_second"] / found["controller"]["rounds_per_second"]
    rows = piped["rounds"] + lockstep["rounds"]
    bytes_a_round = place.store.stat().st_size / rows
    lines += [
        "",
        f"jackpotd does {ratio:.0%} of the bare controller's pipelined rounds. "
        f"A round takes {bytes_a_round:.0f} bytes on disk.",
    ]
    return lines


def _row(name: str, piped: dict[str, float], lockstep: dict[str, float], peak_mib: float) -> str:
    return (
        f"| {name} | {piped['rounds_per_second']:,.0f} "
        f"| {piped['p50_ms']:.1f}, {piped['p99_ms']:.1f} "
        f"| {lockstep['rounds_per_second']:,.0f} "
        f"| {lockstep['p50_ms']:.1f}, {lockstep['p99_ms']:.1f} "
        f"| {piped['cpu_us']:.1f} | {peak_mib:.0f} |"
    )


def _displays(place: Place) -> list[str]:
    lines = [
        "| displays on /api/stream | rounds/s meanwhile | frames/s | commit to frame p50, p99 ms |",
        "| --- | --- | --- | --- |",
    ]
    with (
        daemon(place) as running,
        subprocess.Popen(
            [sys.executable, "-m", "tests.bench.displays", str(running.ports["http"])],
            stdout=subprocess.PIPE,
            text=True,
        ) as displays,
    ):
        rate = 0.0
        while displays.poll() is None:
            found = load(running, place, rounds=100, in_flight=4)
            rate = max(rate, found["rounds_per_second"])
        assert displays.stdout is not None
        seen: dict[str, Any] = json.loads(displays.stdout.read())
    lines.append(
        f"| {seen['displays']} | {rate:,.0f} | {seen['frames_per_second']:,.0f} "
        f"| {seen['p50_ms']:.0f}, {seen['p99_ms']:.0f} |"
    )
    return lines


def _large(place: Place, events: int) -> list[str]:
    with sqlite3.connect(place.store) as conn:
        (rows,) = conn.execute("SELECT max(number) FROM record").fetchone()
    conn.close()
    with daemon(place) as running:
        while rows < events:
            found = load(
                running, place, rounds=max(1, min(2_000, (events - rows) // 300 + 1)), in_flight=16
            )
            rows += int(found["rounds"])
    lines = [f"| a record of {rows:,} events | |", "| --- | --- |"]

    def timed(what: Callable[[], object]) -> float:
        started = time.perf_counter()
        what()
        return time.perf_counter() - started

    def start() -> None:
        with daemon(place):
            pass

    lines.append(f"| start-up, until tables are served and down again | {timed(start):.2f} s |")
    seconds = timed(lambda: jackpotd("ledger", "verify", str(place.config)))
    lines.append(f"| `ledger verify`, events/s | {rows / seconds:,.0f} |")
    output = place.config.with_name("ledger.csv")
    seconds = timed(
        lambda: jackpotd("ledger", "export", str(place.config), "--output", str(output))
    )
    with output.open("rb") as file:
        postings = sum(1 for _ in file) - 1
    lines.append(f"| `ledger export`, postings/s | {postings / seconds:,.0f} |")
    return lines


if __name__ == "__main__":
    main()
