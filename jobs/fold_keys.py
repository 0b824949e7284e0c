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

from jobs.base import Job, Pair
from jobs.canonicalize import LINK, SPELLING, Canonicalize
from jobs.kernel.lines import (
    URI_ROW,
    format_uri_row,
    parse_canonical_link,
    parse_else,
    parse_fold,
    parse_uri_row,
)
from jobs.launch import Launcher, Outcome, launch

FOLD = b"F"  # of a key, this comes before its links and spellings


class FoldKeys(Job):
    DATASET = "canonical_links"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--stage", choices=("source", "target"), default="source", help="set by run()"
        )

    def map_line(self, line: bytes) -> Iterator[Pair]:
        columns = line.count(b"\t") + 1
        if columns == 4:
            fold = parse_fold(line)
            yield fold.key, FOLD + fold.target_key
        elif columns == 5:
            yield parse_uri_row(line).key, SPELLING + line
        else:
            target, source = parse_else(parse_canonical_link, line, URI_ROW)
            if self.options.stage == "source":
                yield source, LINK + target
            else:
                yield target, LINK + source

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        final = key
        for value in values:
            if value[:1] == FOLD:
                final = value[1:]
            elif value[:1] == SPELLING:
                yield format_uri_row(parse_uri_row(value[1:])._replace(key=final))
            elif self.options.stage == "source":
                yield b"%s %s" % (value[1:], final)
            else:
                yield b"%s %s" % (final, value[1:])


class MergeKeys(Canonicalize):
    """The reducer of canonicalize on what it has written."""

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if line.count(b"\t") == 4:
            key, _, rest = line.partition(b"\t")
            yield key, SPELLING + rest
        else:
            target, source = parse_canonical_link(line)
            yield target, LINK + source


def run(
    canonical_links: Path, uris: Path, folds: Sequence[str | Path], output: Path, uris_output: Path,
    launcher: Launcher,
) -> Outcome:  # fmt: skip
    """Writes the folders `output` and `uris_output`."""
    with launcher.workplace("fold_keys") as tmp:
        inputs = [canonical_links, *folds]
        launch(FoldKeys, inputs, tmp / "sources", launcher, ["--stage", "source"])
        inputs = [tmp / "sources", uris, *folds]
        launch(FoldKeys, inputs, tmp / "targets", launcher, ["--stage", "target"])
        side = {"uris": uris_output}
        return launch(MergeKeys, [tmp / "targets"], output, launcher, side=side)


if __name__ == "__main__":
    MergeKeys.run()
