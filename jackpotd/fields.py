"""What a file's values are to be: each is read as its kind, or its fault is noted at its line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from jackpotd.errors import Problem
from jackpotd.strict_yaml import Broken, Item
from meters.money import MetersError

Parsed = TypeVar("Parsed")

MAX_NAME = 64
MAX_TEXT = 500
MOST_HINTS = 1_000
"""Known words among which one that may be meant is looked for: each costs a comparison."""

MAX_FILE_NAME = 255
"""Bytes; no file system of Linux takes more."""

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{MAX_NAME - 1}}}", re.ASCII)
NAMES_ARE = (
    f"names have letters, digits, - and _ (at most {MAX_NAME}), and begin with a letter or a digit"
)


def is_name(text: str) -> bool:
    """Tell whether a text can name a table, progressive, level, sign or principal.

    Names become parts of the ledger's account names (rules 11).
    """
    return _NAME.fullmatch(text) is not None


def account_part(name: str) -> str:
    """Return what names have in common that the ledger might not tell apart."""
    return name.lower().replace("_", "-")


def close_to(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean X?)" for the known word that is closest, or nothing."""
    by_small_letters = {each.lower(): each for each in known}
    if len(by_small_letters) > MOST_HINTS:
        return ""
    close = difflib.get_close_matches(word.lower(), by_small_letters, n=1)
    return f" (did you mean {by_small_letters[close[0]]}?)" if close else ""


class Fields:
    """Reads items as kinds of values; whatever is wrong goes into `problems`."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems

    def say(self, item: Item, message: str, *below: str) -> None:
        """Note what is wrong with an item, or with what is missing `below` it."""
        self.problems.append(item.problem(message, *below))

    def entries(self, item: Item | None, what: str = "keys and values") -> dict[str, Item]:
        """Return a mapping's items; nothing where the item is none."""
        if item is None or item.value is Broken.BROKEN:
            return {}
        if not isinstance(item.value, dict):
            self.say(item, f"{what} are wanted here")
            return {}
        return item.value

    def keys(
        self, item: Item | None, known: Iterable[str], required: Iterable[str] = ()
    ) -> dict[str, Item]:
        """Return a mapping's items, all of `known` keys, and with every `required` one."""
        known = tuple(known)
        entries = self.entries(item)
        for name, each in entries.items():
            if name not in known:
                hint = close_to(name, known) or f"; known are {', '.join(known)}"
                self.say(each, f"there is no such key{hint}")
        if item is not None and isinstance(item.value, dict):
            for name in required:
                if name not in entries:
                    self.say(item, "this is missing", name)
        return {name: each for name, each in entries.items() if name in known}

    def keys_of(self, item: Item | None) -> tuple[str, ...]:
        """Return a mapping's keys, without noting anything."""
        return tuple(item.value) if item is not None and isinstance(item.value, dict) else ()

    def named(self, item: Item | None, what: str) -> dict[str, Item]:
        """Return a mapping's items by names that can be account parts, none like another."""
        found: dict[str, Item] = {}
        parts: dict[str, str] = {}
        for name, each in self.entries(item, f"{what} by their names").items():
            if not is_name(name):
                self.say(each, NAMES_ARE)
                continue
            other = parts.setdefault(account_part(name), name)
            if other != name:
                self.say(each, f"the ledger can't tell {name} from {other}: choose another name")
            found[name] = each
        return found

    def listed(self, item: Item | None) -> list[Item]:
        """Return the items of a list."""
        if item is None or item.value is Broken.BROKEN:
            return []
        if not isinstance(item.value, list):
            self.say(item, "a list is wanted here: [one, another]")
            return []
        return item.value

    def words(self, item: Item | None) -> tuple[str, ...]:
        """Return a list of texts, none of them twice."""
        found: dict[str, None] = {}
        for each in self.listed(item):
            word = self.text(each)
            if word is not None and word in found:
                self.say(each, f"{word} is given twice: keep one")
            elif word is not None:
                found[word] = None
        return tuple(found)

    def text(self, item: Item | None, like: str = "", most: int = MAX_TEXT) -> str | None:
        """Return a text of one line, its spaces evened out, at most `most` characters."""
        if item is None or item.value is Broken.BROKEN:
            return None
        hint = f", like {like}" if like else ""
        if isinstance(item.value, bool | int):
            shown = str(item.value).lower()
            self.say(item, f"{shown} is no text: text is wanted here{hint or ', in quotes'}")
            return None
        if not isinstance(item.value, str):
            self.say(item, f"one text is wanted here{hint}")
            return None
        text = " ".join(item.value.split())
        if not text:
            self.say(item, f"the text is empty{hint and '; write it' + hint[1:]}")
            return None
        if len(text) > most:
            self.say(item, f"{len(text)} characters: at most {most}")
            return None
        return text

    def file(self, item: Item | None, like: str = "") -> str | None:
        """Return the name of a file, with or without folders; not whether it is there."""
        text = self.text(item, like)
        if item is None or text is None:
            return None
        if any(len(part.encode()) > MAX_FILE_NAME for part in text.split("/")):
            self.say(item, f"no file has a name of more than {MAX_FILE_NAME} bytes")
            return None
        return text

    def integer(self, item: Item | None, least: int, most: int) -> int | None:
        """Return an integer from `least` to `most`."""
        if item is None or item.value is Broken.BROKEN:
            return None
        value = item.value
        if isinstance(value, bool) or not isinstance(value, int):
            self.say(item, f"an integer is wanted here, without quotes: {least} to {most}")
            return None
        if not least <= value <= most:
            self.say(item, f"{value} is not between {least} and {most}")
            return None
        return value

    def flag(self, item: Item | None, default: bool) -> bool:
        """Return true or false; `default` where nothing is given."""
        if item is None or item.value is Broken.BROKEN:
            return default
        if not isinstance(item.value, bool):
            self.say(item, "write true or false, without quotes")
            return default
        return item.value

    def choice(self, item: Item | None, known: Iterable[str]) -> str | None:
        """Return one of the `known` words."""
        known = tuple(known)
        word = self.text(item)
        if item is None or word is None or word in known:
            return word
        self.say(item, f"{word} is none of {', '.join(known)}{close_to(word, known)}")
        return None

    def parsed(self, item: Item | None, parse: Callable[[str], Parsed], like: str) -> Parsed | None:
        """Return what `parse` makes of a text; what it raises, of meters, is noted."""
        text = self.text(item, like)
        if item is None or text is None:
            return None
        try:
            return parse(text)
        except MetersError as error:
            self.say(item, str(error))
            return None
