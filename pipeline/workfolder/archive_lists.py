"""Lists of archives: a path or URL on each line, plain or gzip, on disk, at a URL or from standard
input.

Empty lines and lines that begin with `#` are passed over. All lines are looked at before one is
used, and what is wrong is told together: a list of hundreds of thousands of archives is not worth
starting on with a wrong line at its end. The memory is that of the names.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.archive.sources import FORMATS
from crawlrank.jobs.kernel.errors import BadInput, Unreachable
from crawlrank.jobs.kernel.formats.reading import BOM
from crawlrank.jobs.kernel.storage.opening import (
    PathOrUrl,
    as_path_or_url,
    binary_kind,
    is_url,
    is_web,
    known_schemes,
    lower_scheme,
    opened,
    require_file,
)

LIST = "a list of archives, one a line"
LONGEST = 8192  # bytes of a line
NAMED = 20  # wrong lines that a message names
MAGIC = re.compile(r"[*?\[]")
LARGEST = 64  # bytes, by which a file that is no list is known
_BINARY = {*range(32)} - {*b"\t\r\n"}
_GZIP = b"\x1f\x8b"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SHOWN = 100  # characters of a wrong line


def read_list(list_file: PathOrUrl, prefix: str = "") -> list[PathOrUrl]:
    """The paths and URLs in a file, as they are, after the prefix; `-` is standard input. Raises
    BadInput, which names the wrong lines."""
    prefix = _complete(prefix)
    names: list[PathOrUrl] = []
    wrong: list[str] = []
    count = 0
    with _stream(list_file) as stream:
        _require_list(stream, list_file)
        for number, line in _lines(stream):
            if why := _why_wrong(line, prefix):
                count += 1
                if len(wrong) < NAMED:
                    wrong.append(f"line {number:,}: {why} ({_shown(line)})")
            else:
                names.append(as_path_or_url(prefix + line))
    if wrong:
        more = f"; and {count - NAMED:,} more" if count > NAMED else ""
        what = f"{count:,} wrong line{'s' * (count > 1)}: {'; '.join(wrong)}{more}"
        raise BadInput(str(list_file), what, "paths or URLs of archives", "Correct the list.")
    if not names:
        raise BadInput(str(list_file), "no line", "paths or URLs of archives, one a line")
    return names


def _complete(prefix: str) -> str:
    """The prefix with the slash at its end. Raises BadInput."""
    if not prefix:
        return ""
    prefix = lower_scheme(prefix) + ("" if prefix.endswith("/") else "/")
    if why := _why_no_url(prefix + "x") if _SCHEME.match(prefix) else "":
        raise BadInput(f"--prefix {prefix}", why, f"a folder, or a URL of {known_schemes()}")
    return prefix


@contextmanager
def _stream(list_file: PathOrUrl) -> Iterator[io.BufferedReader]:
    """The lines of the list, inflated. Raises BadInput for what fails while they are read."""
    if list_file != "-" and not is_url(list_file):
        require_file(list_file, f"{LIST}; `-` for standard input")
    try:
        if list_file == "-":
            yield _inflated(io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer)))
        else:
            with opened(list_file) as file:
                yield _inflated(cast(io.BufferedReader, file))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        what = f"a damaged gzip file ({error})"
        raise BadInput(str(list_file), what, LIST, "Copy it again.") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise BadInput(str(list_file), what, LIST) from error


def _inflated(file: io.BufferedReader) -> io.BufferedReader:
    if file.peek(2).startswith(_GZIP):
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=file)))
    return file


def _require_list(stream: io.BufferedReader, list_file: PathOrUrl) -> None:
    """Raises BadInput for an archive, or another file that is no text."""
    head = stream.peek(LARGEST)[:LARGEST]
    formats = (row for row in FORMATS if row.beginnings and head.startswith(row.beginnings))
    if row := next(formats, None):
        what = f"{row.what.partition(',')[0]}, not a list of archives"
        raise BadInput(str(list_file), what, LIST, "Leave out --archives-from, to read it itself.")
    if kind := binary_kind(head):
        raise BadInput(str(list_file), f"{kind[0]}, not text", LIST, "Write the names as text.")
    if len({*head} & _BINARY) > 2:  # one or two may be slips in names
        raise BadInput(str(list_file), "bytes that are no text", LIST, "Write the names as text.")


def _lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Numbers and text of the lines that name something; of one that is too long the beginning."""
    number = 0
    while line := stream.readline(LONGEST + 2):
        number += 1
        text = line.removeprefix(BOM) if number == 1 else line
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST)
        text = text.rstrip(b"\r\n")
        if text.strip() and not text.startswith(b"#"):
            yield number, os.fsdecode(text)


def _why_wrong(line: str, prefix: str) -> str:
    """What is wrong with a line, or ''."""
    if len(line) > LONGEST:
        return f"longer than {LONGEST:,} bytes"
    if _CONTROL.search(line):
        return "a control character"
    if prefix and _SCHEME.match(line):
        return "a URL, in spite of --prefix"
    if prefix and line.startswith("/"):
        return "a slash at its beginning, in spite of --prefix"
    name = prefix + line
    if _SCHEME.match(name.lstrip()):
        return _why_no_url(name)
    return "" if MAGIC.search(name) or os.path.lexists(name) else "no such file"


def _why_no_url(url: str) -> str:
    if not is_url(url := lower_scheme(url)):
        return f"no URL of {known_schemes()}"
    if is_web(url):
        from crawlrank.jobs.kernel.storage.web.requests import require_web_url

        if " " in url:
            return "a blank in a URL"
        try:
            require_web_url(url)
        except Unreachable as error:
            return f"{error.found}; {error.cure}".rstrip(".; ")
    return ""


def _shown(line: str) -> str:
    return ascii(line[:_SHOWN])[1:-1] + ("…" if len(line) > _SHOWN else "")
