"""The beginning of a property: the sample configuration in a folder of its own, with fresh keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from jackpotd import config
from jackpotd.errors import JackpotdError
from jackpotd.principals import Principals, Role

CONFIG_NAME = "riverside.yaml"
CONCENTRATOR = "pit"
FLOORPERSON = "floor-1"


class CannotBegin(JackpotdError):
    """A folder that can't take a new property; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What was written, and the keys by their principals' names: to be shown once."""

    config: Path
    principals: Path
    keys: Mapping[str, str]


def write_property(
    folder: Path,
    *,
    tables_listen: str = config.TABLES_LISTEN,
    http_listen: str = config.HTTP_LISTEN,
) -> Started:
    """Write the sample property into `folder`, which is made if it isn't there.

    Its keys are `pit`, a concentrator that speaks for every table, and `floor-1`. Raises
    CannotBegin if the folder has a property already, or can't be written.
    """
    path = folder / CONFIG_NAME
    principals_path = folder / config.PRINCIPALS
    text = (files("configs") / CONFIG_NAME).read_text("utf-8")
    text = _with_line(text, f"tables_listen: {tables_listen}")
    text = _with_line(text, f"http_listen: {http_listen}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for taken in (path, principals_path):
            if taken.exists():
                raise CannotBegin(f"{taken} is there already: choose an empty folder")
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        tables = config.load(path).tables
        principals = Principals.load(principals_path, tables, missing_ok=True)
        keys = {
            CONCENTRATOR: principals.add(CONCENTRATOR, role=Role.TABLE, tables=tables),
            FLOORPERSON: principals.add(FLOORPERSON, role=Role.FLOOR),
        }
    except OSError as error:
        raise CannotBegin(f"{folder} can't be written: {error.strerror}") from error
    return Started(config=path, principals=principals_path, keys=keys)


def _with_line(text: str, line: str) -> str:
    """Put a line in the place of the one that sets the same key."""
    key = line.partition(":")[0]
    return re.sub(rf"(?m)^{key}:.*$", lambda _: line, text)
