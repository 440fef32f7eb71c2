"""The pages for people: the list of signs, each sign, and their style sheets and scripts."""

from __future__ import annotations

from hashlib import blake2b
from html import escape
from importlib.resources import files
from string import Template
from urllib.parse import quote

from twisted.web.resource import IResource
from twisted.web.server import Request

from jackpotd.web.answers import READ, Page, answer, tagged_answer
from signage.board import Board, Sign

HTML = "text/html; charset=utf-8"
TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}

_FOLDER = files("signage.page")


def _template(name: str) -> Template:
    return Template(_FOLDER.joinpath(name).read_text("utf-8"))


class Asset(Page):
    """One file of the pages, read once."""

    methods = READ

    def __init__(self, body: bytes, content_type: str) -> None:
        super().__init__()
        self._body = body
        self._type = content_type
        self._etag = f'"{blake2b(body, digest_size=12).hexdigest()}"'

    def render_GET(self, request: Request) -> bytes:
        """Answer with the file, or 304: always asked for, so that an upgrade shows at once."""
        return tagged_answer(request, self._body, self._type, self._etag)


class Assets(Page):
    """/assets: the style sheets, scripts and pictures of the package, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        for file in _FOLDER.iterdir():
            content_type = TYPES.get(file.name.rpartition(".")[2])
            if content_type is not None:
                self.putChild(file.name.encode("ascii"), Asset(file.read_bytes(), content_type))


class SignPage(Page):
    """/sign/NAME: one sign, full screen."""

    methods = READ

    def __init__(self, template: Template, board: Board, name: str, sign: Sign) -> None:
        super().__init__()
        text = template.substitute(
            name=escape(name),
            title=escape(sign.title),
            property=escape(board.property_title),
            query=escape(f"?sign={quote(name, safe='')}"),
        )
        self._body = text.encode("utf-8")

    def render_GET(self, request: Request) -> bytes:
        """Answer with the page; its script fetches the values."""
        return answer(request, self._body, HTML, cache="no-cache")


class Signs(Page):
    """/sign: the signs by name."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        template = _template("sign.html")
        for name, sign in board.signs.items():
            self.putChild(name.encode("utf-8"), SignPage(template, board, name, sign))

    def getChild(self, path: bytes, request: Request) -> IResource:
        """Return a page for people that says 404."""
        return NoSuchSign()


class NoSuchSign(Page):
    """A sign that the property doesn't have."""

    methods = READ

    def __init__(self) -> None:
        super().__init__()
        self._body = _template("missing.html").substitute().encode("utf-8")

    def render_GET(self, request: Request) -> bytes:
        """Answer 404, with the way to the list."""
        request.setResponseCode(404)
        return answer(request, self._body, HTML)


class Index(Page):
    """/: the signs of the property."""

    methods = READ

    def __init__(self, board: Board) -> None:
        super().__init__()
        self._board = board
        self._template = _template("index.html")

    def render_GET(self, request: Request) -> bytes:
        """Answer with a link to each sign and what it shows."""
        signs = "".join(self._item(name, sign) for name, sign in self._board.signs.items())
        text = self._template.substitute(
            property=escape(self._board.property_title),
            signs=signs or "<li>The configuration names no signs.</li>",
        )
        return answer(request, text.encode("utf-8"), HTML, cache="no-cache")

    def _item(self, name: str, sign: Sign) -> str:
        titles = ", ".join(self._board.title_of(progressive) for progressive in sign.progressives)
        return (
            f'<li><a href="/sign/{quote(name, safe="")}"><span class="name">{escape(sign.title)}'
            f'</span><span class="shows">{escape(titles)}</span></a></li>'
        )
