"""Archives by path or by URL: opened as streams of bytes that can seek, wherever they are.

A URL is a string that begins with `s3://`, `hdfs://` or `file:///`, the names in it as they are,
without escapes; everything else is a path. In S3, credentials, region and endpoint are found as the
AWS tools find them (AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL, the machine's
role); in HDFS, name nodes and their ways of authentication as Hadoop's own clients find them
(HADOOP_CONF_DIR), which `hdfs:///path` without a host needs.
"""

from __future__ import annotations

import contextlib
import io
import re
import socket
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import quote

from jobs.kernel.errors import BadInput
from jobs.kernel.storage.endless import require_file

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Place = str | Path
S3, HDFS, FILE = SCHEMES = ("s3://", "hdfs://", "file:///")
ANSWER = 10  # seconds
_AT_ONCE = 2**23  # bytes of one request; a reader goes forward, with small steps back


def is_url(where: Place) -> bool:
    return isinstance(where, str) and where.startswith(SCHEMES)


def prefix_of(url: str) -> str:
    """What stands before the paths that its file system lists, `s3://`, `hdfs://host`, `file://`."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://" + (rest.partition("/")[0] if scheme == "hdfs" else "")


def place(where: Place) -> Place:
    """The URL as it is, or the path as a Path."""
    return where if is_url(where) else Path(where)


def open_binary(where: Place) -> BinaryIO:
    """The archive as a stream; the caller closes it. Raises OSError, BadInput for no file."""
    if not is_url(where):
        require_file(where)
        return Path(where).open("rb")
    filesystem, path = located(str(where))
    return cast(BinaryIO, io.BufferedReader(_Remote(filesystem.open_input_file(path)), _AT_ONCE))


def opened(where: Place) -> BinaryIO:
    """The same of an archive that is to be read. Raises BadInput."""
    try:
        return open_binary(where)
    except OSError as error:
        found = f"cannot be read ({error.strerror or error})"
        raise BadInput(str(where), found, "a readable file") from error


def size_of(where: Place) -> int:
    """In bytes. Raises OSError, BadInput for what is no file."""
    if not is_url(where):
        require_file(where)
        return Path(where).stat().st_size
    filesystem, path = located(str(where))
    with store_errors(), filesystem.open_input_file(path) as file:
        return int(file.size())


def modified_of(where: Place) -> int | None:
    """When the archive was written, in ns since 1970; None where a store does not tell. Raises
    OSError."""
    if not is_url(where):
        return Path(where).stat().st_mtime_ns
    filesystem, path = located(str(where))
    with store_errors():
        told = filesystem.get_file_info(path).mtime_ns
    return None if told is None else int(told)


def read_range(url: Place, begin: int, count: int) -> bytes:
    """At most `count` bytes from `begin` on of a file at a URL, no more. Raises OSError."""
    filesystem, path = located(str(url))
    with store_errors(), filesystem.open_input_file(path) as file:
        return bytes(file.read_at(min(count, max(0, int(file.size()) - begin)), begin))


def absolute(where: Place) -> str:
    """As it is found from any folder; a link stays one."""
    return str(where) if is_url(where) else str(Path(where).absolute())


def real(where: Place) -> str:
    """The same for all names of a file."""
    return str(where) if is_url(where) else str(Path(where).resolve())


class _Remote(io.RawIOBase):
    """A file of Arrow, with seeks behind its end allowed, as they are in files of a disk."""

    def __init__(self, file: Any) -> None:
        self._file, self._size = file, int(file.size())
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        self._at = place + (0, self._at, self._size)[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        count = max(0, min(len(view), self._size - self._at))
        data = self._file.read_at(count, self._at) if count else b""
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def located(url: str) -> tuple[Any, str]:
    """(file system of Arrow, path in it). Raises OSError."""
    from pyarrow import ArrowInvalid, fs  # half a second that paths do not need

    if url.startswith(FILE):
        return fs.LocalFileSystem(), url.removeprefix("file://")
    if url.startswith(HDFS):
        return _hdfs(url)
    try:
        found: tuple[Any, str] = fs.FileSystem.from_uri(S3 + quote(url.removeprefix(S3), safe="/"))
    except ArrowInvalid as error:
        raise OSError(str(error)) from error
    return found


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """What a store refuses, as an OSError of one line: clients raise RuntimeError too, and name
    nodes answer with Java's stack."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        said = re.sub(r'^RPCError\("[\w.$]+", "(.*)"\)$', r"\1", str(error), flags=re.S)
        raise OSError(re.split(r"\n|\\n", said)[0]) from error


def _hdfs(url: str) -> tuple[Any, str]:
    """By a client that needs neither Java nor Hadoop's native libraries: Arrow's own needs both."""
    try:
        from hdfs_native.fsspec import HdfsFileSystem
    except ImportError as error:
        raise OSError("hdfs:// needs a package: pip install 'crawlrank[hadoop]'") from error
    from pyarrow import fs

    host, slash, path = url.removeprefix(HDFS).partition("/")
    _reach(host)
    with store_errors():
        client = HdfsFileSystem(host=host) if host else HdfsFileSystem()
    return fs.PyFileSystem(fs.FSSpecHandler(client)), slash + path


@lru_cache
def _reach(host: str) -> None:
    """Where a port is named, at its first use: the client itself would try for three minutes.
    Raises OSError."""
    name, _, port = host.rpartition(":")
    if not (name and port.isdigit()):
        return
    try:
        socket.create_connection((name.strip("[]"), int(port)), ANSWER).close()
    except OSError as error:
        raise OSError(f"no name node answers at {host}: {error.strerror or error}") from error
