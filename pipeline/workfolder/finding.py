"""Archives that a user names: files, folders and globs, on disk, in S3 or HDFS, files on the web,
and the WACZ files of a multi-WACZ.

A name that is there is taken as it is, whatever signs are in it. Of a folder, and of what is below
it, come the files with an archive's name: crawls keep logs and indexes beside theirs. What a glob
matches was named and is taken, its folders as folders.

A multi-WACZ is a JSON file that names WACZ files, which are read as if each was given. Its
`profile` is `multi-wacz-package` (https://specs.webrecorder.net/multi-wacz/), and each of its
`resources` has a `path` or a `url`: a URL, or a path below the folder of the JSON. As data packages
demand, a path neither begins with `/` nor goes up with `..`; so a file from elsewhere names none of
this machine but those beside it. What lies on the web names only what lies there, too. Indexes of
captures in lines of JSON may have such a name as well, and are recognized by their first line.
"""

from __future__ import annotations

import glob
import gzip
import io
import json
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import urljoin

from crawlrank.jobs.kernel.archive.cdx import kind_of as index_kind
from crawlrank.jobs.kernel.archive.sources import FORMATS, NAMES, has_archive_name
from crawlrank.jobs.kernel.errors import BadInput, Unreachable, unreadable
from crawlrank.jobs.kernel.formats.reading import BOM, as_pattern
from crawlrank.jobs.kernel.storage.opening import (
    STORE_CURE,
    WEB,
    PathOrUrl,
    as_path_or_url,
    binary_kind,
    is_url,
    is_web,
    known_schemes,
    located,
    lower_scheme,
    name_of,
    opened,
    prefix_of,
    require_file,
    store_errors,
)
from crawlrank.pipeline.terminal.text import archive_name

PROFILE = "multi-wacz-package"
EXPECTED = (
    f'a multi-WACZ: `"profile": "{PROFILE}"`, and `resources` with paths or URLs of WACZ files'
)
_INDEX = object()
LARGEST_JSON = 1 << 26  # bytes; some 300,000 WACZ files


def is_multi_wacz(path_or_url: PathOrUrl) -> bool:
    """Whether it is one, by its name: nothing else but an index of captures has such a one."""
    return name_of(path_or_url).lower().endswith(".json")


def wacz_files(path_or_url: PathOrUrl) -> list[PathOrUrl]:
    """The files that it names, in its order; for an index the index itself. Raises BadInput."""
    document = _document(path_or_url)
    if document is _INDEX:
        return [path_or_url]
    resources = _resources(path_or_url, document)
    files = [_resource(path_or_url, entry, number) for number, entry in enumerate(resources, 1)]
    if not files:
        raise BadInput(str(path_or_url), "no resource", EXPECTED)
    return files


def _document(path_or_url: PathOrUrl) -> Any:
    """What is in the JSON; _INDEX for an index."""
    with opened(path_or_url) as file:
        try:
            if index_kind(file):
                return _INDEX
            text = file.read(LARGEST_JSON + 1)
        except OSError as error:
            what = f"cannot be read ({error.strerror or error})"
            raise BadInput(str(path_or_url), what, EXPECTED) from error
    if len(text) > LARGEST_JSON:
        raise BadInput(str(path_or_url), f"more than {LARGEST_JSON // 10**6} MB", EXPECTED)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            str(path_or_url), f"no JSON ({ascii(str(error))[1:-1]})", EXPECTED
        ) from error


def _resources(path_or_url: PathOrUrl, document: Any) -> list[Any]:
    """The resources of a document with the profile, or without one (as an archiving service sends
    it), if it has resources."""
    if isinstance(document, dict):
        profile, resources = document.get("profile", PROFILE), document.get("resources")
        if profile == PROFILE and isinstance(resources, list):
            return resources
        what = f"the profile {str(profile)[:60]!a}" if profile != PROFILE else "no resources"
        raise BadInput(str(path_or_url), what, EXPECTED)
    raise BadInput(str(path_or_url), "JSON that is no object", EXPECTED)


def _resource(path_or_url: PathOrUrl, entry: Any, number: int) -> PathOrUrl:
    where = f"{path_or_url}, resource {number}"
    path = (entry.get("path") or entry.get("url")) if isinstance(entry, dict) else None
    if not isinstance(path, str) or not path or not path.isprintable():
        raise BadInput(where, "no path or URL", EXPECTED)
    if "://" in path:
        path = lower_scheme(path)
        if path.startswith(WEB) or (is_url(path) and not is_web(path_or_url)):
            return path
        raise BadInput(where, f"the URL {path[:100]!a}", "a URL of https://")
    if is_web(path_or_url):
        return urljoin(str(path_or_url), path)
    if path.startswith("/") or ".." in PurePosixPath(path).parts:
        cure = "Name the WACZ files themselves."
        raise BadInput(where, f"the path {path[:100]!a}", "a path below the JSON's folder", cure)
    if is_url(path_or_url):
        return f"{str(path_or_url).rpartition('/')[0]}/{path}"
    return Path(path_or_url).parent / path


