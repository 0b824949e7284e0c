"""What the stages of join_scores share that join at ids: each id gets key, score and inlinks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.jobs.kernel.formats.datasets import MAP
from crawlrank.jobs.kernel.formats.lines import DUMMY, parse_else, parse_graph_line, parse_map_row
from crawlrank.jobs.kernel.formats.order import ascending_id
from crawlrank.jobs.kernel.formats.side_lines import SUMS, to_json
from crawlrank.jobs.mapreduce.job import Job, KeyValue

INLINKS, KEY, SCORE = b"C", b"K", b"S"


class NodesAtIds:
    """Joins map and ranks, in a task of `job`, to nodes: `key SCOREscore id inlinks outlinks`."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._inlinks: Counter[bytes] = Counter()
        self._sum = 0.0

    def sent(self, line: bytes) -> Iterator[KeyValue]:
        """Raises BadLine."""
        if line.count(b"\t") + line.count(b" ") == 1:
            identity, key = parse_map_row(line)
            yield ascending_id(identity), KEY + key
            return
        node, score, targets = parse_else(parse_graph_line, line, MAP)
        if node == DUMMY:
            return
        outlinks = 0 if targets == [DUMMY] else len(targets)
        yield ascending_id(node), b"%s%s\t%d" % (SCORE, repr(score).encode(), outlinks)
        if outlinks:
            self._inlinks.update(targets)
        if len(self._inlinks) >= self._job.COMBINED:
            yield from self.rest()

    def rest(self) -> Iterator[KeyValue]:
        """The inlinks that are still in memory."""
        for target, count in self._inlinks.items():
            yield ascending_id(target), b"%s%d" % (INLINKS, count)
        self._inlinks.clear()

    def joined(self, identity: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        keys: list[bytes] = []
        scores: list[bytes] = []
        inlinks = 0
        for value in values:
            if value[:1] == INLINKS:
                inlinks += int(value[1:])
            else:
                (keys if value[:1] == KEY else scores).append(value[1:])
        if len(keys) == len(scores) == 1:
            score, outlinks = scores[0].split(b"\t")
            self._sum += float(score)
            fields = (keys[0], SCORE + score, identity[1:], b"%d" % inlinks, outlinks)
            yield b"\t".join(fields)
            return
        yield from self._unjoined(identity, len(keys), len(scores))

    def _unjoined(self, identity: bytes, keys: int, scores: int) -> Iterator[bytes]:
        kind, count = (SCORE, scores) if scores > 1 or not keys else (KEY, keys)
        yield from self._job.bad_group(
            identity,
            [kind] * min(count, 2) or [INLINKS],
            found=f"id {identity[1:].decode()}: {count_of(keys, 'key')} in map and"
            f" {count_of(scores, 'line')} in ranks",
            expected="one of each",
            cure="Join ranks with the map of the same assign-ids run.",
        )

    def sums(self) -> bytes:
        """The sum of scores, as a side line."""
        return SUMS + b"\t" + to_json({"scores": self._sum})
