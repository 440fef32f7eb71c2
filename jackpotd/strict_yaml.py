"""YAML without its surprises: a small strict part of it, with every fault at its line.

What other readers take for a truth value, a number or a date, and what hides or repeats values
(anchors, merge keys, tags, duplicate keys), is a fault. Text that could be read as something
else is put in quotes. Money and rates are text, so no float is ever needed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TypeAlias

import yaml

from jackpotd.errors import Problem

MAX_BYTES = 1 << 20
MAX_DEPTH = 16
MAX_KEY = 100
LONGEST_AMOUNT = 40
"""Characters of an amount that may be put together again from {cap: $500,000}."""

LONGEST_PLACE = 300
"""Characters of a path of keys: every item carries its own."""


class Broken(Enum):
    """The value of what can't be read; its fault is noted already."""

    BROKEN = "broken"


Value: TypeAlias = "str | int | bool | dict[str, Item] | list[Item] | Broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One value of a file, and where it stands: `line` from 1, `key` the path of its keys."""

    file: str
    line: int
    key: str
    value: Value

    def problem(self, message: str, *below: str) -> Problem:
        """Say what is wrong with this value, or with a missing one `below` it."""
        key = ".".join(part for part in (self.key, *below) if part)
        return Problem(file=self.file, line=self.line, key=key, message=message)


def read(path: Path, problems: list[Problem]) -> Item:
    """Read a file. Whatever is wrong goes into `problems`, and the rest is read all the same."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unread(str(path), f"can't be read: {error.strerror}", problems)
    return parse(data, str(path), problems)


def parse(data: bytes, file: str, problems: list[Problem]) -> Item:
    """Read the bytes of `file`; as read()."""
    if len(data) > MAX_BYTES:
        return _unread(file, f"is larger than {MAX_BYTES:,} bytes", problems)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _unread(file, "this is not UTF-8: save the file as UTF-8", problems, line)
    strange = list(_strange_characters(text.replace("\r\n", "\n"), file))
    problems += strange
    if strange:
        return _unread(file, "", problems)
    try:
        return _document(yaml.SafeLoader(text), file, problems)
    except _TooDeep as error:
        message = f"nested more than {MAX_DEPTH} deep: the rest was not read"
        return _unread(file, message, problems, error.line)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        return _unread(file, f"no YAML: {said}", problems, mark.line + 1 if mark else 0)
    except yaml.YAMLError as error:
        return _unread(file, f"no YAML: {' '.join(str(error).split())}", problems)


def _document(loader: yaml.SafeLoader, file: str, problems: list[Problem]) -> Item:
    try:
        return _Tree(_events(loader), file, problems).document()
    except (ValueError, OverflowError):
        # PyYAML checks neither the value of an escape nor the length of a version.
        message = "no YAML: this escape or version is no number that YAML knows"
        return _unread(file, message, problems, loader.line + 1)
    finally:
        loader.dispose()


def _events(loader: yaml.SafeLoader) -> Iterator[yaml.Event]:
    while loader.check_event():
        yield loader.get_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs lack it


def _unread(file: str, why: str, problems: list[Problem], line: int = 0) -> Item:
    if why:
        problems.append(Problem(file=file, line=line, key="", message=why))
    return Item(file=file, line=line, key="", value=Broken.BROKEN)


_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def _is_strange(character: str) -> bool:
    # An escape can spell half a surrogate pair (Cs), which nothing could write down again.
    strange = {"Cc", "Cs", "Zl", "Zp"}
    return unicodedata.category(character) in strange or character in _DIRECTION_MARKS


def _below(place: str, name: str) -> str:
    """Return the path of a key below another, or its end where it is long."""
    path = f"{place}.{name}" if place else name
    return path if len(path) <= LONGEST_PLACE else f"...{path[-LONGEST_PLACE:]}"


def _strange_characters(text: str, file: str) -> Iterator[Problem]:
    for number, line in enumerate(text.split("\n"), start=1):
        for character in filter(_is_strange, line):
            message = f"the character U+{ord(character):04X} has no place here: take it out"
            if character == "\t":
                message = "a tab has no place here: use spaces"
            yield Problem(file=file, line=number, key="", message=message)
            break


_QUOTE = 'if it is text, put it in quotes: "{}"'
_NUMBERS = "an integer is written in plain decimal digits, like 10; "
_AMBIGUOUS = tuple(
    (re.compile(pattern, re.ASCII | re.IGNORECASE), why)
    for pattern, why in (
        (r"y|n|yes|no|on|off|true|false", "write true or false; " + _QUOTE),
        (r"[-+]?\d[\d_]*(:\d[\d_]*)+(\.[\d_]*)?", "some read this in base 60; " + _QUOTE),
        (r"[-+]?0[xob][\da-f_]*", _NUMBERS + _QUOTE),
        (r"[-+]?\d[\d_]*|[-+]0", _NUMBERS + _QUOTE),
        (
            r"[-+]?(\d[\d_]*\.[\d_]*|\.\d[\d_]*|\d[\d_]*(?=e))(e[-+]?\d+)?",
            "there are no floating-point numbers here: money is text like $10,000 and a rate "
            "like 21%; " + _QUOTE,
        ),
        (r"[-+]?\.?(inf|infinity|nan)", "there is no infinity and no NaN here; " + _QUOTE),
        (r"\d{4}-\d\d?-\d\d?([t \t].*)?", "some read this as a date; " + _QUOTE),
        (r"<<|=", "this has a meaning of its own in YAML; " + _QUOTE),
    )
)
_NOTHING = re.compile(r"~|null|", re.IGNORECASE)
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
_REST_OF_AN_AMOUNT = re.compile(r"\d{3}\b.*", re.ASCII)


def _plain(text: str) -> tuple[str | int | bool | Broken, str]:
    """Return the value of unquoted text, and what is wrong with it ("" if nothing)."""
    if text in ("true", "false"):
        return text == "true", ""
    if _INTEGER.fullmatch(text):
        return int(text), ""
    if _NOTHING.fullmatch(text):
        return Broken.BROKEN, "nothing is given: write a value, or leave the key out"
    for pattern, why in _AMBIGUOUS:
        if pattern.fullmatch(text):
            return Broken.BROKEN, f"{text} can be read in several ways: {why.format(text)}"
    return text, ""


def _line(event: yaml.Event) -> int:
    assert event.start_mark is not None, "an event parsed from text has its mark"
    return event.start_mark.line + 1


class _TooDeep(Exception):
    """Ends the reading: the parser takes ever longer for ever deeper nesting."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


