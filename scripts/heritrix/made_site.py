"""A made site on three hosts, from a seed, and the links that it really has.

Every link is written in one of the spellings that a page may use, and noted with the URI that it
leads to, which is known before the spelling is chosen. Traps are written too: what looks like a
link and is none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from posixpath import relpath
from typing import NamedTuple
from urllib.parse import urlsplit


class Link(NamedTuple):
    """A true link. hop: Heritrix's letter. how: the way in which it is written."""

    source: str
    target: str
    hop: str
    how: str


@dataclass(frozen=True)
class Answer:
    """What a server says to a request."""

    status: int
    body: bytes
    kind: str = "text/html; charset=utf-8"
    location: str = ""


@dataclass
class Site:
    """hosts: `http://127.0.0.1:PORT`, no slash. answers: by URI as Heritrix asks for it; anything
    else is not found. links: true ones, of all pages. traps: URIs to which no link leads."""

    hosts: Sequence[str]
    answers: dict[str, Answer] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    traps: set[str] = field(default_factory=set)

    def text(self, uri: str, text: str, kind: str) -> None:
        self.answers[uri] = Answer(200, text.encode(), kind)

    def redirect(self, source: str, target: str, status: int, location: str = "") -> None:
        """location: what the header says; None gives the target itself."""
        self.answers[source] = Answer(status, b"moved", location=location or target)
        self.links.append(Link(source, target, "R", "Location"))

    def write(self, folder: Path) -> None:
        """links.tsv: true links. traps.txt: what looks like the target of one."""
        rows = ["\t".join(Link._fields), *("\t".join(link) for link in self.links)]
        (folder / "links.tsv").write_text("\n".join(rows) + "\n")
        (folder / "traps.txt").write_text("".join(f"{uri}\n" for uri in sorted(self.traps)))


class Document:
    """An HTML page under way; its links go to the site's as they are written."""

    def __init__(self, site: Site, uri: str, head: str = "") -> None:
        self.site, self.uri, self.head, self.parts = site, uri, head, [f"<h1>{escape(uri)}</h1>"]

    def link(
        self, target: str, written: str = "", how: str = "as it is", attributes: str = ""
    ) -> None:
        href = escape(written or target)
        self.parts.append(f'<a {attributes} href="{href}">{len(self.parts)}</a>')
        self.note(target, "L", how)

    def embed(self, target: str, markup: str) -> None:
        self.parts.append(markup.format(escape(target)))
        self.note(target, "E", markup.split()[0].strip("<"))

    def trap(self, target: str, markup: str) -> None:
        self.parts.append(markup.format(escape(target)))
        self.site.traps.add(target)

    def note(self, target: str, hop: str, how: str) -> None:
        self.site.links.append(Link(self.uri, target, hop, how))

    def done(self, status: int = 200) -> None:
        title = f"<title>{escape(self.uri)}</title>"
        body = "\n".join(self.parts)
        html = f"<!DOCTYPE html><html><head>{title}{self.head}</head><body>{body}</body></html>"
        self.site.answers[self.uri] = Answer(status, html.encode())


# ---- spellings of a reference: from a page to a target, that it still leads to --------------


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _inside(source: str, target: str) -> bool:
    return urlsplit(source).netloc == urlsplit(target).netloc


def _relative(source: str, target: str) -> str:
    folder = _path(source).rpartition("/")[0] or "/"
    return relpath(_path(target), folder) if _inside(source, target) else target


def _rooted(source: str, target: str) -> str:
    return _path(target) if _inside(source, target) else target


def _schemeless(source: str, target: str) -> str:
    return target.removeprefix("http:")


def _with_dots(source: str, target: str) -> str:
    return (
        _rooted(source, target).replace("/", "/gone/.././", 1)
        if _inside(source, target)
        else target
    )


def _above_root(source: str, target: str) -> str:
    return "/.." + _path(target) if _inside(source, target) else target


def _capitals(source: str, target: str) -> str:
    return target.replace("http:", "HTTP:")


def _fragment(source: str, target: str) -> str:
    return _rooted(source, target) + "#part"


def _broken(source: str, target: str) -> str:
    """Tab and line break inside, as an editor leaves them; readers drop them."""
    written = _rooted(source, target)
    return f"{written[:3]}\n\t{written[3:]}"


def _blanks(source: str, target: str) -> str:
    return f" \n {_relative(source, target)}\t "


SPELLINGS: tuple[Callable[[str, str], str], ...] = (
    _relative,
    _rooted,
    _schemeless,
    _with_dots,
    _above_root,
    _capitals,
    _fragment,
    _broken,
    _blanks,
)


def spelled(document: Document, target: str, rng: random.Random) -> None:
    """A link to the target in some spelling."""
    how = rng.choice((None, None, *SPELLINGS))
    if how is None:
        document.link(target)
    else:
        document.link(target, how(document.uri, target), how.__name__.strip("_"))
