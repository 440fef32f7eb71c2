"""What people install: a wheel, built from this tree, in an environment with nothing else."""

from __future__ import annotations

import email.message
import email.parser
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("configs", "jackpotd", "meters", "signage")
NOT_SOURCE = shutil.ignore_patterns(".*", "build", "dist", "htmlcov", "__pycache__", "*.egg-info")
SECONDS_AT_MOST = 300
"""No measure of anything: it only ends a command that would never end by itself."""

pytestmark = pytest.mark.package


def output_of(*command: str | Path, cwd: Path) -> str:
    """Run a command that must succeed, out of reach of this tree, and return what it printed."""
    outside = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "COV"))
    }
    done = subprocess.run(
        command, cwd=cwd, env=outside, text=True, capture_output=True, timeout=SECONDS_AT_MOST
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder away from the tree, gone afterwards: an environment is too large to keep."""
    folder = tmp_path_factory.mktemp("package")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def wheel(elsewhere: Path) -> Path:
    """The wheel, built from a copy so that neither finds what the other left behind."""
    shutil.copytree(ROOT, elsewhere / "tree", ignore=NOT_SOURCE)
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "dist")
    output_of(*pip, "./tree", cwd=elsewhere)
    (built,) = (elsewhere / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def jackpotd(elsewhere: Path, wheel: Path) -> Path:
    """The command, as installed with its dependencies in an empty environment."""
    venv.create(elsewhere / "environment", with_pip=False)
    python = elsewhere / "environment" / "bin" / "python"
    output_of(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel),
        cwd=elsewhere,
    )
    return python.with_name("jackpotd")


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> email.message.Message:
    """What the wheel says of itself."""
    with zipfile.ZipFile(wheel) as contents:
        (name,) = (name for name in contents.namelist() if name.endswith("dist-info/METADATA"))
        return email.parser.BytesParser().parsebytes(contents.read(name))


def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel: Path) -> None:
    source = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as contents:
        names = set(contents.namelist())
    assert {name for name in names if ".dist-info/" not in name} == source


def test_the_wheel_carries_its_licence(wheel: Path, metadata: email.message.Message) -> None:
    assert metadata["License-Expression"] == "Apache-2.0"
    with zipfile.ZipFile(wheel) as contents:
        (name,) = (name for name in contents.namelist() if name.endswith("/LICENSE"))
        assert contents.read(name) == (ROOT / "LICENSE").read_bytes()


def distribution(requirement: str) -> str:
    """Return the name of a requirement such as "click<9,>=8.5"."""
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return match[0].lower()


def test_the_page_of_dependencies_gives_a_reason_for_each(metadata: email.message.Message) -> None:
    required = {distribution(line) for line in metadata.get_all("Requires-Dist", [])}
    page = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    reasons = dict(re.findall(r"^\| `([^`]+)` \| (.*\S) \|$", page, re.MULTILINE))
    assert {name.lower() for name in reasons} == required
    assert all(reasons.values())


def test_the_build_backend_is_the_only_thing_outside_setup_cfg() -> None:
    lines = (ROOT / "pyproject.toml").read_text("utf-8").splitlines()
    assert [line.partition(" ")[0] for line in lines] == [
        "[build-system]",
        "requires",
        "build-backend",
    ]


def test_the_installed_command_lists_its_commands(jackpotd: Path, elsewhere: Path) -> None:
    words = output_of(jackpotd, "--help", cwd=elsewhere).split()
    assert {"run", "demo", "init", "check", "paytables", "ledger", "backup"} <= set(words)


def test_the_installed_command_knows_the_catalogue(jackpotd: Path, elsewhere: Path) -> None:
    printed = output_of(jackpotd, "paytables", cwd=elsewhere)
    assert "pa/639a-a" in printed
    assert "pa/561-13d" in printed


def test_the_installed_command_plays_the_demo(jackpotd: Path, elsewhere: Path) -> None:
    printed = output_of(jackpotd, "demo", "--rounds", "20", cwd=elsewhere)
    assert "http://127.0.0.1:" in printed
