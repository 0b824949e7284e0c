"""Which links count of a page that was captured several times, and which page folds into another.

The choice sees one key at a time: its captures, and its links of hops R and C.

A capture is good if its status is 2xx (no status counts as 200) or 304. `latest` takes the links of
the key's latest good captures (all of that time), or, if there is none, of its latest redirects to
other keys, or at last to itself: of two spellings of a page, one often redirects to the other. A
revisit, or a 304, among them stands for its original, a good capture that is neither: the latest of
its key with its digest, else the one that it names by id, or by URI (its own, if it names none) and
time.

A 304, or a revisit without digest, says that what the crawler had stored is still there (RFC 9110,
15.4.5). If it names no original that is here, it stands for the capture before it that says what
the page has: the latest of the same URI, else the latest of the key. If that is a revisit, then for
the original of that one. A revisit with a digest never does, as a capture with another digest has
another content. A key of which there are only redirects and 304s redirects: that is what was
stored.

A redirect (status 3xx with a Location) folds its key into the target's if the key has no good
capture; with `latest`, also if the redirect is later than those. Then the redirect's links are the
only ones of the key. A canonical address folds its page's key likewise. Redirects to the key itself
count for nothing. If there are several targets at the same time, none is taken. Timestamps compare
as bytes, so the unknown one, `-`, comes first.

A key is gone with `latest` if all its latest captures have status 404 or 410: it folds into
nothing, no link of it counts and none to it. So do redirects in a circle, and what leads into one,
unless canonical addresses fold too: a page in such a circle has a content of its own.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, digests_in

REDIRECT, CANONICAL, VANISHED, CIRCLE = b"redirect", b"canonical", b"gone", b"loop"
CHARSET, WHOLE = b"charset", b"whole"  # a query in another charset; a page that folds into none
NOWHERE, UNLISTED = b"-", b"."  # targets of what is gone: listed as a page without score, or not
NOTHING_LEFT = (NOWHERE, UNLISTED)
MISSING = (b"404", b"410")
NOT_MODIFIED = b"304"
#: digests of a 304's own payload, which is empty: they say nothing about the page
DIGESTS_OF_NOTHING = frozenset(
    b"%s:%s" % (name.encode(), digest)
    for name in ("md5", "sha1", "sha256", "sha512")
    for empty in [hashlib.new(name, usedforsecurity=False)]
    for digest in (empty.hexdigest().encode(), b32encode(empty.digest()))
)
Gone = Literal["last", "drop", "keep"]
CaptureName = tuple[bytes, bytes]  # URI and timestamp
FoldTarget = tuple[bytes, bytes]  # kind of fold, and the key that it leads to


class Named(NamedTuple):
    """A link of hop R or C: the capture that has it, and its target's key."""

    hop: bytes
    uri: bytes
    timestamp: bytes
    target_key: bytes

    @property
    def capture(self) -> CaptureName:
        return self.uri, self.timestamp


class CaptureRules(NamedTuple):
    """latest: take the links of the latest captures alone. redirects, canonical: what folds. gone:
    what becomes of pages that are gone: the last class, no line, or as if they were not."""

    latest: bool = False
    redirects: bool = False
    canonical: bool = False
    gone: Gone = "last"

    @property
    def selects(self) -> bool:
        """Whether there is anything to select."""
        return self.latest or self.redirects or self.canonical

    @property
    def nowhere(self) -> bytes | None:
        """The target of keys that are gone, if any is."""
        return None if self.gone == "keep" else NOWHERE if self.gone == "last" else UNLISTED

    @property
    def circle_target(self) -> bytes | None:
        """The target of keys that redirect in a circle, if they are gone."""
        return self.nowhere if self.redirects and not self.canonical else None

    def parameters(self) -> dict[str, str]:
        """The rules that results depend on, by option name."""
        folds = ("redirects" * self.redirects, "canonical" * self.canonical)
        return {
            "--captures": "latest" if self.latest else "union",
            "--fold": " ".join(filter(None, folds)) or "none",
            **({"--gone": self.gone} if self.selects else {}),
        }


class Search(NamedTuple):
    """A search for the original of a revisit, among all keys. revisits: it and, if it says only
    that nothing has changed, the revisit before it; what they name is looked for in this order.
    instead: the captures whose links count if it is not there; is_original: whether they are
    originals."""

    revisits: list[Capture]
    instead: list[CaptureName]
    is_original: bool


class Chosen(NamedTuple):
    """captures: whose links the key has. searches: for the originals of revisits among its latest
    captures. revisits: how many others there are, whose originals are known. folds: kinds and
    target keys."""

    captures: list[CaptureName]
    searches: list[Search]
    revisits: int
    folds: list[FoldTarget]


def is_good(capture: Capture) -> bool:
    """Whether its links count. Those of a capture that an index tells of are not known."""
    return capture.kind != b"index" and (
        capture.status in (UNKNOWN, NOT_MODIFIED)
        or (len(capture.status) == 3 and capture.status[:1] == b"2")
    )


def is_revisit(capture: Capture) -> bool:
    """Whether it stands for another capture."""
    return capture.kind == b"revisit" or capture.status == NOT_MODIFIED


def is_confirmation(capture: Capture) -> bool:
    """Whether it says only that nothing has changed, and not what the page has."""
    return capture.status == NOT_MODIFIED or (
        capture.kind == b"revisit" and capture.digest == UNKNOWN
    )


def is_redirect(capture: Capture) -> bool:
    is_3xx = len(capture.status) == 3 and capture.status[:1] == b"3"
    return is_3xx and capture.status != NOT_MODIFIED


def is_vanished(captures: Sequence[Capture]) -> bool:
    """Whether the latest captures of a key, which has some, say that it is not there any more."""
    last = max(capture.timestamp for capture in captures)
    return all(row.status in MISSING for row in captures if row.timestamp == last)


