"""The beginning of a property: a configuration that is right, and keys that work."""

from __future__ import annotations

import stat
from importlib.resources import files
from pathlib import Path

import pytest

from jackpotd import config
from jackpotd.principals import Principals
from jackpotd.starter import CannotBegin, write_property


def test_a_new_property_is_the_sample_with_its_remarks(tmp_path: Path) -> None:
    started = write_property(tmp_path / "here" / "riverside")
    sample = (files("configs") / "riverside.yaml").read_text("utf-8")
    assert started.config.read_text("utf-8").splitlines() == [
        line.partition(" " * 10)[0] if line.startswith(("tables_listen", "http_listen")) else line
        for line in sample.splitlines()
    ]
    assert config.load(started.config).warnings == ()


def test_its_keys_are_for_a_concentrator_of_every_table_and_for_a_floorperson(
    tmp_path: Path,
) -> None:
    started = write_property(tmp_path)
    loaded = config.load(started.config)
    assert started.principals == loaded.principals
    principals = Principals.load(loaded.principals, loaded.tables)
    found = {name: principals.by_key(key) for name, key in started.keys.items()}
    assert {name: each and (each.name, each.role) for name, each in found.items()} == {
        "pit": ("pit", "table"),
        "floor-1": ("floor-1", "floor"),
    }
    assert found["pit"] is not None
    assert found["pit"].tables == tuple(loaded.tables)
    assert stat.S_IMODE(started.principals.stat().st_mode) == 0o600


def test_two_properties_have_different_keys(tmp_path: Path) -> None:
    keys = [set(write_property(tmp_path / name).keys.values()) for name in ("one", "two")]
    assert not keys[0] & keys[1]


def test_it_listens_where_it_is_told(tmp_path: Path) -> None:
    started = write_property(
        tmp_path,
        tables_listen="tcp:0:interface=127.0.0.1",
        http_listen="tcp:0:interface=127.0.0.2",
    )
    loaded = config.load(started.config)
    assert loaded.tables_listen == "tcp:0:interface=127.0.0.1"
    assert loaded.http_listen == "tcp:0:interface=127.0.0.2"


@pytest.mark.parametrize("name", ["riverside.yaml", "keys.yaml"])
def test_a_folder_that_has_a_property_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(CannotBegin, match=f"{name} is there already"):
        write_property(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text("utf-8") == "mine"


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    with pytest.raises(CannotBegin, match="can't be written"):
        write_property(tmp_path / "taken")