class _Tree:
    """Builds items from the parser's events: only they tell anchors, quotes and documents."""

    def __init__(self, events: Iterator[yaml.Event], file: str, problems: list[Problem]) -> None:
        self._events = events
        self._file = file
        self._problems = problems

    def document(self) -> Item:
        """Return the one document of the file."""
        next(self._events)
        start = next(self._events)
        if not isinstance(start, yaml.DocumentStartEvent):
            return _unread(self._file, "the file is empty", self._problems)
        if start.version or start.tags:
            self._say(start, "", "a file has no % directives: leave them out")
        root = self._value(next(self._events), "", 1)
        next(self._events)
        after = next(self._events)
        if isinstance(after, yaml.DocumentStartEvent):
            self._say(after, "", "one file holds one document: leave this --- and the rest out")
        return root

    def _say(self, event: yaml.Event, key: str, message: str) -> None:
        problem = Problem(file=self._file, line=_line(event), key=key, message=message)
        self._problems.append(problem)

    def _item(self, event: yaml.Event, key: str, value: Value) -> Item:
        return Item(file=self._file, line=_line(event), key=key, value=value)

    def _value(self, event: yaml.Event, key: str, depth: int) -> Item:
        if isinstance(event, yaml.AliasEvent):
            self._say(event, key, f"*{event.anchor} repeats a value: write it out here")
            return self._item(event, key, Broken.BROKEN)
        self._check_marks(event, key)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, key)
        if depth > MAX_DEPTH:
            raise _TooDeep(_line(event))
        if isinstance(event, yaml.SequenceStartEvent):
            return self._item(event, key, self._sequence(key, depth))
        assert isinstance(event, yaml.MappingStartEvent)
        in_braces = bool(event.flow_style)
        return self._item(event, key, self._mapping(key, depth, in_braces=in_braces))

    def _check_marks(self, event: yaml.Event, key: str) -> None:
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor is not None:
            self._say(event, key, f"&{anchor} names a value: leave it out, nothing may repeat it")
        if tag is not None:
            self._say(event, key, f"{tag} is a tag: leave it out")

    def _skip(self) -> None:
        """Pass over the rest of a list or mapping that has begun."""
        inside = 1
        while inside:
            event = next(self._events)
            inside += isinstance(event, yaml.CollectionStartEvent)
            inside -= isinstance(event, yaml.CollectionEndEvent)
            if inside > MAX_DEPTH:
                raise _TooDeep(_line(event))

    def _scalar(self, event: yaml.ScalarEvent, key: str) -> Item:
        value, why = (event.value, "") if event.style else _plain(event.value)
        if isinstance(value, str) and any(map(_is_strange, value.replace("\n", ""))):
            why = "text has no tabs, no control characters and no halves of characters"
            value = Broken.BROKEN
        if why:
            self._say(event, key, why)
        return self._item(event, key, value)

    def _sequence(self, key: str, depth: int) -> list[Item]:
        found: list[Item] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, f"{key}[{len(found)}]", depth + 1))
        return found

    def _mapping(self, key: str, depth: int, *, in_braces: bool) -> dict[str, Item]:
        found: dict[str, Item] = {}
        name, last, ended = "", None, -1
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                self._skip()
            value = next(self._events)
            if in_braces and last is not None and _is_cut_off(last, event, value):
                # {cap: $500,000} says 500 and a key 000 in YAML, and can only mean one amount.
                whole = f"{last.value},{getattr(event, 'value', '')}"
                together = event.start_mark is not None and event.start_mark.index == ended + 1
                if not together or isinstance(last.value, int):
                    self._say(event, last.key, f'a comma ends text inside {{ }}: write "{whole}"')
                last = replace(last, value=whole if together else Broken.BROKEN)
                found[name], ended = last, _end(event)
                continue
            name = self._key(event, key)
            last = self._value(value, _below(key, name), depth + 1)
            ended = _end(value)
            if name in found:
                first = found[name].line
                self._say(event, last.key, f"given twice, first on line {first}: keep one")
            elif name:
                found[name] = last
        return found

    def _key(self, event: yaml.Event, key: str) -> str:
        """Return a key as text; "" for what is none."""
        if not isinstance(event, yaml.ScalarEvent):
            self._say(event, key, "a key is plain text")
            return ""
        self._check_marks(event, key)
        name = str(event.value)
        value, why = (name, "") if event.style else _plain(name)
        if not name:
            self._say(event, key, "a key is not empty")
        elif len(name) > MAX_KEY:
            self._say(event, key, f"a key of {len(name)} characters: at most {MAX_KEY}")
            return ""
        elif not isinstance(value, str):
            why = why or f"{name} is no text: {_QUOTE.format(name)}"
            self._say(event, _below(key, name), why)
        elif any(map(_is_strange, name)):
            self._say(event, key, "a key has no tabs, no line ends and no control characters")
            return ""
        return name


def _end(event: yaml.Event) -> int:
    return event.end_mark.index if event.end_mark is not None else -1


def _is_cut_off(before: Item, key: yaml.Event, value: yaml.Event) -> bool:
    """Tell whether a key is the rest of an amount: {cap: $500,000} gives a key 000 too."""
    return (
        isinstance(before.value, str | int)
        and len(str(before.value)) <= LONGEST_AMOUNT
        and isinstance(key, yaml.ScalarEvent)
        and isinstance(value, yaml.ScalarEvent)
        and not (key.style or value.style or value.value)
        and _REST_OF_AN_AMOUNT.fullmatch(key.value) is not None
    )
