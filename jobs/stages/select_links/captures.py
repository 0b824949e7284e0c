"""What the stages of select_links share: their rows, and where a revisit's original may be.

Lines between the stages begin with the word of the stage that they are for: `take` (links of a
capture, for another URI or `-`), `id` and `time` (a search for the original of a revisit, at the
name that follows), `id-before` and `time-before` (likewise, at what the revisit before it names).
A search has the key and the URI of the revisit, then its further words and names, and at last
`take`, the counter of this end, and URIs and timestamps of captures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from crawlrank.jobs.kernel.captures.choosing import CaptureRules, Gone, Search
from crawlrank.jobs.kernel.formats.datasets import CAPTURES
from crawlrank.jobs.kernel.formats.lines import parse_capture, parse_else, parse_link
from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from crawlrank.jobs.kernel.formats.usable import usable_key_function
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.mapreduce.job import Job, KeyValue

TAKE, BY_ID, BY_TIME, BEFORE = b"take", b"id", b"time", b"-before"
WORDS = (TAKE, BY_ID, BY_TIME, BY_ID + BEFORE, BY_TIME + BEFORE)
FIRST, SECOND, THIRD = b"0", b"1", b"2"  # the order in which a reducer gets values
NOTHING = Capture(*[UNKNOWN] * 8)


class CapturesJob(Job):
    WORD = b""  # of the lines that are for this stage

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--captures", choices=("union", "latest"), default="union")
        self.add_passthru_arg("--redirects", action="store_true", help="fold redirects")
        self.add_passthru_arg("--canonical", action="store_true", help="fold canonical addresses")
        self.add_passthru_arg("--gone", choices=get_args(Gone), default="last")
        self.add_passthru_arg(
            "--before", action="store_true", help="look for what the revisit before names"
        )
        self.add_passthru_arg("--www", choices=get_args(Www), default="strip", help="of keys")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        options = self.options
        self.word = self.WORD + BEFORE * options.before
        self.key_of = usable_key_function(www=options.www)
        self.rules = CaptureRules(
            options.captures == "latest", options.redirects, options.canonical, options.gone
        )

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        word, tab, rest = line.partition(b"\t")
        if tab and word in WORDS:
            if word == self.word:
                key, _, value = rest.partition(b"\t")
                yield key, joined(SECOND, value)
        elif line.count(b"\t") + 1 in CAPTURES.widths:
            capture = parse_capture(line)
            if capture_key := self.key_of(capture.uri):
                yield from self.map_capture(capture_key, capture)
        else:
            yield from self.map_link(parse_else(parse_link, line, CAPTURES))

    def map_capture(self, key: bytes, capture: Capture) -> Iterator[KeyValue]:
        raise NotImplementedError

    def map_link(self, link: Link) -> Iterator[KeyValue]:
        """No pair in the stages that need captures only."""
        yield from ()

    def search(self, key: bytes, search: Search) -> Iterator[bytes]:
        """The lines that begin a search for the original of a revisit of that key."""
        steps = list[bytes]()
        for revisit in search.revisits:
            before = BEFORE if steps else b""
            if revisit.refers_to != UNKNOWN:
                steps += [BY_ID + before, revisit.refers_to]
            uri = revisit.uri if revisit.refers_to_uri == UNKNOWN else revisit.refers_to_uri
            named = self.key_of(uri) if revisit.refers_to_timestamp != UNKNOWN else None
            if named:
                steps += [BY_TIME + before, b"%s %s" % (named, revisit.refers_to_timestamp)]
        end = b"revisits.original" if search.is_original else b"revisits.own-outlinks"
        instead = [field for capture in search.instead for field in capture]
        yield from self.searched(key, search.revisits[0].uri, [*steps, TAKE, end, *instead])

    def searched(self, key: bytes, uri: bytes, steps: Sequence[bytes]) -> Iterator[bytes]:
        """The line for the next step of a search, or those at its end."""
        word, name, *others = steps
        if word != TAKE:
            yield joined(word, name, key, uri, *others)
            return
        self.counts[name.decode()] += 1
        for capture in zip(others[::2], others[1::2], strict=True):
            yield joined(TAKE, key, *capture, UNKNOWN)


def joined(*fields: bytes) -> bytes:
    return b"\t".join(fields)
