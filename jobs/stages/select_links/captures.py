"""What the stages of select_links share: their rows, and where a revisit's original may be.

Lines between the stages begin with the word of the stage that they are for: `take` (links of a
capture, for another URI or `-`), `id` and `time` (a revisit, and where its original may be).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from jobs.kernel.captures.choosing import CaptureRules, Gone
from jobs.kernel.formats.datasets import CAPTURES
from jobs.kernel.formats.lines import parse_capture, parse_else, parse_link
from jobs.kernel.formats.rows import UNKNOWN, Capture, Link
from jobs.kernel.formats.usable import usable_key_function
from jobs.mapreduce.job import Job, KeyValue

TAKE, BY_ID, BY_TIME = b"take", b"id", b"time"
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
        self.add_passthru_arg("--keep-www", action="store_true", help="keep `www.` in keys")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        options = self.options
        self.key_of = usable_key_function(keep_www=options.keep_www)
        self.rules = CaptureRules(
            options.captures == "latest", options.redirects, options.canonical, options.gone
        )

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        word, tab, rest = line.partition(b"\t")
        if tab and word in (TAKE, BY_ID, BY_TIME):
            if word == self.WORD:
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

    def elsewhere(self, key: bytes, revisit: Capture, *, id_known: bool = True) -> bytes:
        """The line for the stage that looks for a revisit's original; if it names none, its own
        links count."""
        capture = (key, revisit.uri, revisit.timestamp)
        named = (revisit.refers_to_uri, revisit.refers_to_timestamp)
        if id_known and revisit.refers_to != UNKNOWN:
            return joined(BY_ID, revisit.refers_to, *capture, *named)
        refers_key = self.key_of(named[0]) if UNKNOWN not in named else None
        if refers_key:
            return joined(BY_TIME, b"%s %s" % (refers_key, named[1]), *capture)
        self.counts["revisits.own-outlinks"] += 1
        return joined(TAKE, *capture, UNKNOWN)


def joined(*fields: bytes) -> bytes:
    return b"\t".join(fields)
