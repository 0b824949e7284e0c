"""Files that are no text, by the bytes they begin with, so that a message can say what they are."""

from __future__ import annotations

import zlib
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, require_file

PARQUET, NUMPY, GZIP = b"PAR1", b"\x93NUMPY", b"\x1f\x8b"
AS_TEXT = "`crawlrank export --format text` writes the datasets of a work folder as text."
#: beginning -> what the file is, and what to do about it
_KINDS = {
    PARQUET: ("a table in Parquet", f"A table's name must end in .parquet. {AS_TEXT}"),
    NUMPY: ("an array of NumPy", AS_TEXT),
    GZIP: ("a gzip file", "Its name must end in .gz, or unpack it."),
    b"\x28\xb5\x2f\xfd": ("a zstd file", "Unpack it with `zstd -d`."),
    b"BZh": ("a bzip2 file", "Unpack it with `bunzip2`."),
    b"\xfd7zXZ": ("an xz file", "Unpack it with `unxz`."),
    b"PK\x03\x04": ("a ZIP file", "Unpack it, or save a spreadsheet as CSV."),
    b"%PDF": ("a PDF", "Name another file."),
    b"SQLite format 3\x00": ("a database of SQLite", "Name another file."),
}
_CURE = "Name another file; `crawlrank inspect` shows what is in an archive."
#: the same for archives, plain or in gzip
_ARCHIVES = {
    b"WARC/": ("a WARC file", _CURE),
    b"filedesc:": ("an ARC file", _CURE),
}
HEAD = 512  # bytes, of which gzip gives enough to know what is in it


def binary_kind(head: bytes) -> tuple[str, str] | None:
    """What a file that begins so is, and the cure; None for what may be text."""
    return next((kind for begin, kind in _KINDS.items() if head.startswith(begin)), None)


def _archive_kind(head: bytes) -> tuple[str, str] | None:
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(31).decompress(head, HEAD)
        except zlib.error:
            return None
    return next((kind for begin, kind in _ARCHIVES.items() if head.startswith(begin)), None)


def require_text(path: PathOrUrl, expected: str, *, inflated: bool = False) -> None:
    """Raises BadInput for an archive, for a file that is no text, plain or, if its name ends in
    .gz, gzip, and for what `require_file` refuses. A path that cannot be opened is left to the
    caller that reads it, and so is a URL. inflated: that caller knows gzip by its bytes, whatever
    the name."""
    if not isinstance(path, Path):
        return
    require_file(path, expected)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return
    if archive := _archive_kind(head):
        raise BadInput(str(path), archive[0], expected, archive[1])
    kind = binary_kind(head)
    if kind and not (head.startswith(GZIP) and (inflated or path.suffix == ".gz")):
        raise BadInput(str(path), f"{kind[0]}, not text", expected, kind[1])
