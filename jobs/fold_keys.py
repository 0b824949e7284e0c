"""fold_keys: in canonical links and uris, keys that fold become the keys that they fold into.

Reads canonical links, uris and folds (`key<TAB>target_key<TAB>kind<TAB>hops`). Writes canonical
links and uris as jobs/canonicalize.py does, distinct and sorted again.

  source  links are joined with the folds of their sources. Shuffle: one line a link and a fold.
  target  links and uris are joined with the folds of their targets and keys. Shuffle: one line a
          link, a fold and a URI.
  merge   links and URIs of the same key become one. Shuffle: one line a link and a URI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crawlrank.jobs.canonicalize import LINK, SPELLING, MergingJob, keyed
from crawlrank.jobs.kernel.captures.choosing import NOTHING_LEFT, NOWHERE
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import URIS
from crawlrank.jobs.kernel.formats.lines import parse_canonical_link, parse_else, parse_fold
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue

if TYPE_CHECKING:
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.jobs.mapreduce.outcome import Outcome

FOLD = b"F"  # sorts before the links and spellings of its key


class EndsJob(Job):
    """Joins folds with other rows at their keys. map_row gives the key of a row and its value,
    with_end(end, value) the row with the end in place of the key, without_end(key, end, value) the
    rows of a key that is gone."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b"\t") == 3:
            fold = parse_fold(line)
            yield fold.key, FOLD + fold.target_key
        else:
            yield self.map_row(line)

    def map_row(self, line: bytes) -> KeyValue:
        raise NotImplementedError

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        end = key
        for value in values:
            if value[:1] == FOLD:
                end = value[1:]
            elif end in NOTHING_LEFT:
                yield from self.without_end(key, end, value)
            else:
                yield self.with_end(end, value)

    def without_end(self, key: bytes, end: bytes, value: bytes) -> Iterator[bytes]:
        raise NotImplementedError

    def with_end(self, end: bytes, value: bytes) -> bytes:
        raise NotImplementedError


class FoldKeysSource(EndsJob):
    """Replaces sources of links by the keys that they fold into."""

    def map_row(self, line: bytes) -> KeyValue:
        target, source = parse_else(parse_canonical_link, line, URIS)
        return source, LINK + target

    def without_end(self, key: bytes, end: bytes, value: bytes) -> Iterator[bytes]:
        """What is gone is no page that gives."""
        yield self.with_end(NOWHERE, value)

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s %s" % (value[1:], end)


class FoldKeysTarget(EndsJob):
    """Replaces targets of links, and keys of spellings, by the keys that they fold into."""

    def map_row(self, line: bytes) -> KeyValue:
        return keyed(line)

    def without_end(self, key: bytes, end: bytes, value: bytes) -> Iterator[bytes]:
        """Its spellings without links, if they are to be listed; no link leads to it."""
        if value[:1] == SPELLING and end == NOWHERE:
            uri, captures, _, last = value.split(b"\t")
            yield self.with_end(key, b"\t".join((uri, captures, b"0", last)))

    def with_end(self, end: bytes, value: bytes) -> bytes:
        return b"%s%s%s" % (end, b"\t" if value[:1] == SPELLING else b" ", value[1:])


class FoldKeysMerge(MergingJob):
    """Writes links and spellings that now have the same key once."""

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        yield keyed(line)


class FoldKeys(Job):
    DATASET = FoldKeysMerge.DATASET

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """inputs: canonical links, uris and folds."""
        if len(inputs) != 3:
            raise BadInput("the inputs", f"{len(inputs)} of them", "canonical links, uris, folds")
        links, uris, folds = map(Path, inputs)
        return run(links, uris, [folds], output, output / "_uris", launcher)


def run(
    canonical_links: PathOrUrl, uris: PathOrUrl, folds: Sequence[PathOrUrl],
    output: PathOrUrl, uris_output: PathOrUrl, launcher: Launcher,
) -> Outcome:  # fmt: skip
    """Writes the folders `output` and `uris_output`."""
    from crawlrank.jobs.mapreduce.launch import launch  # tasks start sooner without it

    with launcher.workplace("fold_keys") as tmp:
        sources, targets = join(tmp, "sources"), join(tmp, "targets")
        launch(FoldKeysSource, [canonical_links, *folds], sources, launcher)
        launch(FoldKeysTarget, [sources, uris, *folds], targets, launcher)
        return launch(FoldKeysMerge, [targets], output, launcher, side={"uris": uris_output})


if __name__ == "__main__":
    main(FoldKeys, FoldKeysSource, FoldKeysTarget, FoldKeysMerge)