@dataclass
class FoundArchives:
    """Archives in the order of the names, within a folder or glob by name; each name once.

    left_out: files of folders that have no archive's name.
    """

    archives: list[PathOrUrl] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def find_archives(names: Iterable[PathOrUrl]) -> FoundArchives:
    """The archives of those names. Raises one BadInput for all that give none."""
    result, names, faults = FoundArchives(), list(names), dict[str, BadInput]()
    for name in names:
        before = len(result.archives) + len(result.left_out)
        try:
            (_of_url if is_url(name) else _of_path)(str(name), result)
            if len(result.archives) + len(result.left_out) == before:
                cure = "Look at the name, and at its quotes."
                raise BadInput(str(name), "no file", f"archives: {NAMES}", cure)
        except BadInput as error:
            faults[error.where] = error
    if faults:
        raise _all_of(faults, result.archives)
    if not result.archives:
        what = (
            f"no archive among its files ({len(result.left_out)}), the first {result.left_out[0]}"
        )
        raise BadInput(
            str(next(iter(names))), what, f"names like {NAMES}", "Name the files themselves."
        )
    result.archives = list(dict.fromkeys(result.archives))
    return result


def _all_of(faults: dict[str, BadInput], others: Sequence[PathOrUrl]) -> BadInput:
    """One error for the names that give nothing, and for files of other names that are missing."""
    for path in others:
        if isinstance(path, Path) and not os.path.lexists(path):
            faults[str(path)] = BadInput(str(path), "no such file", "a WARC or ARC file")
    if len(faults) == 1:
        return next(iter(faults.values()))
    errors = [(where, (of.found, of.expected, of.cure)) for where, of in faults.items()]
    return unreadable(errors, len(faults) + sum(str(path) not in faults for path in others))


def _of_path(name: str, result: FoundArchives) -> None:
    path = Path(name)
    if path.is_dir():
        _of_folder(path, result)
    elif is_multi_wacz(path) and path.is_file():
        result.archives += wacz_files(path)
    elif MAGIC.search(name) and not path.exists():
        for match in sorted(glob.glob(as_pattern(name), recursive=True)):  # noqa: PTH207 (a Path would lose its end)
            if Path(match).is_dir():
                _of_folder(Path(match), result)
            else:
                result.archives.append(Path(match))
    else:  # a file; one that is not there is told by whoever opens it
        result.archives.append(path)


def _of_folder(folder: Path, result: FoundArchives) -> None:
    def refuse(error: OSError) -> None:
        raise BadInput(
            str(error.filename), f"cannot be read ({error.strerror})", "a folder of archives"
        ) from error

    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders.sort()
        for name in sorted(files):
            _sort_out(Path(parent, name), name, result)


def _sort_out(path_or_url: PathOrUrl, name: str, result: FoundArchives) -> None:
    if has_archive_name(name):
        result.archives.append(path_or_url)
    else:
        result.left_out.append(str(path_or_url))


def _of_url(url: str, result: FoundArchives) -> None:
    if is_web(url):
        _of_web(url, result)
        return
    if is_multi_wacz(url) and not MAGIC.search(url):
        result.archives += wacz_files(url)
        return
    if has_archive_name(url.rpartition("/")[2]) and not MAGIC.search(url):
        result.archives.append(url)  # one that is not there is told by whoever opens it
        return
    try:
        filesystem, path = located(url)
    except OSError as error:
        raise _no_listing(url, error) from error
    if _is_file(filesystem, path, url):
        result.archives.append(url)
        return
    magic = MAGIC.search(path)
    parent = path[: magic.start()].rpartition("/")[0] if magic else path.rstrip("/")
    pattern = path.split("/")
    prefix = prefix_of(url)
    for key in _keys_under(filesystem, parent, url):
        if not magic:
            _sort_out(prefix + key, key.rpartition("/")[2], result)
        elif matches(key.split("/"), pattern):
            result.archives.append(prefix + key)


def _of_web(url: str, result: FoundArchives) -> None:
    """A file: web servers list no folders, and may have `*` and `?` in URLs."""
    if is_multi_wacz(url):
        result.archives += wacz_files(url)
    elif name_of(url):
        result.archives.append(url)
    else:
        cure = "Name the archives; many of them in a file, with --archives-from."
        raise BadInput(url, "a folder on the web, which cannot be listed", "a file", cure)


