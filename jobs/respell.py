"""Fold candidates of pages that were linked to in another charset than they were captured in.

Reads uris and folds: the uris do not have pages that are gone and not listed. Writes
`key<TAB>kind<TAB>target_key`, of which jobs/fold_chains.py makes folds: an uncaptured key folds
into the only captured one that its query is in UTF-8. Shuffle: a line for each spelling whose query
has escapes beyond ASCII, and one for each charset that it may be in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from crawlrank.jobs.kernel.captures.choosing import CHARSET, UNLISTED, WHOLE
from crawlrank.jobs.kernel.formats.lines import parse_fold, parse_uri_row
from crawlrank.jobs.kernel.keys.keys import (
    Www,
    in_utf_8,
    is_beyond_ascii,
    is_foreign,
    shared_key_function,
)
from crawlrank.jobs.mapreduce.job import Job, KeyValue

CAPTURED, ASKED, OWN = b"0", b"1", b"2"  # a captured key sorts before those that ask for it


class Respell(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--www", choices=get_args(Www), default="strip", help="of keys")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._key_of = shared_key_function(self.options.www)

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") == 3:
            fold = parse_fold(line)
            if fold.target_key == UNLISTED:
                yield fold.key, CAPTURED + fold.key
            return
        row = parse_uri_row(line)
        if not is_beyond_ascii(row.uri) or (own := self._key_of(row.uri)) is None:
            return
        if row.captures:
            yield own, CAPTURED + row.key
        elif is_foreign(row.uri):
            yield own, OWN + row.key
            for uri in in_utf_8(row.uri):
                if key := self._key_of(uri):
                    yield key, ASKED + row.key

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        """A key that was captured itself folds into none."""
        captured = b""
        for value in values:
            if value[:1] == CAPTURED:
                captured = value[1:]
            elif captured and value[:1] == OWN:
                yield b"\t".join((value[1:], WHOLE, value[1:]))
            elif captured:
                yield b"\t".join((value[1:], CHARSET, captured))


if __name__ == "__main__":
    Respell.run()
