"""join_scores_whole: jobs/join_scores.py in one job, for few nodes.

At a URL, where a job takes long to start. One reducer gets all: first what belongs to an id, which
it keeps by key, then the spellings of each key; its rows it sorts at the end. Shuffle: as the
stages id and key together. Memory: one line a node, some 300 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from operator import itemgetter

from jobs.join_scores import JoinScores
from jobs.kernel.formats.side_lines import SUMS, side_name, to_json
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Pair

WHOLE = b"0"  # the key of all pairs
BY_ID, BY_KEY = b"0", b"1"  # before ids and keys, so that ids come first


class JoinScoresWhole(JoinScores):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._nodes: dict[bytes, bytes] = {}
        self._joined: list[bytes] = []

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if line.count(b"\t") == 4:
            yield from _together(BY_KEY, self._map_key(line))
        else:
            yield from _together(BY_ID, self._map_id(line))

    def map_end(self) -> Iterator[Pair]:
        yield from _together(BY_ID, super().map_end())

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        rows = (value.partition(b"\t") for value in values)
        for named, group in groupby(rows, itemgetter(0)):
            of, name = named[:1], named[1:]
            rest = (row[2] for row in group)
            for line in self._reduce_id(name, rest) if of == BY_ID else self._of_key(name, rest):
                if side_name(line):
                    yield line
                elif of == BY_ID:
                    self._keep(line)
                else:
                    self._joined.append(line)

    def _keep(self, line: bytes) -> None:
        key, _, node = line.partition(b"\t")
        self._nodes[key] = node

    def _of_key(self, key: bytes, spellings: Iterator[bytes]) -> Iterator[bytes]:
        node = self._nodes.pop(key, None)
        if node is not None:
            yield from self._reduce_key(key, chain([node], spellings))

    def reduce_end(self) -> Iterator[bytes]:
        for key, node in self._nodes.items():
            yield from self._no_spelling(key, node.split(b"\t")[1])
        self._joined.sort()  # by what comes before the first tab, which no two have in common
        yield from self._reduce_sort(iter(self._joined))
        yield SUMS + b"\t" + to_json({"scores": self._sum})


def _together(of: bytes, pairs: Iterator[Pair]) -> Iterator[Pair]:
    """For one group of all: values are sorted by what they begin with."""
    for key, value in pairs:
        yield WHOLE, of + key + b"\t" + value


if __name__ == "__main__":
    main(JoinScoresWhole)