def _is_file(filesystem: Any, path: str, url: str) -> bool:
    from pyarrow import fs

    try:
        with store_errors():
            return (
                not path.endswith("/") and filesystem.get_file_info(path).type == fs.FileType.File
            )
    except OSError as error:
        raise _no_listing(url, error) from error


def _keys_under(filesystem: Any, parent: str, url: str) -> Iterator[str]:
    from pyarrow import fs

    try:
        with store_errors():
            infos: Sequence[Any] = filesystem.get_file_info(
                fs.FileSelector(parent, recursive=True, allow_not_found=True)
            )
    except OSError as error:
        raise _no_listing(url, error) from error
    yield from sorted(info.path for info in infos if info.type == fs.FileType.File)


def _no_listing(url: str, error: OSError) -> BadInput:
    return BadInput(
        url, f"cannot be listed ({str(error).partition(chr(10))[0]})", "archives there",
        STORE_CURE,
    )  # fmt: skip


def matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a path matches a glob, both as lists of names, as `glob` would find it: `*`, `?` and
    `[]` within a name and not at the dot of a hidden one, `**` any folders."""
    if not pattern or not names:
        return not pattern and not names
    if pattern[0] == "**":
        if len(pattern) == 1:
            return not any(name.startswith(".") for name in names)
        below = not names[0].startswith(".") and matches(names[1:], pattern)
        return below or matches(names, pattern[1:])
    hidden = names[0].startswith(".") and not pattern[0].startswith(".")
    return not hidden and fnmatchcase(names[0], pattern[0]) and matches(names[1:], pattern[1:])


LIST = "a list of archives, one a line"
LONGEST = 8192  # bytes of a line
NAMED = 20  # wrong lines that a message names
MAGIC = re.compile(r"[*?\[]")
HEAD = 64  # bytes, by which a file that is no list is known
_BINARY = {*range(32)} - {*b"\t\r\n"}
_GZIP = b"\x1f\x8b"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SHOWN = 100  # characters of a wrong line


def read_list(list_file: PathOrUrl, prefix: str = "") -> list[PathOrUrl]:
    """The paths and URLs in a file, as they are, after the prefix; `-` is standard input. Raises
    BadInput, which names the wrong lines."""
    prefix = complete_prefix(prefix)
    names: list[PathOrUrl] = []
    wrong: list[str] = []
    count = 0
    with list_stream(list_file) as stream:
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
        raise _bad_list(list_file, what, "paths or URLs of archives", "Correct the list.")
    if not names:
        raise _bad_list(list_file, "no line", "paths or URLs of archives, one a line")
    return names


def complete_prefix(prefix: str) -> str:
    """The prefix with the slash at its end. Raises BadInput."""
    if not prefix:
        return ""
    prefix = lower_scheme(prefix) + ("" if prefix.endswith("/") else "/")
    if why := _why_no_url(prefix + "x") if _SCHEME.match(prefix) else "":
        raise BadInput(f"--prefix {prefix}", why, f"a folder, or a URL of {known_schemes()}")
    return prefix


@contextmanager
def list_stream(list_file: PathOrUrl) -> Iterator[io.BufferedReader]:
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
        raise _bad_list(list_file, what, cure="Copy it again.") from error
    except OSError as error:
        what = f"cannot be read ({error.strerror or error})"
        raise _bad_list(list_file, what) from error


def _bad_list(list_file: PathOrUrl, what: str, expected: str = LIST, cure: str = "") -> BadInput:
    return BadInput(archive_name(str(list_file)), what, expected, cure)


def _inflated(file: io.BufferedReader) -> io.BufferedReader:
    if file.peek(2).startswith(_GZIP):
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=file)))
    return file


def _require_list(stream: io.BufferedReader, list_file: PathOrUrl) -> None:
    """Raises BadInput for an archive, or another file that is no text."""
    head = stream.peek(HEAD)[:HEAD]
    formats = (row for row in FORMATS if row.beginnings and head.startswith(row.beginnings))
    if row := next(formats, None):
        what = f"{row.what.partition(',')[0]}, not a list of archives"
        raise _bad_list(list_file, what, cure="Leave out --archives-from, to read it itself.")
    if kind := binary_kind(head):
        raise _bad_list(list_file, f"{kind[0]}, not text", cure="Write the names as text.")
    if len({*head} & _BINARY) > 2:  # one or two may be slips in names
        raise _bad_list(list_file, "bytes that are no text", cure="Write the names as text.")


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
