"""Datasets delivered: a folder of parts as it is, or one file merged in the dataset's order.

Each part of a job is sorted by itself; which row is in which part depends on the runner. Merged,
and sorted first where a part is not in order, the same rows give the same file on every runner. A
file or folder that has its name is whole: it is written beside that name and then renamed.

Commands also write for others: CSV, and bytes to a file, or to standard output, named `-`. CSV is
such that a spreadsheet shows it as it is; this is the one writer of all commands that write CSV.
RFC 4180: a header, quotes where a field needs them, CRLF unless another end is asked for. Programs
for spreadsheets calculate a field that begins with one of FORMULA, also within quotes
(https://owasp.org/www-community/attacks/CSV_Injection). A field of text that begins so gets an
apostrophe in front, and so does one that begins with an apostrophe: without its first apostrophe,
if it has one, a field is what it was. Numbers stay numbers.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import heapq
import io
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.datasets import DATASETS, RowOrder
from crawlrank.jobs.kernel.formats.lines import DUMMY
from crawlrank.jobs.kernel.formats.order import DIGITS, descending
from crawlrank.jobs.kernel.formats.reading import open_part, parts
from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.jobs.kernel.storage.temporary import temporary_folder

TO_FILE = "Name a file; options that also write to standard output take `-` for it."
OPEN_AT_ONCE = 200
SORTED_AT_ONCE = 500_000
LineKey = Callable[[bytes], Any]


def _by_id(line: bytes) -> float | int:
    identity = line.replace(b" ", b"\t", 1).partition(b"\t")[0]
    return float("inf") if identity == DUMMY else int(identity)


def _by_id_and_line(line: bytes) -> tuple[float | int, bytes]:
    """Lines of one id lie in several parts where maps have numbered them."""
    return _by_id(line), line


def by_score(digits: int = DIGITS) -> LineKey:
    """The order of scores lines: rounded score, best first, then key."""

    def key(line: bytes) -> tuple[bytes, bytes]:
        score, _, rest = line.rstrip(b"\n").partition(b"\t")
        return descending(float(score), digits), rest.split(b"\t")[1]

    return key


def _whole(line: bytes) -> bytes:
    return line


_KEYS: dict[RowOrder, LineKey | None] = {
    RowOrder.ARCHIVES: None,
    RowOrder.LINE: _whole,
    RowOrder.ID: _by_id,
    RowOrder.ID_AND_LINE: _by_id_and_line,
    RowOrder.SCORE: by_score(),
}
#: dataset -> what its rows are merged by; None: the parts are put one after the other
ORDER = {dataset.name: _KEYS[dataset.order] for dataset in DATASETS.values()}


def merged(
    dataset: str | Path,
    key: LineKey | None,
    *,
    open_at_once: int = OPEN_AT_ONCE,
    sorted_at_once: int = SORTED_AT_ONCE,
) -> Iterator[bytes]:
    """The lines of all parts, with their ends, in the order of `key`. open_at_once: files.
    sorted_at_once: lines in memory."""
    if key is None:
        for path in parts(dataset):
            with open_part(path) as stream:
                yield from stream
        return
    with contextlib.ExitStack() as stack:
        runs = (_sorted_runs(path, key, stack, sorted_at_once) for path in parts(dataset))
        paths = [*chain.from_iterable(runs)]
        while len(paths) > open_at_once:
            folder = Path(stack.enter_context(temporary_folder()))
            paths = _merged_in_groups(paths, key, folder, open_at_once)
        streams: list[Iterable[bytes]] = [stack.enter_context(open_part(path)) for path in paths]
        yield from heapq.merge(*streams, key=key)


def _sorted_runs(path: Path, key: LineKey, stack: contextlib.ExitStack, at_once: int) -> list[Path]:
    """The part itself where it is in order; gen-graph's is not where ids do not follow keys."""
    with open_part(path) as lines:
        if all(before <= after for before, after in pairwise(map(key, lines))):
            return [path]
    folder = Path(stack.enter_context(temporary_folder()))
    runs: list[Path] = []
    with open_part(path) as lines:
        while run := sorted(islice(lines, at_once), key=key):
            runs.append(folder / f"part-{len(runs):05d}")
            with runs[-1].open("wb") as file:
                file.writelines(run)
    return runs


def _merged_in_groups(paths: list[Path], key: LineKey, folder: Path, at_once: int) -> list[Path]:
    """Fewer, longer parts: the number of files that a process may open has a limit."""
    groups = [paths[at : at + at_once] for at in range(0, len(paths), at_once)]
    outputs = []
    for number, group in enumerate(groups):
        with contextlib.ExitStack() as stack:
            streams: list[Iterable[bytes]] = [stack.enter_context(open_part(p)) for p in group]
            output = folder / f"part-{number:05d}"
            lines: Iterable[bytes] = heapq.merge(*streams, key=key)
            with output.open("wb") as file:
                file.writelines(lines)
        outputs.append(output)
    return outputs


