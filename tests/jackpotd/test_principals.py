"""The principals: keys that are shown once, a file that holds only hashes, and new keys at once."""

from __future__ import annotations

import base64
import errno
import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from twisted.logger import capturedLogs, formatEvent

from jackpotd.errors import ConfigError
from jackpotd.principals import ROLES, KeyRefused, Principal, Principals, Role, read_principals

TABLES = ("FCP-01", "LIR-02")


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def sample() -> str:
    return f"""\
# The pit's own.
pit:
  role: table      # a concentrator
  tables: [FCP-01, LIR-02]
  key_sha256: "{digest("the key of the pit")}"
floor-7: {{role: floor, key_sha256: "{digest("the key of the floor")}"}}
books: {{role: accounting, key_sha256: "{digest("the key of the books")}"}}
boss: {{role: admin, key_sha256: "{digest("the key of the boss")}"}}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "keys.yaml"
    found.write_text(sample(), "utf-8")
    return found


def rewrite(path: Path, text: str) -> None:
    """Put a file in the place of another, as editors do."""
    draft = path.with_suffix(".new")
    draft.write_text(text, "utf-8")
    draft.replace(path)


@contextmanager
def logged() -> Iterator[list[str]]:
    """Collect what the log says of principals."""
    said: list[str] = []
    with capturedLogs() as events:
        yield said
    for event in events:
        if event["log_namespace"] == "jackpotd.principals":
            said.append(formatEvent(event))


def test_a_key_names_its_principal(path: Path) -> None:
    principals = Principals.load(path, TABLES)
    assert principals.by_key("the key of the pit") == Principal(
        name="pit", role=Role.TABLE, tables=TABLES, key_sha256=digest("the key of the pit")
    )
    for name, role in (("floor", "floor"), ("books", "accounting"), ("boss", "admin")):
        found = principals.by_key(f"the key of the {name}")
        assert found is not None
        assert (found.role, found.tables) == (role, ())
    assert ROLES == ("table", "floor", "accounting", "admin")


@pytest.mark.parametrize("key", ["", "another key", "pit", digest("the key of the pit"), "\ud800"])
def test_a_key_that_nobody_has_names_nobody(path: Path, key: str) -> None:
    assert Principals.load(path, TABLES).by_key(key) is None


HASH = digest("k")


@pytest.mark.parametrize(
    ("entry", "place", "words"),
    [
        (f"{{role: tabel, key_sha256: {HASH}}}", "new.role", "did you mean table?"),
        (f"{{key_sha256: {HASH}}}", "new.role", "this is missing"),
        ("{role: floor}", "new.key_sha256", "this is missing"),
        ("{role: floor, key_sha256: abc}", "new.key_sha256", "64 hexadecimal digits"),
        (f"{{role: floor, key_sha256: {HASH.upper()}}}", "new.key_sha256", "small letters"),
        ("{role: floor, key: secret}", "new.key", "there is no such key"),
        (f"{{role: floor, key_sha256: {HASH}, tables: [FCP-01]}}", "new.tables", "only the role"),
        (f"{{role: table, key_sha256: {HASH}}}", "new.tables", "names its tables"),
        (f"{{role: table, key_sha256: {HASH}, tables: []}}", "new.tables", "names its tables"),
        (
            f"{{role: table, key_sha256: {HASH}, tables: [FCP-1]}}",
            "new.tables",
            "did you mean FCP-01?",
        ),
        (f"{{role: table, key_sha256: {HASH}, tables: FCP-01}}", "new.tables", "a list"),
        (
            f"{{role: floor, key_sha256: {digest('the key of the boss')}}}",
            "new.key_sha256",
            "boss has the same key",
        ),
        ("floor", "new", "keys and values"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said_at_its_line(
    path: Path, entry: str, place: str, words: str
) -> None:
    path.write_text(f"{sample()}new: {entry}\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        Principals.load(path, TABLES)
    found = [each for each in caught.value.problems if words in each.message]
    assert [(each.file, each.line, each.key) for each in found] == [(str(path), 9, place)]


def test_every_error_is_said_at_once(path: Path) -> None:
    path.write_text("a: {role: x}\nb c: {}\nd: {role: floor, key_sha256: 5}\na: {}\n", "utf-8")
    with pytest.raises(ConfigError) as caught:
        Principals.load(path, TABLES)
    assert [(each.line, each.key) for each in caught.value.problems] == [
        (1, "a.key_sha256"),
        (1, "a.role"),
        (2, "b c"),
        (3, "d.key_sha256"),
        (4, "a"),
    ]


def test_a_missing_file_is_an_error_unless_it_is_about_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        Principals.load(tmp_path / "keys.yaml", TABLES)
    principals = Principals.load(tmp_path / "keys.yaml", TABLES, missing_ok=True)
    assert principals.by_key("") is None


def test_a_new_key_is_256_random_bits_and_only_its_hash_is_kept(path: Path) -> None:
    principals = Principals.load(path, TABLES)
    key = principals.add("floor-8", role="floor")
    other = principals.add("floor-9", role="floor")
    assert len(base64.urlsafe_b64decode(key + "=")) == 32
    assert key != other
    text = path.read_text("utf-8")
    assert key not in text
    assert digest(key) in text


def test_a_new_principal_leaves_everything_else_as_it_was(path: Path) -> None:
    key = Principals.load(path, TABLES).add("lir", role="table", tables=("LIR-02",))
    text = path.read_text("utf-8")
    assert text.startswith(sample())
    assert read_principals(path, TABLES)[-1] == Principal(
        name="lir", role=Role.TABLE, tables=("LIR-02",), key_sha256=digest(key)
    )


def test_a_file_without_its_last_line_end_is_continued_on_a_new_line(path: Path) -> None:
    path.write_text(sample().rstrip(), "utf-8")
    Principals.load(path, TABLES).add("floor-8", role="floor")
    assert [each.name for each in read_principals(path, TABLES)][-2:] == ["boss", "floor-8"]


def test_the_first_key_makes_the_file_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys.yaml"
    key = Principals.load(path, TABLES, missing_ok=True).add("on", role="admin")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text("utf-8").startswith("# ")
    found = Principals.load(path, TABLES).by_key(key)
    assert found is not None
    assert found.name == "on"
    assert os.listdir(tmp_path) == ["keys.yaml"]


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    path.chmod(0o644)
    Principals.load(path, TABLES).add("floor-8", role="floor")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_keeps_its_owner_when_root_adds_a_key(path: Path) -> None:
    os.chown(path, 12345, 54321)
    Principals.load(path, TABLES).add("floor-8", role="floor")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)
    path.unlink()
    os.chown(path.parent, 12345, 54321)
    Principals.load(path, TABLES, missing_ok=True).add("floor-8", role="floor")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


@pytest.mark.parametrize(
    ("name", "role", "tables", "words"),
    [
        ("pit", "floor", (), "has a principal pit already"),
        ("Pit", "floor", (), "can't tell Pit from pit"),
        ("new one", "floor", (), "names have letters"),
        ('x": {}\n"y', "floor", (), "names have letters"),
        ("", "floor", (), "names have letters"),
        ("new", "dealer", (), "dealer is none of table, floor"),
        ("new", "table", (), "names its tables"),
        ("new", "table", ("FCP-03",), "there is no table FCP-03"),
        ("new", "table", ("FCP-01", "FCP-01"), "given twice"),
        ("new", "table", ('FCP-01"]',), "names have letters"),
        ("new", "floor", ("FCP-01",), "only the role table has tables"),
    ],
)
def test_a_principal_that_cannot_be_is_refused_and_nothing_is_written(
    path: Path, name: str, role: str, tables: tuple[str, ...], words: str
) -> None:
    principals = Principals.load(path, TABLES)
    with pytest.raises(KeyRefused) as caught:
        principals.add(name, role=role, tables=tables)
    assert words in str(caught.value)
    assert path.read_text("utf-8") == sample()
    assert os.listdir(path.parent) == ["keys.yaml"]


def test_a_file_with_a_fault_is_not_added_to(path: Path) -> None:
    principals = Principals.load(path, TABLES)
    broken = sample() + "floor-7: {}\n"
    path.write_text(broken, "utf-8")
    with pytest.raises(KeyRefused, match="given twice, first on line 6"):
        principals.add("floor-8", role="floor")
    assert path.read_text("utf-8") == broken


def test_a_write_that_fails_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    principals = Principals.load(path, TABLES)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(KeyRefused, match="can't be written: No space left on device"):
        principals.add("floor-8", role="floor")
    assert path.read_text("utf-8") == sample()
    assert os.listdir(path.parent) == ["keys.yaml"]


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    principals = Principals.load(tmp_path / "none" / "keys.yaml", TABLES, missing_ok=True)
    with pytest.raises(KeyRefused, match="can't be written: No such file"):
        principals.add("floor-8", role="floor")


def test_a_link_to_the_file_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    key = Principals.load(link, TABLES).add("floor-8", role="floor")
    assert link.is_symlink()
    assert Principals.load(path, TABLES).by_key(key) is not None


def test_a_running_daemon_knows_a_new_key_at_once(path: Path) -> None:
    running = Principals.load(path, TABLES)
    key = Principals.load(path, TABLES).add("floor-8", role="floor")
    found = running.by_key(key)
    assert found is not None
    assert found.name == "floor-8"


def test_a_running_daemon_forgets_a_key_that_was_taken_out(path: Path) -> None:
    running = Principals.load(path, TABLES)
    assert running.by_key("the key of the boss") is not None
    rewrite(path, "".join(sample().splitlines(keepends=True)[:-1]))
    assert running.by_key("the key of the boss") is None
    assert running.by_key("the key of the pit") is not None


def test_a_file_that_breaks_leaves_the_keys_as_they_were_and_is_reported_once(path: Path) -> None:
    running = Principals.load(path, TABLES)
    rewrite(path, "pit: yes\n")
    with logged() as said:
        assert running.by_key("the key of the pit") is not None
        assert running.by_key("the key of the floor") is not None
    (report,) = said
    assert f"{path}:1: pit: yes can be read in several ways" in report
    rewrite(path, sample().replace("floor-7", "floor-8"))
    with logged() as said:
        found = running.by_key("the key of the floor")
    assert found is not None
    assert found.name == "floor-8"
    assert said == [f"{path} was read again"]


def test_a_name_names_its_principal_and_follows_the_file_as_keys_do(path: Path) -> None:
    principals = Principals.load(path, TABLES)
    assert principals.by_name("pit") == principals.by_key("the key of the pit")
    for name in ("", "Pit", "nobody"):
        assert principals.by_name(name) is None
    rewrite(path, sample().replace("pit:", "pit-2:"))
    assert principals.by_name("pit") is None
    assert principals.by_name("pit-2") == principals.by_key("the key of the pit")


def test_the_file_is_read_again_when_asked_to_and_used_if_it_can_be(path: Path) -> None:
    principals = Principals.load(path, TABLES)
    with logged() as said:
        principals.reload()
    assert said == [f"{path} was read again"]
    rewrite(path, "pit: {role: king}\n")
    with logged() as said:
        principals.reload()
        assert principals.by_key("the key of the pit") == principals.by_name("pit")
        assert principals.by_name("pit") is not None
    assert len(said) == 1
    assert "so the keys stay as they were" in said[0]


def test_a_file_that_is_gone_leaves_the_keys_as_they_were(path: Path) -> None:
    running = Principals.load(path, TABLES)
    path.unlink()
    with logged() as said:
        assert running.by_key("the key of the pit") is not None
        assert running.by_key("the key of the pit") is not None
    assert len(said) == 1


def test_keys_that_are_added_at_the_same_time_are_all_kept(path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom jackpotd.principals import Principals\n"
        "Principals.load(Path(sys.argv[1]), ['FCP-01', 'LIR-02']).add(sys.argv[2], role='floor')\n"
    )
    names = [f"new-{number}" for number in range(4)]
    adding = [subprocess.Popen([sys.executable, "-c", code, path, name]) for name in names]
    assert [process.wait(timeout=60) for process in adding] == [0] * len(names)
    assert {each.name for each in read_principals(path, TABLES)} >= set(names)
