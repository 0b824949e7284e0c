"""What the stages of join_scores share that join at keys: each key gets a spelling and its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import parse_uri_row
from crawlrank.jobs.kernel.formats.order import DIGITS, ascending_id, descending
from crawlrank.jobs.kernel.formats.rows import UNKNOWN
from crawlrank.jobs.mapreduce.job import Job, KeyValue
from crawlrank.jobs.stages.join_scores.nodes import KEY, SCORE

SPELLING = b"U"


class RowsJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--columns", choices=("three", "all"), default="three")
        self.add_passthru_arg("--digits", type=int, default=DIGITS, help="digits that scores share")

    def joined(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        """The row of a key, behind its position in the order and a tab. values: SCORE with the node
        first, then spellings."""
        best: tuple[int, int, bytes] | None = None
        captures, last, node = 0, UNKNOWN, b""
        for value in values:
            if value[:1] == SCORE:
                node = value[1:]
                continue
            seen, links, timestamp, uri = value[1:].split(b"\t")
            entry = (-int(seen), -int(links), uri)
            best = entry if best is None else min(best, entry)
            captures, last = captures + int(seen), max(last, timestamp)
        if not node:
            return  # a spelling of a key that has no id
        score, identity, inlinks, outlinks = node.split(b"\t")
        if best is None:
            yield from self.unspelled(key, identity)
            return
        fields = [score, best[2], key]
        if self.options.columns == "all":
            fields += [identity, inlinks, outlinks, b"%d" % captures, last]
        position = descending(float(score), self.options.digits) + key
        yield position + b"\t" + b"\t".join(fields)

    def unspelled(self, key: bytes, identity: bytes) -> Iterator[bytes]:
        yield from self.bad_group(
            ascending_id(identity),
            [KEY + key],
            found=f"key {key.decode()}: no spelling in uris",
            expected="at least one URI for every key of map",
            cure="Join with the uris of the same canonicalize run.",
        )


def sent(line: bytes) -> KeyValue:
    """A spelling under its key. Raises BadLine."""
    row = parse_uri_row(line)
    counts = b"%d\t%d\t%s" % (row.captures, row.links, row.last)
    return row.key, b"%s%s\t%s" % (SPELLING, counts, row.uri)


def in_order(rows: Iterator[bytes], counts: Counter[str]) -> Iterator[bytes]:
    """Sorted rows without their positions."""
    for row in rows:
        counts["scores"] += 1
        yield row.partition(b"\t")[2]
