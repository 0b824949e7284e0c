"""Split points of equal ranges, from a uniform sample of the keys, as notes."""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.lines import parse_link_or_uri_row
from crawlrank.jobs.kernel.formats.ranges import KeySample, split_points
from crawlrank.jobs.kernel.formats.side_lines import PLAN
from crawlrank.jobs.mapreduce.job import KeyValue
from crawlrank.jobs.stages.assign_ids.nodes import NodesJob


class AssignIdsSample(NodesJob):
    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._sample = KeySample()

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        for key in self.node_keys(parse_link_or_uri_row(line)):
            self._sample.add(key)
        yield from ()

    def map_end(self) -> Iterator[KeyValue]:
        for key in self._sample.keys():  # noqa: SIM118 (not a dict)
            yield b"sample", key

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        for value in values:
            self._sample.add(value)
        for point in split_points(self._sample.keys(), self.options.reducers or 1):
            yield PLAN + b"\t" + point


if __name__ == "__main__":
    AssignIdsSample.run()
