"""Which links count where a page was captured several times, and into which page one folds.

All that is known of one key at a time: its captures, and its links of hops R and C.

Good is a capture of status 2xx (none counts as 200), or a revisit of status 304. `latest` takes the
links of the key's latest good captures (all at that time); where there are none, those of its
latest redirects. A revisit among them stands for its original, a good capture that is no revisit:
one of its key with its digest, the latest; else the one that it names by id, or by URI and time.

A redirect (status 3xx with a Location) folds its key into the target's where the key has no good
capture, with `latest` where it is later than those; then the redirect's links are all that the key
has. A canonical address folds its page's key likewise. Redirects to the key itself count for
nothing; where there are several targets at the same time, none is taken. Timestamps compare as
bytes, so `-`, which is unknown, comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jobs.kernel.formats.rows import UNKNOWN, Capture

REDIRECT, CANONICAL = b"redirect", b"canonical"
Place = tuple[bytes, bytes]  # of the links of a capture: its URI and timestamp


class Named(NamedTuple):
    """A link of hop R or C: where it was found, and its target's key."""

    hop: bytes
    uri: bytes
    timestamp: bytes
    target_key: bytes


class Rules(NamedTuple):
    """What is asked for. latest: links of the latest captures alone; redirects, canonical: what
    folds."""

    latest: bool = False
    redirects: bool = False
    canonical: bool = False

    def parameters(self) -> dict[str, str]:
        """By option name."""
        folds = ("redirects" * self.redirects, "canonical" * self.canonical)
        return {
            "--captures": "latest" if self.latest else "union",
            "--fold": " ".join(filter(None, folds)) or "none",
        }


class Chosen(NamedTuple):
    """places: whose links the key has; lost: revisits among its latest captures whose original is
    to be looked for elsewhere; revisits: all of these. folds: kinds and target keys."""

    places: list[Place]
    lost: list[Capture]
    revisits: int
    folds: list[tuple[bytes, bytes]]


def is_good(capture: Capture) -> bool:
    return (
        capture.status == UNKNOWN
        or (len(capture.status) == 3 and capture.status[:1] == b"2")
        or (capture.kind == b"revisit" and capture.status == b"304")
    )


def is_redirect(capture: Capture) -> bool:
    is_3xx = len(capture.status) == 3 and capture.status[:1] == b"3"
    return is_3xx and not is_good(capture)


def is_original(capture: Capture) -> bool:
    return is_good(capture) and capture.kind != b"revisit"


def choose(key: bytes, captures: Sequence[Capture], named: Sequence[Named], rules: Rules) -> Chosen:
    """What becomes of a key; with `latest` the canonical addresses of its places are the caller's
    to look for, as originals elsewhere have theirs, too."""
    good = [capture for capture in captures if is_good(capture)]
    redirected = {(one.uri, one.timestamp) for one in captures if is_redirect(one)}
    leading = [one for one in named if one.hop == b"R" and one[1:3] in redirected]
    away = _latest([one for one in leading if one.target_key != key])
    last_good = max((capture.timestamp for capture in good), default=b"")
    folds = list[tuple[bytes, bytes]]()
    outdated = not good or (rules.latest and away and away[0].timestamp > last_good)
    if rules.redirects and outdated:
        folds = [(REDIRECT, target) for target in sorted({one.target_key for one in away})]
    if len(folds) == 1:
        return Chosen([one[1:3] for one in away], [], 0, folds)
    if rules.canonical and not rules.latest:
        told = _latest([one for one in named if one.hop == b"C"])
        folds += [(CANONICAL, target) for target in sorted({one.target_key for one in told})]
    if not good:
        return Chosen([one[1:3] for one in _latest(leading)], [], 0, folds)
    places, lost, revisits = [], list[Capture](), 0
    for capture in good:
        if capture.timestamp != last_good:
            continue
        if capture.kind != b"revisit":
            places.append((capture.uri, capture.timestamp))
            continue
        revisits += 1
        originals = _same_digest(capture, good)
        places += originals
        lost += [] if originals else [capture]
    return Chosen(places, lost, revisits, folds)


def _latest(found: Sequence[Named]) -> list[Named]:
    last = max((one.timestamp for one in found), default=b"")
    return [one for one in found if one.timestamp == last]


def _same_digest(revisit: Capture, good: Iterable[Capture]) -> list[Place]:
    if revisit.digest == UNKNOWN:
        return []
    same = [one for one in good if is_original(one) and one.digest == revisit.digest]
    last = max((one.timestamp for one in same), default=b"")
    return [(one.uri, one.timestamp) for one in same if one.timestamp == last]


def folded(key: bytes, folds: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Of all folds of a key those of the kind that counts, a redirect's before a canonical one's:
    one at most if it is sure where the key goes."""
    found = sorted(set(folds), reverse=True)
    kind = found[0][0] if found else b""
    targets = [target for one, target in found if one == kind]
    if targets != [key]:
        yield from ((kind, target) for target in sorted(targets))
