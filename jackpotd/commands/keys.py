"""Who a command is: a key from a file, the environment or a prompt, or a certificate.

A key is never an argument: those can be read by every user of the host.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click

from jackpotd.errors import JackpotdError


class NoKey(JackpotdError):
    """No key was given; the message says how to give one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What says who asks: a key, a PEM file with a certificate and its private key, or both."""

    key: str | None
    certificate: Path | None


def identity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --key-file, JACKPOTD_KEY and --cert to a command, which gets them as `who`."""

    @click.option(
        "--key-file",
        type=click.Path(path_type=Path),
        help="A file that holds your key; or set JACKPOTD_KEY, or be asked for it.",
    )
    @click.option("--key", "given", envvar="JACKPOTD_KEY", hidden=True)
    @click.option(
        "--cert",
        "certificate",
        type=click.Path(path_type=Path),
        help="A PEM file with your certificate and its private key; then no key is needed.",
    )
    @wraps(command)
    def with_identity(
        *args: Any, key_file: Path | None, given: str | None, certificate: Path | None, **more: Any
    ) -> Any:
        wanted = certificate is None or key_file is not None or bool(given)
        key = read_key(key_file, given) if wanted else None
        return command(*args, who=Identity(key=key, certificate=certificate), **more)

    return with_identity


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
