"""Files by path or URL: opened as streams of bytes that can seek, wherever they are.

A URL is a string that begins with `s3://`, `hdfs://` or `file:///`, without escapes, or with
`https://` or `http://`, with escapes; everything else is a path. Credentials, region and endpoint
of S3 come from where AWS tools have them (AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_REGION,
AWS_ENDPOINT_URL, the machine's role). Name nodes and authentication of HDFS come from where
Hadoop's clients have them (HADOOP_CONF_DIR); `hdfs:///path` without a host needs that. What may be
read from the web is in web/connections.py.

Files that are no text are known by the bytes they begin with, so that a message can say what they
are.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast
from urllib.parse import quote, unquote

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.machine.extras import cure_of, packages_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PathOrUrl = str | Path
S3, HDFS, FILE = SCHEMES = ("s3://", "hdfs://", "file:///")
WEB = ("https://", "http://")  # read only, and files only
ANSWER = 10  # seconds
_AT_ONCE = 2**23  # bytes of one request; a reader goes forward, with small steps back
_AT_ONCE_WEB = 2**20  # bytes; further ones come in the same answer
#: error of curl, by which S3 is read -> what it means
_CURL = {
    "6": "the host of the store has no known address",
    "7": "nothing answers at the host of the store",
    "28": "the host of the store does not answer in time",
    "35": "TLS failed with the host of the store",
    "60": "the certificate of the host of the store is not trusted",
}
STORE_CURE = "Look at bucket or host, credentials, region and endpoint."
_ENDLESS = {stat.S_IFCHR: "a device", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
CURE = "Write what it gives to a file, and name that."


def is_url(path_or_url: PathOrUrl) -> bool:
    return isinstance(path_or_url, str) and path_or_url.startswith((*SCHEMES, *WEB))


def lower_scheme(text: str) -> str:
    """A URL with its scheme in lower case, by which it is known here; other text as it is."""
    scheme, sign, rest = text.partition("://")
    url = scheme.lower() + sign + rest
    return url if is_url(url) else text


def known_schemes() -> str:
    """The known schemes, for messages."""
    return f"{WEB[0]}, {', '.join(SCHEMES[:-1])} or {SCHEMES[-1]}"


def is_web(path_or_url: PathOrUrl) -> bool:
    return isinstance(path_or_url, str) and path_or_url.startswith(WEB)


def name_of(path_or_url: PathOrUrl) -> str:
    """The name of a file without its folder; on the web, without query and escapes, too."""
    text = str(path_or_url)
    if is_web(path_or_url):
        text = unquote(re.split(r"[?#]", text)[0])
    return text.rpartition("/")[2]


def require_file(path: str | os.PathLike[str], expected: str = "a file", cure: str = CURE) -> None:
    """Raises BadInput for a device, pipe or socket: it may never end, or wait for a writer.

    A missing path or a folder is left to the caller that opens it. Disks, which end, and /dev/null,
    which is empty, pass.
    """
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return
    kind = _ENDLESS.get(stat.S_IFMT(status.st_mode))
    if kind and not (kind == "a device" and Path(os.devnull).stat().st_rdev == status.st_rdev):
        raise BadInput(str(path), kind, expected, cure)


def prefix_of(url: str) -> str:
    """The prefix of paths that its file system lists: `s3://`, `hdfs://host`, `file://`."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://" + (rest.partition("/")[0] if scheme == "hdfs" else "")


def as_path_or_url(path_or_url: PathOrUrl) -> PathOrUrl:
    """The URL, with its scheme in lower case, or the path as a Path."""
    text = lower_scheme(str(path_or_url)) if isinstance(path_or_url, str) else path_or_url
    return text if is_url(text) else Path(path_or_url)


def local_path(path_or_url: PathOrUrl) -> Path:
    """The path, also of a `file:///` URL."""
    return Path(str(path_or_url).removeprefix("file://"))


def open_binary(path_or_url: PathOrUrl) -> BinaryIO:
    """A stream, which the caller closes. Raises OSError, BadInput for a device, pipe or socket, and
    Unreachable, also later, for a file on the web."""
    if not is_url(path_or_url):
        require_file(path_or_url)
        return Path(path_or_url).open("rb")
    if is_web(path_or_url):
        from crawlrank.jobs.kernel.storage.web.bodies import (
            WebFile,  # as its library takes time to load
        )

        return cast(BinaryIO, io.BufferedReader(WebFile(str(path_or_url)), _AT_ONCE_WEB))
    filesystem, path = located(str(path_or_url))
    return cast(BinaryIO, io.BufferedReader(_Remote(filesystem.open_input_file(path)), _AT_ONCE))


def opened(path_or_url: PathOrUrl) -> BinaryIO:
    """Open a file to read. Raises BadInput for any error."""
    try:
        return open_binary(path_or_url)
    except OSError as error:
        message = f"cannot be read ({error.strerror or error})"
        raise BadInput(str(path_or_url), message, "a readable file") from error


