"""The URIs of a PDF's link annotations, from the objects that pypdf reads; damage costs an object.

A value that is null, of another type, or a reference that leads nowhere or in a circle, is left
out, as ISO 32000-1 says of null (7.3.9, 7.3.10); what is beside it counts. An object is visited
once, so that work is linear however often a file refers to it. If the tree of pages has none, all
pages in the file count. Only the process that reads a PDF loads this module, as pypdf is an extra.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ByteStringObject, IndirectObject, NameObject, TextStringObject

from crawlrank.jobs.kernel.markup.charsets import UTF_16_MARKS

_MOST_STEPS = 10  # of references to references
_HEADER = re.compile(rb"\s{0,99}([0-9]{1,10})\s{1,99}([0-9]{1,5})\s{1,99}obj(?![a-z])")


class PdfAnnotations:
    """is_damaged: whether an object could not be read."""

    def __init__(self, reader: PdfReader, body: bytes) -> None:
        self._reader, self._body = reader, body
        self._visited = set[tuple[int, int]]()
        self._found: dict[tuple[int, int], int] | None = None
        self.is_damaged = False

    def base(self) -> bytes | None:
        """The base URI that the catalogue states (ISO 32000-1, 12.6.4.7)."""
        stated = self._entry(self._entry(self._catalogue(), "/URI"), "/Base")
        return None if isinstance(stated, NameObject) else _bytes_of(stated)

    def references(self) -> Iterator[bytes]:
        """The references as written, in the order of the pages."""
        pages = 0
        for page in self._tree():
            pages += 1
            yield from self._of_page(page)
        for page in self._all_pages() if not pages else ():
            yield from self._of_page(page)

    def _of_page(self, page: Any) -> Iterator[bytes]:
        for item in _items(self._new(dict.get(page, "/Annots"))):
            action = self._entry(self._new(item), "/A")
            reference = _bytes_of(self._entry(action, "/URI"))
            if reference:
                yield reference

    # objects

    def _catalogue(self) -> Any:
        catalogue = self._entry(self._reader.trailer, "/Root")
        if _is_dictionary(catalogue) and "/Pages" in catalogue:
            return catalogue
        try:
            return self._reader.root_object
        except Exception:  # noqa: BLE001 (pypdf raises many kinds)
            self.is_damaged = True
            return None

    def _tree(self) -> Iterator[Any]:
        """The pages in their order."""
        waiting = [dict.get(self._catalogue() or {}, "/Pages")]
        while waiting:
            node = self._new(waiting.pop())
            if not _is_dictionary(node):
                continue
            kids = self._new(dict.get(node, "/Kids"))
            if isinstance(kids, list):
                waiting.extend(reversed(kids))
            if dict.get(node, "/Type") == "/Page" or "/Annots" in node:
                yield node

    def _all_pages(self) -> Iterator[Any]:
        """The pages in the file, in the order of their numbers."""
        packed = {(number, 0) for number in self._reader.xref_objStm}
        for number, generation in sorted(packed | self._places.keys()):
            node = self._new(IndirectObject(number, generation, self._reader))
            if _is_dictionary(node) and dict.get(node, "/Type") == "/Page":
                yield node

    def _entry(self, holder: Any, name: str) -> Any:
        return self._object(dict.get(holder, name)) if _is_dictionary(holder) else None

    def _new(self, item: Any) -> Any:
        """The object, None if it was visited before."""
        if isinstance(item, IndirectObject):
            key = item.idnum, item.generation
            if key in self._visited:
                return None
            self._visited.add(key)
        return self._object(item)

    def _object(self, item: Any) -> Any:
        """What a reference leads to; None for what is not there or cannot be read."""
        for _ in range(_MOST_STEPS):
            if not isinstance(item, IndirectObject):
                return item
            if not self._is_there(item):
                return None
            item = self._read(item)
        return None

    def _read(self, item: IndirectObject) -> Any:
        for _ in range(2):  # pypdf keeps a reference to a reference, and fails once
            with suppress(Exception):  # of many kinds
                return self._reader.get_object(item)
        self.is_damaged = True
        return None

    def _is_there(self, item: IndirectObject) -> bool:
        """Whether an object has a place in the file. Where no table lists it, or the place is
        another's, pypdf would look through the whole file, for each such object anew."""
        number, generation, reader = item.idnum, item.generation, self._reader
        if not generation and number in reader.xref_objStm:
            return True
        listed = reader.xref.setdefault(generation, {})
        begin = listed.get(number)
        if begin is not None and self._begins(begin) == (number, generation):
            return True
        places = self._places
        if (number, generation) in places:
            listed[number] = places[number, generation]
        return (number, generation) in places

    @property
    def _places(self) -> dict[tuple[int, int], int]:
        """Where each object begins in the file, by number and generation; the first counts."""
        if self._found is None:
            self._found = {}
            for match in _HEADER.finditer(self._body):
                self._found.setdefault((int(match[1]), int(match[2])), match.start(1))
        return self._found

    def _begins(self, position: int) -> tuple[int, int] | None:
        """The number and generation of the object that begins here."""
        match = _HEADER.match(self._body, position) if position >= 0 else None
        return (int(match[1]), int(match[2])) if match else None


def _is_dictionary(item: Any) -> bool:
    return isinstance(item, dict)


def _items(item: Any) -> list[Any]:
    return item if isinstance(item, list) else []


def _bytes_of(uri: Any) -> bytes | None:
    """The bytes in the PDF, those of UTF-16 as UTF-8; None for what is no text. pypdf decodes all
    others from PDFDocEncoding, which is much like Latin-1. A name stands for text without its
    parentheses, as browsers' viewers have it."""
    if not isinstance(uri, (TextStringObject, ByteStringObject, NameObject)):
        return None
    raw: bytes | None = getattr(uri, "original_bytes", None)
    if raw is None or raw.startswith(UTF_16_MARKS):
        return str(uri).encode("utf-8", "replace")
    return raw.removeprefix(codecs.BOM_UTF8)
