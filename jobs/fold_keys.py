"""fold_keys: canonical links and uris with the keys that others stand for replaced by those.

Reads canonical links, uris and folds (`key<TAB>target_key<TAB>kind<TAB>hops`). Writes canonical
links and uris as jobs/canonicalize.py does, distinct and sorted again.

  source  links meet the folds of their sources. Shuffle: one line a link and one a fold.
  target  links and uris meet the folds of their targets and keys. Shuffle: likewise, and one a URI.
  merge   what now has the same key is one. Shuffle: one line a link and one a URI.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from jobs.canonicalize import LINK, SPELLING, Canonicalize
from jobs.kernel.errors import BadInput
from jobs.kernel.formats.lines import (
    URI_ROW,
    parse_canonical_link,
    parse_else,
    parse_fold,
    parse_uri_row,
)
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.alone import main
from jobs.mapreduce.job import Pair
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome

FOLD = b"F"  # of a key, this comes before its links and spellings


class FoldKeys(Canonicalize):
    """The last stage is the reducer of canonicalize, on what it has written."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--stage", choices=("source", "target", "merge"), default="source", help="set by run()"
        )

    def map_line(self, line: bytes) -> Iterator[Pair]:
        columns = line.count(b"\t") + 1
        if columns == 4:
            fold = parse_fold(line)
            yield fold.key, FOLD + fold.target_key
        elif columns == 5:
            yield parse_uri_row(line).key, SPELLING + line.partition(b"\t")[2]
        else:
            target, source = parse_else(parse_canonical_link, line, URI_ROW)
            if self.options.stage == "source":
                yield source, LINK + target
            else:
                yield target, LINK + source

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if self.options.stage == "merge":
            yield from super().reduce_key(key, values)
            return
        final = key
        for value in values:
            if value[:1] == FOLD:
                final = value[1:]
            elif value[:1] == SPELLING:
                yield b"%s\t%s" % (final, value[1:])
            elif self.options.stage == "source":
                yield b"%s %s" % (value[1:], final)
            else:
                yield b"%s %s" % (final, value[1:])

    def run_with(self, inputs: list[str], output: Path, launcher: Launcher) -> Outcome:
        """Alone: canonical links, uris and folds on the command line."""
        if len(inputs) != 3:
            raise BadInput("the inputs", f"{len(inputs)} of them", "canonical links, uris, folds")
        links, uris, folds = map(Path, inputs)
        return run(links, uris, [folds], output, output / "_uris", launcher)


def run(
    canonical_links: Place, uris: Place, folds: Sequence[Place], output: Place, uris_output: Place,
    launcher: Launcher,
) -> Outcome:  # fmt: skip
    """Writes the folders `output` and `uris_output`."""
    with launcher.workplace("fold_keys") as tmp:
        sources, targets = join(tmp, "sources"), join(tmp, "targets")
        launch(FoldKeys, [canonical_links, *folds], sources, launcher, ["--stage", "source"])
        launch(FoldKeys, [sources, uris, *folds], targets, launcher, ["--stage", "target"])
        args, side = ["--stage", "merge"], {"uris": uris_output}
        return launch(FoldKeys, [targets], output, launcher, args, side)


if __name__ == "__main__":
    main(FoldKeys)
