"""The record that its tests read, and a copy that they may change."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jackpotd.record.sqlite import SqliteRecord
from tests.jackpotd.accounts.stories import eventful
from tests.record_builder import opened


@pytest.fixture(scope="session")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of 31 rows with hits and snapshots."""
    path = tmp_path_factory.mktemp("sqlite") / "genuine.db"
    eventful(path)
    return path


@pytest.fixture
def copy(genuine: Path, tmp_path: Path) -> Path:
    """A copy of it to be written to or changed."""
    path = tmp_path / "riverside.db"
    shutil.copyfile(genuine, path)
    return path


@pytest.fixture
def record(copy: Path) -> Iterator[SqliteRecord]:
    """The copy, open for writing."""
    with closing(opened(copy)) as found:
        yield found