def is_original(capture: Capture) -> bool:
    return is_good(capture) and not is_revisit(capture)


def choose(
    key: bytes, captures: Sequence[Capture], named: Sequence[Named], rules: CaptureRules
) -> Chosen:
    """What becomes of a key. With `latest` the caller looks for the canonical addresses of its
    captures, as originals elsewhere have theirs, too."""
    if rules.latest and rules.nowhere and captures and is_vanished(captures):
        return Chosen([], [], 0, [(VANISHED, rules.nowhere)])
    good = [capture for capture in captures if is_good(capture)]
    redirects = {(row.uri, row.timestamp) for row in captures if is_redirect(row)}
    leading = [link for link in named if link.hop == b"R" and link.capture in redirects]
    if leading and all(_may_confirm_redirect(capture) for capture in good):
        good = []
    away = _latest([link for link in leading if link.target_key != key])
    last_good = max((capture.timestamp for capture in good), default=b"")
    folds = list[FoldTarget]()
    if rules.redirects and (not good or (rules.latest and away and away[0].timestamp > last_good)):
        folds = _folds(REDIRECT, away)
    if len(folds) == 1:
        return Chosen([link.capture for link in away], [], 0, folds)
    if rules.canonical and not rules.latest:
        folds += _folds(CANONICAL, _latest([link for link in named if link.hop == b"C"]))
    if not good:
        return Chosen([link.capture for link in away or _latest(leading)], [], 0, folds)
    return _of_good(good, last_good, folds)


def _may_confirm_redirect(capture: Capture) -> bool:
    return is_confirmation(capture) and capture.status in (UNKNOWN, NOT_MODIFIED)


def _of_good(good: Sequence[Capture], last_good: bytes, folds: list[FoldTarget]) -> Chosen:
    """The good captures of that time, with the originals of revisits in place of these."""
    latest = [capture for capture in good if capture.timestamp == last_good]
    names = {(row.uri, row.timestamp) for row in latest if not is_revisit(row)}
    searches, revisits, digests = list[Search](), 0, set[bytes]()
    unresolved = [capture for capture in latest if is_revisit(capture)]
    key_has = _Contents(good if unresolved else ())
    for revisit in unresolved:
        digest = digest_of(revisit)
        if digest in key_has.digests:
            digests.add(digest)
        elif (search := key_has.search(revisit)).is_original and not names_any(revisit):
            names.update(search.instead)
        else:
            searches.append(search)
            continue
        revisits += 1
    names.update(name for digest in digests for name in key_has.digests[digest])
    return Chosen(sorted(names), searches, revisits, folds)


def names_any(revisit: Capture) -> bool:
    """Whether a revisit names an original by id or time."""
    return revisit.refers_to != UNKNOWN or revisit.refers_to_timestamp != UNKNOWN


def digest_of(capture: Capture) -> bytes:
    """The digest of what the page had, if a capture tells it."""
    if capture.status == NOT_MODIFIED and (
        capture.kind != b"revisit" or capture.digest in DIGESTS_OF_NOTHING
    ):
        return UNKNOWN
    return capture.digest


class _Contents:
    """The good captures of a key that say what the page has. digests: the latest originals with
    each digest."""

    def __init__(self, good: Iterable[Capture]) -> None:
        contents = sorted((row for row in good if not is_confirmation(row)), key=_age)
        self.digests: dict[bytes, list[CaptureName]] = {}
        self._of_uris = {row.uri: row for row in contents}
        self._newest = contents[-1:]
        for row in contents:
            if is_original(row) and row.digest != UNKNOWN:
                for digest in digests_in(row.digest):
                    self._add(digest, row)

    def _add(self, digest: bytes, row: Capture) -> None:
        same = self.digests.setdefault(digest, [])
        if same and same[-1][1] != row.timestamp:
            same.clear()
        same.append((row.uri, row.timestamp))

    def search(self, revisit: Capture) -> Search:
        """The search for the original of a revisit whose digest no original has."""
        own = (revisit.uri, revisit.timestamp)
        before = [self._of_uris[revisit.uri]] if revisit.uri in self._of_uris else self._newest
        if not (is_confirmation(revisit) and before):
            return Search([revisit], [own], False)
        name = (before[0].uri, before[0].timestamp)
        if is_original(before[0]):
            return Search([revisit], [name], True)
        if same := self.digests.get(before[0].digest):
            return Search([revisit], [max(same)], True)
        return Search([revisit, *before], [own, name], False)


def _age(row: Capture) -> tuple[bytes | bool, ...]:
    """The order in which the latest capture is the last: of a time, an original rather than a
    revisit. The rest makes it one, whatever the order of the archives."""
    return (
        row.timestamp, is_original(row), row.uri, row.digest, row.refers_to, row.refers_to_uri,
        row.refers_to_timestamp,
    )  # fmt: skip


def _folds(kind: bytes, links: Iterable[Named]) -> list[FoldTarget]:
    return [(kind, target) for target in sorted({link.target_key for link in links})]


def _latest(links: Sequence[Named]) -> list[Named]:
    last = max((link.timestamp for link in links), default=b"")
    return [link for link in links if link.timestamp == last]


def folded(key: bytes, folds: Iterable[FoldTarget]) -> Iterator[FoldTarget]:
    """The folds of a key that count: a redirect's before a canonical one's, and none if it leads
    back to the key. More than one if it is not sure where the key goes."""
    ordered = sorted(set(folds), reverse=True)
    targets = [target for kind, target in ordered if kind == ordered[0][0]]
    if targets != [key]:
        yield from ((ordered[0][0], target) for target in sorted(targets))
