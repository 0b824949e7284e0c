"""Requests for bytes of a file on a web server, through redirects, until it answers for good.

A fault that may pass (429, 5xx, a connection that breaks or stalls) is tried ATTEMPTS times in a
row, after 1, 2, 4 … seconds, or after what the server asks for with Retry-After. Progress in
between begins the count anew.
"""

from __future__ import annotations

import email.utils
import os
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from http.client import responses
from typing import NamedTuple, NoReturn
from urllib.parse import urljoin, urlsplit

from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationParseError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
    TimeoutError,
)
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout

from crawlrank.jobs.kernel.errors import Unreachable, count_of
from crawlrank.jobs.kernel.storage.web.connections import (
    ALLOW_HTTP,
    BUNDLE,
    CONNECTING,
    WEB_BYTES,
    WEB_TIME,
    PrivateAddress,
    WireFault,
    forget_connections,
    is_allowed,
    limit,
    manager,
)

ATTEMPTS = 5
FIRST_WAIT = 1.0  # seconds
STALLED = 60  # seconds without a byte
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is left alone
PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
AGAIN_LATER = "Run the command again later; a run keeps what is finished."
FILE = "a file that can be read"
_UNPRINTABLE = re.compile(r"[^ -~]")


def printable_url(url: str) -> str:
    """The URL for messages: without its query, which may have a key, and control characters; not
    too long. pipeline/terminal/text.py masks whole texts alike."""
    shown = re.sub(r"([?#]).+", r"\1***", url[:500], flags=re.S)
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], shown)


def unreachable(url: str, what: str, expected: str = FILE, cure: str = "") -> Unreachable:
    return Unreachable(printable_url(url), what, expected, cure)


def of_status(url: str, status: int) -> Unreachable:
    """The error of a status that does not pass."""
    what = named(status)
    if status in (404, 410):
        return unreachable(url, what, "a file there", "Look at the URL.")
    if status in (401, 403, 407):
        cure = "Look at the URL; crawlrank sends no password."
        return unreachable(url, what, "a file that anybody may read", cure)
    return unreachable(url, what, "status 200 or 206", "Look at the URL, or download the file.")


def named(status: int) -> str:
    return f"HTTP status {status} {responses.get(status, '')}".rstrip()