def size_of(path_or_url: PathOrUrl) -> int:
    """The size in bytes. Raises as `open_binary`."""
    if not is_url(path_or_url):
        require_file(path_or_url)
        return Path(path_or_url).stat().st_size
    if is_web(path_or_url):
        from crawlrank.jobs.kernel.storage.web.bodies import WebFile, facts_of

        size = facts_of(str(path_or_url)).size
        return WebFile(str(path_or_url)).size() if size is None else size
    filesystem, path = located(str(path_or_url))
    with store_errors(), filesystem.open_input_file(path) as file:
        return int(file.size())


def size_to_read(path: PathOrUrl) -> int:
    """The size in bytes; 0 for a file that cannot be read."""
    try:
        return size_of(path)
    except (BadInput, OSError):
        return 0


def modified_of(path_or_url: PathOrUrl) -> int | None:
    """When the file was written, in ns since 1970; None if the store does not know. Raises
    OSError."""
    if not is_url(path_or_url):
        return Path(path_or_url).stat().st_mtime_ns
    if is_web(path_or_url):
        from crawlrank.jobs.kernel.storage.web.bodies import facts_of

        return facts_of(str(path_or_url)).modified
    filesystem, path = located(str(path_or_url))
    with store_errors():
        modified = filesystem.get_file_info(path).mtime_ns
    return None if modified is None else int(modified)


def read_range(url: PathOrUrl, begin: int, count: int) -> bytes:
    """At most `count` bytes of a file at a URL, from `begin` on. Raises as `open_binary`."""
    if is_web(url):
        from crawlrank.jobs.kernel.storage.web.bodies import range_of

        return range_of(str(url), begin, count)
    filesystem, path = located(str(url))
    with store_errors(), filesystem.open_input_file(path) as file:
        return bytes(file.read_at(min(count, max(0, int(file.size()) - begin)), begin))


def absolute(path_or_url: PathOrUrl) -> str:
    """Valid from any folder. Links stay links."""
    return str(path_or_url) if is_url(path_or_url) else str(Path(path_or_url).absolute())


def real(path_or_url: PathOrUrl) -> str:
    """A string that is equal for all names of a file."""
    return str(path_or_url) if is_url(path_or_url) else str(Path(path_or_url).resolve())


class _Remote(io.RawIOBase):
    """A file of Arrow that can seek after its end, as files of a disk can."""

    def __init__(self, file: Any) -> None:
        self._file, self._size = file, int(file.size())
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        self._at = position + (0, self._at, self._size)[whence]
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
    if is_web(url):
        raise OSError("only archives and lists of them are read from the web")
    from pyarrow import ArrowInvalid, fs  # takes half a second, and paths do not need it

    if url.startswith(FILE):
        return fs.LocalFileSystem(), url.removeprefix("file://")
    if url.startswith(HDFS):
        return _hdfs(url)
    try:
        location = fs.FileSystem.from_uri(S3 + quote(url.removeprefix(S3), safe="/"))
    except (ArrowInvalid, OSError) as error:
        raise OSError(_fault_of_store(str(error))) from error
    return cast(tuple[Any, str], location)


@contextlib.contextmanager
def store_errors() -> Iterator[None]:
    """Errors of a store as an OSError of one line: clients raise RuntimeError too, and name nodes
    answer with a stack trace of Java."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        message = re.sub(r'^RPCError\("[\w.$]+", "(.*)"\)$', r"\1", str(error), flags=re.S)
        raise OSError(_fault_of_store(message)) from error


def _fault_of_store(message: str) -> str:
    """The message of a store's client in one line; of connections that fail in plain words."""
    line = re.split(r"\n|\\n", message)[0]
    if not (code := re.search(r"curlCode: ([0-9]+)", line)):
        return line
    return _CURL.get(code[1], f"no connection to the host of the store (error {code[1]} of curl)")


def _hdfs(url: str) -> tuple[Any, str]:
    """The file system and path of a URL. Its client needs no Java and no native libraries of
    Hadoop."""
    try:
        from hdfs_native.fsspec import HdfsFileSystem
    except ImportError as error:
        names = " and ".join(re.split(r"[^\w-]", name)[0] for name in sorted(packages_of("hadoop")))
        what = f"hdfs:// is read with {names}; `{error.name}` is missing"
        raise BadInput(url, what, "these packages", cure_of("hadoop")) from error
    from pyarrow import fs

    host, slash, path = url.removeprefix(HDFS).partition("/")
    _reach(host)
    with store_errors():
        client = HdfsFileSystem(host=host) if host else HdfsFileSystem()
    return fs.PyFileSystem(fs.FSSpecHandler(client)), slash + path


@lru_cache
def _reach(host: str) -> None:
    """Raises OSError if nothing answers at the port of a host that names one: the client itself
    would try for three minutes."""
    import socket

    name, _, port = host.rpartition(":")
    if not (name and re.fullmatch("[0-9]{1,5}", port) and int(port) < 1 << 16):
        return
    try:
        socket.create_connection((name.strip("[]"), int(port)), ANSWER).close()
    except OSError as error:
        raise OSError(f"no name node answers at {host}: {error.strerror or error}") from error


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
