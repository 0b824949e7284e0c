"""Datasets on disk: a file, a glob or a folder of parts, read as lines or rows.

Parts are text, plain or .gz, or Parquet of which each row is a line.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.errors import BadInput, BadLine
from crawlrank.jobs.kernel.formats.foreign import bad_line
from crawlrank.jobs.kernel.formats.lines import AnyRow, Parser
from crawlrank.jobs.kernel.formats.tables import is_table, table_lines
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url, require_file
from crawlrank.jobs.kernel.storage.stores import part_sizes

BOM = b"\xef\xbb\xbf"  # of UTF-8; editors begin files with it, and files are put together
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # with one slash: as a path has it
SIDE = b"@"  # lines of a job's output that belong to another dataset, see side_lines.py


def parts(dataset: str | os.PathLike[str]) -> list[Path]:
    """The files of a dataset in the order of their names; hidden files and `_SUCCESS` are none.

    dataset: a file, a folder of parts or a glob. Raises BadInput when there is nothing to read.
    """
    path = Path(dataset)
    if path.is_dir():
        if not (files := _visible(path.iterdir())):
            raise BadInput(str(dataset), "a folder without parts", "at least one file in it")
        return files
    if path.exists():
        require_file(path, "a file or a folder of parts")
        return [path]
    files = _visible(map(Path, glob.glob(as_pattern(str(dataset)))))  # noqa: PTH207 (absolute globs)
    if not files:
        raise _missing(str(dataset))
    return files


def as_pattern(name: str) -> str:
    """A glob that means the folders at its beginning as they are, where they are there: a folder
    may have brackets in its name."""
    for slash in reversed([*re.finditer("/", name)]):
        if Path(head := name[: slash.end()]).is_dir():
            return glob.escape(head) + name[slash.end() :]
    return name


def _missing(dataset: str) -> BadInput:
    expected = "a file, a folder of parts or a glob"
    if _URL.match(dataset):
        return BadInput(dataset, "a URL", expected, "Copy it to this machine first.")
    cure = "Check the spelling, or run the step that writes it first."
    return BadInput(dataset, "no such file or folder", expected, cure)


def sized_parts(dataset: PathOrUrl) -> list[tuple[PathOrUrl, int]]:
    """The parts of a dataset on disk or at a URL, each with its size in bytes. Raises OSError."""
    if is_url(dataset):
        return part_sizes(dataset)
    return [(path, path.stat().st_size) for path in parts(dataset)]


def _visible(paths: Iterable[Path]) -> list[Path]:
    return sorted(path for path in paths if path.is_file() and path.name[0] not in "._")


@contextmanager
def open_part(path: Path) -> Iterator[Iterable[bytes]]:
    """The lines of a part with their ends, by its name: of .gz, of .parquet, or plain."""
    if is_table(path):
        yield table_lines(path)
        return
    opened = gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115
    with opened as stream:
        yield cast(BinaryIO, stream)


def read_lines(dataset: str | os.PathLike[str]) -> Iterator[tuple[Path, int, bytes]]:
    """(file, line number from 1, line without its end) of every line of the dataset.

    A byte order mark that begins a line is no part of it.

    Raises BadInput for what cannot be opened or inflated.
    """
    for path in parts(dataset):
        number = 0
        try:
            with open_part(path) as stream:
                for number, line in enumerate(stream, 1):
                    if line != BOM:  # of a file without a line
                        yield path, number, line.removeprefix(BOM).rstrip(b"\r\n")
        except (OSError, EOFError, zlib.error) as error:
            where = f"{path}, after line {number}" if number else str(path)
            raise BadInput(
                where,
                f"cannot be read{' on' if number else ''} ({error})",
                "a whole file of text, plain or gzip, or such a table in Parquet",
                "Copy or make it again.",
            ) from error


def read_rows(dataset: str | os.PathLike[str], parser: Parser[AnyRow]) -> Iterator[AnyRow]:
    """The rows of a dataset; a line that is none raises BadInput with file and line number."""
    for path, number, line in read_lines(dataset):
        try:
            yield parser(line)
        except BadLine as error:
            raise bad_line(path, number, line, error) from error


def read_all(
    datasets: Iterable[str | os.PathLike[str]], parser: Parser[AnyRow]
) -> Iterator[AnyRow]:
    """The rows of several datasets, one after the other."""
    for dataset in datasets:
        yield from read_rows(dataset, parser)
