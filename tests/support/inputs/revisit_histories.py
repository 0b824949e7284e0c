"""Histories of pages: which records an archive has of them, and which links the latest ones have.

Each capture has a link of its own, so that the links of a page tell which of its captures count.
`right_links` says this from the definitions in docs/several-crawls.md, and shares no code with
what it judges: it goes through the captures of a page in the order of their times, as a crawler
does, and remembers what it has stored.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Sequence
from typing import NamedTuple

NOTHING = "sha1:" + hashlib.sha1(b"").hexdigest()
MAY_CONFIRM = (304, None)  # statuses of revisits that may be of a redirect
SPELLINGS = ("http://{}.example/", "https://{}.example/", "http://www.{}.example/")


class Visit(NamedTuple):
    """A capture. number: of its link and its record. page: its key; spelling: which of its URIs.
    day: None without a date. status: None without an HTTP block. of: the visit whose fields a
    revisit has as far as `names` lists them: id, uri, date. archive: where its record is. chunked:
    whether its body is as it was sent; then the digest stands for one of the chunks, too."""

    number: int
    page: str
    day: int | None
    status: int | None = 200
    kind: str = "response"
    digest: str = ""
    of: Visit | None = None  # type: ignore[misc]  # mypy knows no recursive NamedTuple
    names: frozenset[str] = frozenset()
    spelling: int = 0
    archive: int = 0
    chunked: bool = False

    @property
    def uri(self) -> str:
        return SPELLINGS[self.spelling].format(self.page)

    @property
    def id(self) -> str:
        return f"<urn:uuid:{self.number}>"

    @property
    def time(self) -> int:
        return -1 if self.day is None else self.day

    def named(self, field: str) -> str | int | None:
        """What a revisit has of the visit that it is of."""
        if self.of is None or field not in self.names:
            return None
        return {"id": self.of.id, "uri": self.of.uri, "date": self.of.day}[field]


def record(visit: Visit) -> bytes:
    """The record of a visit; after a revisit also its outlinks, as Heritrix writes them."""
    fields = [("WARC-Type", visit.kind), ("WARC-Payload-Digest", visit.digest)]
    names = {"id": "WARC-Refers-To", "uri": "WARC-Refers-To-Target-URI"}
    fields += [(name, str(visit.named(field) or "")) for field, name in names.items()]
    if visit.named("date") is not None:
        fields.append(("WARC-Refers-To-Date", _date(visit.named("date"))))
    more = {200: f"\r\n{payload(visit)}", 301: f"Location: /c{visit.number}\r\n\r\n"}
    block = ""
    if visit.status is not None:
        of_status = "\r\n" if visit.kind == "revisit" else more.get(visit.status, "\r\n")
        if visit.chunked and (visit.kind, visit.status) == ("response", 200):
            chunk = payload(visit)
            of_status = "Transfer-Encoding: chunked\r\n"
            of_status += f"\r\n{len(chunk):x}\r\n{chunk}\r\n0\r\n\r\n"
        block = f"HTTP/1.1 {visit.status} Words\r\nContent-Type: text/html\r\n{of_status}"
        fields.append(("Content-Type", "application/http; msgtype=response"))
    records = _written(visit, visit.id, fields, block)
    if visit.kind == "revisit":
        block = f"outlink: {visit.uri}c{visit.number} L a/@href\r\n"
        fields = [
            ("WARC-Type", "metadata"), ("Content-Type", "application/warc-fields"),
            ("WARC-Concurrent-To", visit.id),
        ]  # fmt: skip
        records += _written(visit, f"<urn:uuid:m{visit.number}>", fields, block)
    return records


def payload(visit: Visit) -> str:
    """The payload of a visit of status 200."""
    return f"<a href=/c{visit.number}>"


def _date(day: str | int | None) -> str:
    return "none" if day is None else f"2024-05-{day:02}T00:00:00Z"


def _written(visit: Visit, id: str, fields: list[tuple[str, str]], block: str) -> bytes:
    fields = [
        *fields, ("WARC-Record-ID", id), ("WARC-Target-URI", visit.uri),
        ("WARC-Date", _date(visit.day)), ("Content-Length", str(len(block))),
    ]  # fmt: skip
    head = "".join(f"{name}: {value}\r\n" for name, value in fields if value)
    return f"WARC/1.1\r\n{head}\r\n{block}\r\n\r\n".encode()


def right_links(page: str, visits: Sequence[Visit]) -> set[int]:
    """The numbers of the visits whose links a page has with the latest captures alone."""
    of_page = [visit for visit in visits if visit.page == page]
    last = max(visit.time for visit in of_page)
    if all(visit.status == 404 for visit in of_page if visit.time == last):
        return set()
    good = [visit for visit in of_page if visit.status in (200, 304, None)]
    redirects = [visit for visit in of_page if visit.status == 301]
    if redirects and all(_confirms(visit) and visit.status in MAY_CONFIRM for visit in good):
        last = max(visit.time for visit in redirects)
        return {visit.number for visit in redirects if visit.time == last}
    stored: dict[str, Visit] = {}  # by URI; '' for that of the page
    for visit in sorted(good, key=_order):
        if not _confirms(visit):
            stored[visit.uri] = stored[""] = visit
    last = max((visit.time for visit in good), default=0)
    links = set[int]()
    for visit in good:
        if visit.time == last:
            links |= _links(visit, stored, visits)
    return links


def _links(visit: Visit, stored: dict[str, Visit], visits: Sequence[Visit]) -> set[int]:
    if _is_whole(visit):
        return {visit.number}
    originals = _same(visit, visits) or _named(visit, visits)
    own = [] if visit.status == 304 else [visit]  # outlinks are read of captures of 2xx alone
    if not originals and _confirms(visit) and stored:
        before = stored.get(visit.uri, stored[""])
        if _is_whole(before):
            return {before.number}
        originals = sorted(_same(before, visits), key=lambda one: one.uri)
        originals = [one for one in originals if one.uri == originals[-1].uri]
        originals = originals or _named(before, visits)
        own.append(before)
    return {one.number for one in originals or own}


def _is_whole(visit: Visit) -> bool:
    """Whether it has a body."""
    return visit.kind == "response" and visit.status == 200


def _confirms(visit: Visit) -> bool:
    """Whether it says nothing but that the page is as it was."""
    return visit.status == 304 or (visit.kind == "revisit" and not visit.digest)


def _order(visit: Visit) -> tuple[object, ...]:
    """By time; where that is the same, by what makes one the last whatever the archives' order."""
    date = visit.named("date")
    return (
        visit.time, _is_whole(visit), visit.uri, visit.digest or "-", visit.named("id") or "-",
        visit.named("uri") or "-", -1 if date is None else date,
    )  # fmt: skip


def _same(visit: Visit, visits: Sequence[Visit]) -> list[Visit]:
    """The latest with the same digest."""
    if not visit.digest or (visit.status == 304 and visit.kind == "response"):
        return []
    if visit.status == 304 and visit.digest == NOTHING:
        return []
    same = [
        one for one in visits
        if _is_whole(one) and one.page == visit.page and visit.digest in _digests(one)
    ]  # fmt: skip
    last = max((one.time for one in same), default=0)
    return [one for one in same if one.time == last]


def _digests(visit: Visit) -> list[str]:
    """The digests that a revisit may know it by."""
    of_payload = b32encode(hashlib.sha1(payload(visit).encode()).digest()).decode()
    return [visit.digest, *([f"sha1:{of_payload}"] if visit.chunked else [])]


def _named(visit: Visit, visits: Sequence[Visit]) -> list[Visit]:
    whole = [one for one in visits if _is_whole(one)]
    by_id = [one for one in whole if one.id == visit.named("id")]
    if by_id or visit.named("date") is None or visit.of is None:
        return by_id
    page = visit.of.page if "uri" in visit.names else visit.page
    return [one for one in whole if (one.page, one.day) == (page, visit.named("date"))]
