"""Which links count of a page that was captured several times, and which page folds into another.

The choice sees one key at a time: its captures, and its links of hops R and C.

A capture is good if its status is 2xx (no status counts as 200), or if it is a revisit of status
304. `latest` takes the links of the key's latest good captures (all of that time), or, if there is
none, of its latest redirects. A revisit among them stands for its original, a good capture that is
no revisit: the latest of its key with its digest, else the one that it names by id, or by URI and
time.

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

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from jobs.kernel.formats.rows import UNKNOWN, Capture

REDIRECT, CANONICAL, VANISHED, CIRCLE = b"redirect", b"canonical", b"gone", b"loop"
CHARSET, WHOLE = b"charset", b"whole"  # a query in another charset; a page that folds into none
NOWHERE, UNLISTED = b"-", b"."  # targets of what is gone: listed as a page without score, or not
NOTHING_LEFT = (NOWHERE, UNLISTED)
MISSING = (b"404", b"410")
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
        """By option name."""
        folds = ("redirects" * self.redirects, "canonical" * self.canonical)
        return {
            "--captures": "latest" if self.latest else "union",
            "--fold": " ".join(filter(None, folds)) or "none",
            **({"--gone": self.gone} if self.selects else {}),
        }


class Chosen(NamedTuple):
    """captures: whose links the key has. lost: revisits among its latest captures whose original
    is to be looked for elsewhere. revisits: how many there are. folds: kinds and target keys."""

    captures: list[CaptureName]
    lost: list[Capture]
    revisits: int
    folds: list[FoldTarget]


def is_good(capture: Capture) -> bool:
    """Whether its links count. Those of a capture that an index tells of are not known."""
    return capture.kind != b"index" and (
        capture.status == UNKNOWN
        or (len(capture.status) == 3 and capture.status[:1] == b"2")
        or (capture.kind == b"revisit" and capture.status == b"304")
    )


def is_redirect(capture: Capture) -> bool:
    is_3xx = len(capture.status) == 3 and capture.status[:1] == b"3"
    return is_3xx and not is_good(capture)


def is_vanished(captures: Sequence[Capture]) -> bool:
    """Whether the latest captures of a key, which has some, say that it is not there any more."""
    last = max(capture.timestamp for capture in captures)
    return all(row.status in MISSING for row in captures if row.timestamp == last)


def is_original(capture: Capture) -> bool:
    return is_good(capture) and capture.kind != b"revisit"


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
        return Chosen([link.capture for link in _latest(leading)], [], 0, folds)
    return _of_good(good, last_good, folds)


def _of_good(good: Sequence[Capture], last_good: bytes, folds: list[FoldTarget]) -> Chosen:
    """The good captures of that time, with the originals of revisits in place of these."""
    names, lost, revisits = list[CaptureName](), list[Capture](), 0
    for capture in good:
        if capture.timestamp != last_good:
            continue
        if capture.kind != b"revisit":
            names.append((capture.uri, capture.timestamp))
            continue
        revisits += 1
        originals = _same_digest(capture, good)
        names += originals
        lost += [] if originals else [capture]
    return Chosen(names, lost, revisits, folds)


def _folds(kind: bytes, links: Iterable[Named]) -> list[FoldTarget]:
    return [(kind, target) for target in sorted({link.target_key for link in links})]


def _latest(links: Sequence[Named]) -> list[Named]:
    last = max((link.timestamp for link in links), default=b"")
    return [link for link in links if link.timestamp == last]


def _same_digest(revisit: Capture, good: Iterable[Capture]) -> list[CaptureName]:
    if revisit.digest == UNKNOWN:
        return []
    same = [row for row in good if is_original(row) and row.digest == revisit.digest]
    last = max((row.timestamp for row in same), default=b"")
    return [(row.uri, row.timestamp) for row in same if row.timestamp == last]


def folded(key: bytes, folds: Iterable[FoldTarget]) -> Iterator[FoldTarget]:
    """The folds of a key that count: a redirect's before a canonical one's, and none if it leads
    back to the key. More than one if it is not sure where the key goes."""
    ordered = sorted(set(folds), reverse=True)
    targets = [target for kind, target in ordered if kind == ordered[0][0]]
    if targets != [key]:
        yield from ((ordered[0][0], target) for target in sorted(targets))