class Patience:
    """Counts faults of one file in a row, and waits after each. stalled: seconds without a byte
    that are a fault."""

    def __init__(self, url: str, stalled: float = STALLED) -> None:
        self.stalled = stalled
        self._url, self._faults, self._since = url, 0, 0.0
        self.record_read()

    def progressed(self) -> None:
        self._faults = 0

    def record_read(self) -> None:
        """Time and bytes count anew."""
        self._seconds, self._bytes = 0.0, 0

    @contextmanager
    def spending(self) -> Iterator[Callable[[int], None]]:
        """While a server is waited for; is told the bytes that came. Raises Unreachable after the
        time or the bytes that WEB_TIME and WEB_BYTES allow without a record."""
        begin = time.monotonic()
        try:
            yield self._take
        finally:
            self._spend(time.monotonic() - begin)

    def _take(self, count: int) -> None:
        self._bytes += count

    def _spend(self, seconds: float) -> None:
        self._seconds += seconds
        if self._seconds > (most := limit(WEB_TIME)):
            what, option = f"no record in {most:,} s", "--web-time"
        elif self._bytes > (most := limit(WEB_BYTES)):
            what, option = f"no record in {count_of(most, 'byte')}", "--web-bytes"
        else:
            return
        cure = f"Look at the file, or allow more with {option}."
        raise unreachable(self._url, what, "an archive", cure)

    def failed(self, fault: str, wait: float | None = None, cause: Exception | None = None) -> None:
        """Wait before the next attempt. wait: as the server asks. Raises Unreachable after the last
        attempt, and for too long a wait."""
        now = time.monotonic()
        self._since = self._since if self._faults else now
        self._faults += 1
        if wait is not None and wait > LONGEST_WAIT:
            what = f"{fault}; the server asks to wait for {wait:,.0f} s"
            raise unreachable(self._url, what, FILE, AGAIN_LATER) from cause
        if self._faults >= ATTEMPTS:
            what = f"{fault} ({ATTEMPTS} times in a row, within {now - self._since:.0f} s)"
            raise unreachable(self._url, what, FILE, AGAIN_LATER) from cause
        wait = FIRST_WAIT * 2 ** (self._faults - 1) if wait is None else wait
        time.sleep(wait)
        self._spend(wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait; None if it does not, or not in a form that is known."""
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    if not value:
        return None
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())


REDIRECTS = 10
ENDED = "the connection ended"
_MOVED = frozenset({301, 302, 303, 307, 308})
_RANGE = re.compile(r"bytes (?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")


class FileAnswer(NamedTuple):
    """begin: of the first byte of the body in the file. end: after the last, None if unknown.
    size: of the file, None if unknown. etag, modified: as the server writes them, or ''."""

    response: BaseHTTPResponse
    begin: int
    end: int | None
    size: int | None
    etag: str = ""
    modified: str = ""


def ask(url: str, begin: int, end: int, patience: Patience, etag: str = "") -> FileAnswer:
    """The bytes of a file from begin to end, or all of it where the server refuses ranges; no byte
    after the end of the file. etag: of the file before, if it has a strong one.

    The caller closes the response. Raises Unreachable.
    """
    headers = {
        "Range": f"bytes={begin}-{end - 1}",
        "Accept-Encoding": "identity",
        "User-Agent": "crawlrank",
        **({"If-Range": etag} if etag else {}),
    }
    while True:
        response = _redirected(url, headers, patience)
        if response.status in (200, 206, 416):
            try:
                return _answer(url, response, begin)
            except BaseException:
                response.close()
                raise
        response.close()
        if response.status not in PASSING:
            raise of_status(url, response.status)
        patience.failed(named(response.status), retry_after(response.headers))


def _redirected(url: str, headers: dict[str, str], patience: Patience) -> BaseHTTPResponse:
    """The answer that is no redirect."""
    target = url
    for _ in range(REDIRECTS + 1):
        response = _request(url, target, headers, patience)
        location = response.headers.get("Location", "")
        if response.status not in _MOVED or not location:
            return response
        response.close()
        target = _joined(url, target, location)
        _require_scheme(url, target)
    raise unreachable(url, f"more than {REDIRECTS} redirects", cure="Look at the URL.")


def _joined(url: str, target: str, location: str) -> str:
    try:
        return urljoin(target, location)
    except ValueError as error:  # such as an address of IPv6 without its end
        what = f"redirects to {printable_url(location)[:100]}, which cannot be read as a URL"
        raise unreachable(url, what, "a URL", "Look at where it leads.") from error


def _require_scheme(url: str, target: str) -> None:
    scheme = target.partition(":")[0].lower()
    if scheme == "https" or (scheme == "http" and is_allowed(ALLOW_HTTP)):
        return
    if target == url:
        what, cure = "is not encrypted", "Write https://, or give --allow-http."
        raise unreachable(url, what, "https://", cure)
    cure = "Look at where it leads."
    if scheme == "http":
        cure += " --allow-http follows it."
    raise unreachable(url, f"redirects to {printable_url(target)}", "a URL of https://", cure)


def require_web_url(url: str) -> None:
    """Raises Unreachable for a URL that cannot be asked for."""
    _require_scheme(url, url)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise unreachable(url, "no host in it", "https://HOST/PATH", "Look at the URL.")
    if parts.username is not None:
        shown = url.replace(parts.netloc, parts.netloc.rpartition("@")[2], 1)
        what = "a user's name or password in the URL"
        raise unreachable(shown, what, "a URL without", "Download the file, and name that.")


def _request(
    url: str, target: str, headers: dict[str, str], patience: Patience
) -> BaseHTTPResponse:
    """The answer of a server, whatever its status. url: for messages."""
    timeout = Timeout(connect=CONNECTING, read=patience.stalled)
    while True:
        try:
            with patience.spending():
                return manager().request(
                    "GET", target, headers=headers, redirect=False, preload_content=False,
                    decode_content=False, timeout=timeout,
                )  # fmt: skip
        except PrivateAddress as error:
            what = f"the host {printable_url(error.host)} has the private address {error.address}"
            cure = "If you trust it, give --allow-private."
            raise unreachable(url, what, "a public address", cure) from error
        except (HTTPError, OSError, WireFault) as error:
            forget_connections()
            patience.failed(fault_of(url, error, patience), cause=error)


def fault_of(url: str, error: Exception, patience: Patience) -> str:
    """What has failed, in words. Raises Unreachable for what will not pass."""
    if isinstance(error, WireFault):
        return str(error)
    if isinstance(error, SSLError):
        _refuse_certificate(url, error)
    if isinstance(error, LocationParseError):
        raise unreachable(url, "cannot be read as a URL", "https://HOST/PATH") from error
    if isinstance(error, NameResolutionError):
        lookup = error.__cause__
        if not (isinstance(lookup, socket.gaierror) and lookup.errno == socket.EAI_AGAIN):
            what, cure = "no address of its host is known", "Look at the URL."
            raise unreachable(url, what, "a host", cure) from error
        return "its host cannot be looked up now"
    if isinstance(error, NewConnectionError):
        return "no connection to its host"
    if isinstance(error, ConnectTimeoutError):
        return f"no connection in {CONNECTING} s"
    if isinstance(error, TimeoutError):
        return f"no byte in {patience.stalled} s"
    return ENDED


def _refuse_certificate(url: str, error: SSLError) -> NoReturn:
    words = re.sub(r"\s*\(_ssl\.c:[0-9]+\)", "", str(error.args[0] if error.args else error))
    # a bundle takes the place of the certificates that OpenSSL would find
    bundle = f"the file of {BUNDLE} (as that is set, SSL_CERT_FILE does not count)"
    where = bundle if os.environ.get(BUNDLE) else f"{BUNDLE} or SSL_CERT_FILE"
    cure = f"If you trust it, name its certificate in {where}."
    what = f"TLS failed ({printable_url(words)[:150]})"
    raise unreachable(url, what, "a server whose certificate is trusted", cure) from error


def _answer(url: str, response: BaseHTTPResponse, begin: int) -> FileAnswer:
    headers = response.headers
    etag, modified = headers.get("ETag", ""), headers.get("Last-Modified", "")
    if response.status == 200:
        length = headers.get("Content-Length", "")
        size = int(length) if _LENGTH.fullmatch(length) else None
        return FileAnswer(response, 0, size, size, etag, modified)
    match = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
    size = int(match[3]) if match and match[3] != "*" else None
    if response.status == 416 and size is not None and begin >= size:
        return FileAnswer(response, size, size, size, etag, modified)
    if not match or match[1] is None or int(match[1]) != begin or int(match[2]) < begin:
        what = f"other bytes than those asked for ({headers.get('Content-Range', 'none')[:60]!a})"
        raise unreachable(url, what, f"Content-Range: bytes {begin}-…", "Download the file.")
    if size is None:
        what = "a range of a file whose size the server does not tell"
        raise unreachable(url, what, "the size in Content-Range", "Download the file.")
    return FileAnswer(response, begin, min(int(match[2]) + 1, size), size, etag, modified)
