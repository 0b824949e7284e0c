"""The markup of a page, looked at once more where Heritrix and crawlrank differ."""

from __future__ import annotations

import re
from functools import cached_property
from urllib.parse import unquote

from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.links.html_documents import Document
from crawlrank.jobs.kernel.links.html_selection import HtmlOptions
from crawlrank.jobs.kernel.markup.html_pieces import LONGEST_PAGE
from crawlrank.jobs.kernel.markup.page_text import PageText

_AUTHORITY = re.compile(r"\s*(?:[a-z]+:)?[/\\]{2,}([^/\\?#]*)", re.IGNORECASE).match


class Markup:
    """is_cut: whether the page has more references than are read."""

    def __init__(self, page: Record, *, is_cut: bool) -> None:
        self.body, self.is_cut, self._media_type = page.body, is_cut, page.media_type

    @cached_property
    def _document(self) -> Document:
        page = PageText(self.body[:LONGEST_PAGE], self._media_type)
        return Document(page, HtmlOptions(forms=True))

    @property
    def is_nofollow(self) -> bool:
        """Whether its robots meta asks not to follow its links."""
        return self._document.nofollow

    @cached_property
    def _written(self) -> frozenset[str]:
        """The last names of its references, and the hosts of those without a path."""
        return frozenset(map(last_name, self._document.written()))

    def has_reference(self, uri: str) -> bool:
        """Whether a reference of the page has the last name of this URI, or its host where it has
        no path: as Heritrix reads some references otherwise."""
        return last_name(uri) in self._written


def last_name(reference: str) -> str:
    """Of the path, with the query; without a path, the host."""
    text = unquote(reference.partition("#")[0], errors="replace").strip().lower()
    path, mark, query = text.partition("?")
    match = _AUTHORITY(path)
    rest = path[match.end() :] if match else path
    name = rest.rstrip("/").rpartition("/")[2].strip()
    return name + mark + query if name or mark else (match[1] if match else "")
