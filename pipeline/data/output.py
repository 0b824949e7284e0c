"""What commands write for others: CSV, and bytes to a file, or to standard output, named `-`.

CSV is such that a spreadsheet shows it as it is; this is the one writer of all commands that write
CSV. RFC 4180: a header, quotes where a field needs them, CRLF unless another end is asked for.
Programs for spreadsheets calculate a field that begins with one of FORMULA, also within quotes
(https://owasp.org/www-community/attacks/CSV_Injection). A field of text that begins so gets an
apostrophe in front, and so does one that begins with an apostrophe: without its first apostrophe,
if it has one, a field is what it was. Numbers stay numbers.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from crawlrank.pipeline.data.datasets import write_file

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
