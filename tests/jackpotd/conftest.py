"""What the tests of the table port may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.jackpotd.table_port import Port


@pytest.fixture
def port(tmp_path: Path) -> Port:
    """A property that is open, with its table port."""
    return Port(tmp_path)
