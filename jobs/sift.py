"""sift: rows of a second dataset, out of what another job has written where it lies.

Reads the output of a job on a cluster. Writes the rows that its lines `@name<TAB>row` hold, for one
name. No shuffle.
"""

from __future__ import annotations

from collections.abc import Iterator

from jobs.base import ROWS_ASIDE, Job


class Sift(Job):
    def configure_args(self) -> None:
        super().configure_args()
        names = sorted(name[1:].decode() for name in ROWS_ASIDE)
        self.add_passthru_arg("--name", choices=names, default=names[0], help="of the dataset")

    def load_args(self, args: list[str]) -> None:
        super().load_args(args)
        self._name = f"@{self.options.name}".encode()

    def _mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        """Lines that all other jobs pass over."""
        name, tab, row = line.partition(b"\t")
        if tab and name == self._name:
            yield None, row.removesuffix(b"\t")


if __name__ == "__main__":
    Sift.run()
