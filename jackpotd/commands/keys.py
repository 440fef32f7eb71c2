"""How a command gets its key: a file, the environment, or a prompt; never the process list."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from jackpotd.errors import JackpotdError


class NoKey(JackpotdError):
    """No key was given; the message says how to give one."""


def key_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --key-file and JACKPOTD_KEY to a command, which gets the key as `key`."""

    @click.option(
        "--key-file",
        type=click.Path(path_type=Path),
        help="A file that holds your key; or set JACKPOTD_KEY, or be asked for it.",
    )
    @click.option("--key", "given", envvar="JACKPOTD_KEY", hidden=True)
    @wraps(command)
    def with_key(*args: Any, key_file: Path | None, given: str | None, **options: Any) -> Any:
        return command(*args, key=read_key(key_file, given), **options)

    return with_key


def read_key(key_file: Path | None, given: str | None) -> str:
    """Return the key from the file, as given, or asked for on the terminal. Raises NoKey."""
    if key_file is not None:
        try:
            given = key_file.read_text().strip()
        except OSError as error:
            raise NoKey(f"{key_file}: {error.strerror}") from error
    if not given and sys.stdin.isatty():
        given = click.prompt("Your key", hide_input=True, err=True, default="", show_default=False)
    if not given:
        raise NoKey("a key is needed: --key-file FILE, or JACKPOTD_KEY; jackpotd key add makes one")
    return str(given)
