"""sift: the rows of a side dataset, out of the output of a job at a URL.

Reads that output. Writes the rows that its lines `@name<TAB>row` hold, for one name. No shuffle.
For small outputs sift_here does the same in the driver, sooner than a job starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing.pool import ThreadPool

from crawlrank.jobs.kernel.formats.side_lines import ROWS_ASIDE
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import DONE, join, open_part, part_sizes, write
from crawlrank.jobs.mapreduce.job import Job

AT_ONCE = 8  # parts


class Sift(Job):
    def configure_args(self) -> None:
        super().configure_args()
        names = sorted(name[1:].decode() for name in ROWS_ASIDE)
        self.add_passthru_arg("--name", choices=names, default=names[0], help="of the dataset")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._name = f"@{self.options.name}".encode()

    def _mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Side lines, which other jobs skip."""
        name, tab, row = line.partition(b"\t")
        if tab and name == self._name:
            yield None, row.removesuffix(b"\t")


def sift_here(dataset: PathOrUrl, name: str, output: PathOrUrl) -> None:
    """Do what the job does, in this process, part by part. Raises OSError."""
    parts = [part for part, _ in part_sizes(dataset)]
    with ThreadPool(max(1, min(AT_ONCE, len(parts)))) as pool:
        pool.map(lambda part: _sift_part(part, b"@%s\t" % name.encode(), output), parts)
    write(join(output, DONE), b"")


def _sift_part(part: PathOrUrl, mark: bytes, output: PathOrUrl) -> None:
    with open_part(part) as stream:
        rows = [
            line[len(mark) :].removesuffix(b"\n").removesuffix(b"\t")
            for line in stream
            if line.startswith(mark)
        ]
    name = str(part).rpartition("/")[2].partition(".")[0]
    write(join(output, name), b"".join(row + b"\n" for row in rows))


if __name__ == "__main__":
    Sift.run()