def is_file(output: Path) -> bool:
    """Whether an output is one file (its name has an extension) or a folder of parts."""
    return bool(output.suffix)


def write_file(lines: Iterable[bytes], output: Path) -> None:
    """One file, gzip when its name ends in .gz (without a time, so that equal lines are equal)."""
    with replacing(output) as path:
        if output.suffix == ".gz":
            with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file:
                cast(BinaryIO, file).writelines(lines)
        else:
            with path.open("wb") as file:
                file.writelines(lines)


@contextlib.contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """A path to write to; renamed to `output` when the block ends well, removed otherwise. Where
    that is a link, the file that it leads to is replaced, and the link stays."""
    require_name(output)
    target = output.resolve() if output.is_symlink() else output
    try:
        with temporary_folder(target.parent) as beside:
            path = beside / target.name
            yield path
            path.replace(target)
    except OSError as error:
        if error.filename is None and error.errno:  # a write does not say where
            raise OSError(error.errno, error.strerror, str(output)) from error
        raise


def deliver(folder: Path, output: Path, key: LineKey | None) -> None:
    """Make the folder of parts that a job has written the dataset `output`."""
    output.parent.mkdir(parents=True, exist_ok=True)
    if is_file(output):
        write_file(merged(folder, key), output)
    else:
        move(folder, output)


def move(folder: Path, output: Path) -> None:
    """Rename a folder to `output`, in place of what has that name."""
    if folder.stat().st_dev != output.parent.stat().st_dev:
        copy = output.with_name(f".{output.name}.part")
        shutil.rmtree(copy, ignore_errors=True)
        folder = Path(shutil.copytree(folder, copy))
    old = output.with_name(f".{output.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if output.exists():
        output.replace(old)
    folder.replace(output)
    shutil.rmtree(old, ignore_errors=True)


def require_name(output: Path) -> None:
    """An output is renamed to its name, so `.`, `..`, `/` and the empty path cannot be one, nor can
    /dev/stdout, which would be replaced. Raises BadInput."""
    if output.name in ("", ".."):
        cure = "Name a file or folder in it."
        raise BadInput(str(output), "no name of its own", "the name of a file or folder", cure)
    require_replaceable(output)


def require_replaceable(output: Path) -> None:
    """Raises BadInput for a device, pipe or socket, whatever it leads to: a file that is written
    beside it and renamed would take its place."""
    top = output.absolute().parts[1:2]
    if top not in (("dev",), ("proc",)) or Path(*output.absolute().parts[:3]) == Path("/dev/shm"):
        require_file(output, "the name of a file to write", TO_FILE)
        return
    raise BadInput(str(output), "a device or pipe", "the name of a file to write", TO_FILE)


def refuse_existing(output: Path) -> None:
    """Files are replaced, as tools do. A folder that is not empty is refused."""
    require_name(output)
    if is_file(output):
        if output.is_dir():
            cure = "Name a file in it, or a folder without an extension."
            raise BadInput(str(output), "a folder", "a file, as the name has an extension", cure)
    elif output.is_file():
        cure = "Give the name an extension, such as .txt, to write one file."
        raise BadInput(str(output), "a file", "a folder, as the name has no extension", cure)
    elif output.exists() and any(output.iterdir()):
        raise BadInput(
            str(output), "is there already and not empty", "a new folder", "Remove it first."
        )


STDOUT = Path("-")
CLOSED = 141  # exit code of a program whose reader has left, 128 + SIGPIPE, as shells know it


def write_output(pieces: Iterable[bytes], output: Path) -> None:
    """Write the pieces, in place of a file that has the name. Raises BrokenPipeError where whoever
    reads standard output has left."""
    if output != STDOUT:
        write_file(pieces, output)
        return
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


#: what begins a formula, also the wide forms that East Asian keyboards write, what a spreadsheet
#: may skip in front of one, and the apostrophe that makes text of it
FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20'")
PIECE = 1 << 16  # characters


def as_text(field: str) -> str:
    """The field so that no spreadsheet takes it for a formula."""
    return f"'{field}" if field.startswith(FORMULA) else field


def csv_pieces(
    names: Sequence[str], rows: Iterable[Iterable[Any]], *, end: str = "\r\n"
) -> Iterator[str]:
    """The header and the rows, some at a time. None is an empty field."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end)
    writer.writerow(names)
    for row in rows:
        writer.writerow([as_text(field) if isinstance(field, str) else field for field in row])
        if text.tell() > PIECE:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def harmless(column: str) -> str:
    """`as_text` of a column of text, in SQL, for files that DuckDB writes."""
    first = ", ".join(f"chr({ord(character)})" for character in FORMULA)
    return f"CASE WHEN left({column}, 1) IN ({first}) THEN chr(39) || {column} ELSE {column} END"
