"""What every test may use."""

from __future__ import annotations

import os
import shutil
import socket

import pytest
from hypothesis import settings

# No test asserts timing, so none has a deadline; CI tries the same examples every time, so that
# red means the change.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser: Debian's Chromium."""
    path = shutil.which("chromium")
    if path is None:
        pytest.fail("chromium is missing; `make chromium` installs it")
    return path


@pytest.fixture
def free_port() -> int:
    """A TCP port of 127.0.0.1 for a configuration that is written before anything listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
