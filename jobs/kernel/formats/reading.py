"""Datasets on disk: a file, a glob or a folder of parts, read as lines or rows.

Parts are text, plain or .gz, or Parquet of which each row is a line. A column that may be absent
in lines may be absent in Parquet; null is `-`. Captures keep the 14 digits of their timestamps:
archives hold impossible dates, and text and Parquet say the same.

Lists of links by other programs are named in errors. SNAP begins its lists with comments (`#
FromNodeId ToNodeId`), KONECT and Matrix Market with `%`. Gephi and pandas write a line of names.
Many lists have a weight after the two nodes. PowerShell 5 writes UTF-16 where a command's output
goes to a file.
"""

from __future__ import annotations

import glob
import gzip
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawlrank.jobs.kernel.errors import BadInput, BadLine
from crawlrank.jobs.kernel.formats.datasets import CAPTURES, LINKS, SCORES, Dataset
from crawlrank.jobs.kernel.formats.lines import AnyRow, Parser
from crawlrank.jobs.kernel.storage.arrow_files import open_parquet
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, is_url, require_file
from crawlrank.jobs.kernel.storage.stores import part_sizes

_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, little and big end first
_NAMES = {b"source", b"target", b"from", b"to", b"fromnodeid", b"tonodeid", b"src", b"dst", b"id"}
_NUMBER = rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_WEIGHTED = re.compile(rb"[^ \t]+[ \t]+[^ \t]+[ \t]+(" + _NUMBER + rb")[ \t]*\Z")
_UTF_16 = (
    "text in UTF-16, as PowerShell writes it",
    "Write it in UTF-8: `Get-Content FILE | Set-Content -Encoding utf8 OTHER`, or"
    " `iconv -f UTF-16 -t UTF-8 FILE > OTHER`.",
)


def is_utf_16(line: bytes) -> bool:
    """Whether a file that begins with the line is in UTF-16, with a byte order mark or without."""
    return line.startswith(_MARKS) or (len(line) > 3 and 3 * line.count(0) > len(line))


def foreign_line(line: bytes, *, is_refused: bool) -> tuple[str, str] | None:
    """What a line is, and the cure; None for what has no name here. is_refused: whether it is no
    line of two columns, so that a whole number in the third one can be a weight only."""
    if is_utf_16(line):
        return _UTF_16
    if line.startswith((b"#", b"%")):
        what = "a comment, as SNAP and KONECT begin their lists"
        return what, "Take comments out: `grep -v '^[#%]' FILE > OTHER`."
    if {*line.lower().split()} <= _NAMES and line.strip():
        return "a line with the names of the columns", "Take it out: `tail -n +2 FILE > OTHER`."
    match = _WEIGHTED.match(line)
    if match and (is_refused or not match[1].lstrip(b"-+").isdigit()):
        cure = "Keep the two columns of the nodes: `awk '{print $1, $2}' FILE > OTHER`."
        return f"the weight {match[1][:20].decode()} in the third column", cure
    return None


def bad_line(path: Path, number: int, line: bytes, error: BadLine) -> BadInput:
    """What to say of a line that a parser refused."""
    has_two_columns = "`id" not in error.expected
    where, named = f"{path}, line {number}", foreign_line(line, is_refused=has_two_columns)
    if named:
        return BadInput(where, named[0], error.expected, named[1])
    return BadInput(where, error.found, error.expected)


def refuse_foreign_start(path: Path, line: bytes, expected: str) -> None:
    """Raises BadInput for a first line that could pass as one of the dataset and is another."""
    if named := foreign_line(line, is_refused=False):
        raise BadInput(f"{path}, line 1", named[0], expected, named[1])


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


AT_ONCE = 20_000  # rows in memory
AS_LINES = (LINKS, CAPTURES, SCORES)


def is_table(path: Path) -> bool:
    return path.suffix == ".parquet"


def table_lines(path: Path, kinds: Sequence[Dataset] = AS_LINES) -> Iterator[bytes]:
    """The rows as lines with their ends. kinds: what the table may be one of. Raises OSError for
    what is no Parquet, and BadInput for a table with other columns."""
    import pyarrow as pa  # half a second that lines do not need
    import pyarrow.compute as pc

    try:
        with open_parquet(path) as table:
            dataset, names = _columns_of_lines(path, table.schema_arrow.names, kinds)
            for batch in table.iter_batches(AT_ONCE, columns=names):
                texts: list[Any] = [pc.cast(batch[name], pa.string()) for name in names]
                lines = pc.binary_join_element_wise(
                    *texts, dataset.separator, null_handling="replace", null_replacement="-"
                )
                for line in lines.to_pylist():
                    if "\n" in line or "\r" in line:
                        raise BadInput(
                            str(path), f"a line break in a cell ({line!r:.200})",
                            "a row that is one line", "Remove it, or leave the row out.",
                        )  # fmt: skip
                    yield f"{line}\n".encode()
    except pa.ArrowException as error:
        raise OSError(str(error).partition("\n")[0]) from error


def _columns_of_lines(
    path: Path, names: list[str], kinds: Sequence[Dataset]
) -> tuple[Dataset, list[str]]:
    """The dataset that has these columns, and those of them that a line has: as many as may be.
    Raises BadInput."""
    for dataset in kinds:
        for width in sorted(dataset.widths, reverse=True):
            columns = list(dataset.first(width))
            if dataset.required <= width == len(columns) and set(columns) <= set(names):
                return dataset, columns
    columns_of = (f"{each.name} ({_listed(each.first(each.required))})" for each in kinds)
    raise BadInput(
        str(path),
        f"a table with the columns {_listed(names)[:200]}",
        f"the columns of {' or '.join(columns_of)}",
        "Name a table of crawlrank, or give its columns these names.",
    )


def _listed(names: Iterable[str]) -> str:
    """Names as they are, but for control characters."""
    return ", ".join(ascii(name)[1:-1] for name in names)
