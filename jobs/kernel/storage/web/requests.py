"""Requests for bytes of a file on a web server, through redirects, until it answers for good."""

from __future__ import annotations

import os
import re
import socket
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

from crawlrank.jobs.kernel.storage.web.allowed import ALLOW_HTTP, is_allowed
from crawlrank.jobs.kernel.storage.web.connections import (
    BUNDLE,
    CONNECTING,
    PrivateAddress,
    forget_connections,
    manager,
)
from crawlrank.jobs.kernel.storage.web.faults import (
    PASSING,
    Patience,
    named,
    of_status,
    printable_url,
    retry_after,
    unreachable,
)
from crawlrank.jobs.kernel.storage.web.wire import WireFault

REDIRECTS = 10
ENDED = "the connection ended"
_MOVED = frozenset({301, 302, 303, 307, 308})
_RANGE = re.compile(r"bytes (?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")


class FileAnswer(NamedTuple):
    """begin: of the first byte of the body in the file. end: behind the last, None if unknown.
    size: of the file, None if unknown. etag, modified: as the server writes them, or ''."""

    response: BaseHTTPResponse
    begin: int
    end: int | None
    size: int | None
    etag: str = ""
    modified: str = ""


def ask(url: str, begin: int, end: int, patience: Patience, etag: str = "") -> FileAnswer:
    """The bytes of a file from begin to end, or all of it where the server refuses ranges; no byte
    behind the end of the file. etag: of the file before, if it has a strong one.

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
