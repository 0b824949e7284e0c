"""What select-links is to do, from its definitions, on plain lists: slow and by another way.

A key's captures are looked at one by one, from the latest on; chains of folds are walked a step at
a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import urljoin

from crawlrank.jobs.kernel.formats.rows import Capture, Fold, Link
from crawlrank.jobs.kernel.keys.keys import key_of

#: kind of reference -> a reference of that kind
REFERENCES = {
    b"-": "http://h.example/1", b"//": "//h.example/2", b"/": "/3", b"0.1": "4", b"1.1": "../0",
    b"?": "?5", b"#": "",
}  # fmt: skip

Selection = tuple[Counter[bytes], set[Fold], Counter[str]]  # links, folds, counters


class Oracle:
    def __init__(
        self,
        links: Sequence[Link],
        captures: Sequence[Capture],
        *,
        latest: bool,
        fold: set[str],
        gone: str,
    ) -> None:
        self.links, self.captures = links, [one for one in captures if key_of(one.uri)]
        self.latest, self.fold = latest, fold
        self.nothing = {"last": b"-", "drop": b".", "keep": b""}[gone]
        self.counters: Counter[str] = Counter()

    def of(self, key: bytes, statuses: Iterable[int]) -> list[Capture]:
        """The captures of a key with such a status, the latest first."""
        found = [one for one in self.captures if key_of(one.uri) == key]
        found = [one for one in found if self.status(one) in statuses]
        return sorted(found, key=lambda one: self.when(one.timestamp), reverse=True)

    @staticmethod
    def status(capture: Capture) -> int:
        number = 200 if capture.status == b"-" else int(capture.status)
        return 200 if number == 304 else number

    @staticmethod
    def when(timestamp: bytes) -> int:
        return -1 if timestamp == b"-" else int(timestamp)

    def good(self, key: bytes) -> list[Capture]:
        good = self.of(key, range(200, 300))
        if all(self.says_nothing(one) and one.status in (b"304", b"-") for one in good):
            return [] if self.redirects(key, away=False) else good
        return good

    @staticmethod
    def says_nothing(capture: Capture) -> bool:
        """Whether it says only that the page is as it was."""
        return capture.status == b"304" or (capture.kind == b"revisit" and capture.digest == b"-")

    def target(self, link: Link, page: bytes | None) -> bytes | None:
        """The target of a link where another page has the body that it is in."""
        if page is None or link.reference == b"-":
            return link.target
        try:
            return urljoin(page.decode(), REFERENCES[link.reference]).encode()
        except ValueError:
            self.counters["links.unresolved"] += 1
            return None

    def out(self, capture: Capture, hop: bytes, page: bytes | None = None) -> list[bytes]:
        """Target keys of the links of a capture with that hop. page: that has its body."""
        targets = [
            key_of(self.target(link, page) or b"")
            for link in self.links
            if (link.source, link.timestamp, link.hop) == (capture.uri, capture.timestamp, hop)
        ]
        return [target for target in targets if target]

    def redirects(self, key: bytes, *, away: bool) -> list[Capture]:
        """The latest captures that redirect; away: to another key."""
        found = [
            one
            for one in self.of(key, range(300, 400))
            if any(target != key or not away for target in self.out(one, b"R"))
        ]
        return [one for one in found if one.timestamp == found[0].timestamp]

    def step(self, key: bytes) -> tuple[str, bytes] | None:
        """Into which key this one folds first, and why."""
        good, away = self.good(key), self.redirects(key, away=True)
        newest = self.of(key, range(1000))
        last = {one.status for one in newest if one.timestamp == newest[0].timestamp}
        if self.latest and self.nothing and last and last <= {b"404", b"410"}:
            return "gone", self.nothing
        if "redirects" in self.fold and away:
            later = not good or self.when(away[0].timestamp) > self.when(good[0].timestamp)
            if later if self.latest else not good:
                targets = {to for one in away for to in self.out(one, b"R") if to != key}
                return self.sure("redirect", targets)
        if "canonical" in self.fold:
            if self.latest:
                named = self.taken(key)
            else:
                named = [
                    (Capture(link.source, link.timestamp, *[b"-"] * 6), None)
                    for link in self.links
                    if link.hop == b"C" and key_of(link.source) == key and key_of(link.target)
                ]
                last = max((self.when(one.timestamp) for one, _ in named), default=0)
                named = [(one, page) for one, page in named if self.when(one.timestamp) == last]
            targets = {to for one, page in named for to in self.out(one, b"C", page)}
            if targets and targets != {key}:
                return self.sure("canonical", targets)
        return None

    def sure(self, kind: str, targets: set[bytes]) -> tuple[str, bytes] | None:
        if len(targets) == 1:
            return kind, min(targets)
        self.counters["unfolded.ambiguous"] += 1
        return None

    def originals(self, revisit: Capture) -> list[Capture]:
        whole = [
            one
            for one in self.captures
            if one.kind != b"revisit" and one.status[:1] in (b"2", b"-")
        ]
        digest = b"-" if (revisit.kind, revisit.status) == (b"response", b"304") else revisit.digest
        of_key = [one for one in whole if key_of(one.uri) == key_of(revisit.uri)]
        same = [one for one in of_key if one.digest == digest != b"-"]
        if same:
            last = max(self.when(one.timestamp) for one in same)
            return [one for one in same if self.when(one.timestamp) == last]
        by_id = [one for one in whole if revisit.refers_to == one.id != b"-"]
        if len({(one.uri, one.timestamp) for one in by_id}) == 1:
            return by_id[:1]
        uri = revisit.uri if revisit.refers_to_uri == b"-" else revisit.refers_to_uri
        by_time = [
            one
            for one in whole
            if key_of(one.uri) == key_of(uri)
            and one.timestamp == revisit.refers_to_timestamp != b"-"
        ]
        return sorted(by_time, key=lambda one: one.uri)[-1:]

    def before(self, revisit: Capture) -> Capture | None:
        """The capture that says what a page had that was not modified."""
        good = self.good(key_of(revisit.uri) or b"")
        telling = [one for one in good if not self.says_nothing(one)]
        return max(
            telling,
            default=None,
            key=lambda one: (
                one.uri == revisit.uri, self.when(one.timestamp), one.kind != b"revisit", one.uri,
                one.digest, one.refers_to, one.refers_to_uri, one.refers_to_timestamp,
            ),
        )  # fmt: skip

    def in_place_of(self, revisit: Capture) -> tuple[list[Capture], list[Capture]]:
        """The originals of a revisit, and the captures that have its own links."""
        if originals := self.originals(revisit):
            return originals, []
        before = self.before(revisit) if self.says_nothing(revisit) else None
        if not before:
            return [], [revisit]
        if before.kind != b"revisit":
            return [before], []
        originals = self.originals(before)
        if [one for one in originals if one.digest == before.digest]:
            of_key = [one for one in originals if key_of(one.uri) == key_of(before.uri)]
            originals = [max(of_key, key=lambda one: one.uri)] if of_key else originals
        return originals, [] if originals else [revisit, before]

    def taken(self, key: bytes) -> list[tuple[Capture, bytes | None]]:
        """Captures whose links a key has, and the URI that has them instead of the capture's."""
        good = self.good(key)
        if not good:
            leading = self.redirects(key, away=True) or self.redirects(key, away=False)
            return [(one, None) for one in leading]
        found: list[tuple[Capture, bytes | None]] = []
        for one in good:
            if one.timestamp != good[0].timestamp:
                continue
            if one.kind != b"revisit" and one.status != b"304":
                found.append((one, None))
                continue
            originals, own = self.in_place_of(one)
            self.counters["revisits"] += 1
            which = "original" if originals else "own-outlinks"
            self.counters[f"revisits.{which}"] += 1
            found += [(of, None if key_of(of.uri) == key else one.uri) for of in originals]
            found += [(of, None) for of in own]
        return found

    def selected(self, steps: dict[bytes, tuple[str, bytes]]) -> Counter[bytes]:
        taken: dict[tuple[bytes, bytes], set[bytes | None]] = {}
        self.counters = Counter(
            {name: n for name, n in self.counters.items() if not name.startswith("revisits")}
        )
        for key in {key_of(one.uri) or b"" for one in self.captures}:
            redirected = steps.get(key, ("", b""))[0] == "redirect"
            if steps.get(key, ("", b""))[0] == "gone":
                continue
            away = [(one, None) for one in self.redirects(key, away=True)]
            for one, uri in away if redirected else self.taken(key):
                taken.setdefault((one.uri, one.timestamp), set()).add(uri)
        known = {(one.uri, one.timestamp) for one in self.captures}
        lines: Counter[bytes] = Counter()
        for link in self.links:
            place = (link.source, link.timestamp)
            if link.hop == b"C":
                continue
            if place not in taken:
                self.counters[
                    "links.superseded" if place in known else "links.without-capture"
                ] += 1
            if place not in known:
                lines[b" ".join(link[:3])] += 1
            for uri in taken.get(place, ()):
                if target := self.target(link, uri):
                    lines[b" ".join((target, uri or link.source, link.hop))] += 1
        return lines

    def select(self) -> Selection:
        """Links (only where the latest are asked for), folds and counters."""
        keys = {key_of(one) for row in self.links for one in row[:2]}
        keys |= {key_of(one.uri) for one in self.captures}
        steps = {key: step for key in keys if key and (step := self.step(key))}
        lines = self.selected(steps) if self.latest else Counter[bytes]()
        folds = set()
        for key, (kind, to) in steps.items():
            seen = [key]
            while to in steps and to not in seen:
                seen.append(to)
                to = steps[to][1]
            if to in seen and self.nothing and self.fold == {"redirects"}:
                folds.add(Fold(key, self.nothing, b"loop", 0))
                self.counters["folds.loop"] += 1
            elif to in seen:
                self.counters["unfolded.loop"] += 1
            else:
                folds.add(Fold(key, to, kind.encode(), len(seen)))
                self.counters[f"folds.{kind}"] += 1
        if not self.latest:
            self.counters = Counter(
                {name: n for name, n in self.counters.items() if "fold" in name}
            )
        return lines, folds, +self.counters
