"""The record that the tests of the accounts read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jackpotd.accounts.stories import eventful


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of three gaming days over a change of the clocks; not to be written to."""
    path = tmp_path_factory.mktemp("accounts") / "riverside.db"
    eventful(path)
    return path
