"""A web server on loopback that serves files with ranges, and misbehaves as it is told to."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import re
import ssl
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"
_RANGE = re.compile(r"bytes=([0-9]+)-([0-9]+)")


@dataclass
class Served:
    """A file. before: statuses with headers that are answered first, one a request. ranges: whether
    they are honoured. cut: bytes of a body after which the connection is closed, and how often.
    stall: bytes after which nothing comes, and how often. length: a Content-Length that is a lie.
    drip: seconds between bytes. linger: seconds before the connection ends after such a lie.
    unsized: told no length at all. shift: bytes by which a range is answered beside what was asked.
    then: what the file is from the second request on."""

    data: bytes
    etag: str = '"1"'
    modified: str = MODIFIED
    before: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    ranges: bool = True
    cut: tuple[int, int] = (0, 0)
    stall: tuple[int, int] = (0, 0)
    length: int | None = None
    linger: float = 0.0
    drip: float = 0.0
    unsized: bool = False
    shift: int = 0
    then: Served | None = None


class WebServer:
    """asked: (path, Range or '', the file's name for If-Range or '') of each request."""

    def __init__(self, tls: tuple[Path, Path] | None = None) -> None:
        self.files: dict[str, Served] = {}
        self.asked: list[tuple[str, str, str]] = []
        self.ended = threading.Event()
        web = self

        class Handler(_Handler):
            server_of = web

        self._server = _Server(("127.0.0.1", 0), Handler)
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.scheme = "https" if tls else "http"
        self.port = self._server.server_address[1]

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def put(self, path: str, data: bytes, **options: Any) -> str:
        self.files[path] = Served(data, **options)
        return self.url(path)

    @contextlib.contextmanager
    def running(self) -> Iterator[WebServer]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.ended.set()
            self._server.shutdown()
            self._server.server_close()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may leave when they like."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_of: WebServer

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError, ssl.SSLError):  # a client that has left
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: tests look at `asked`."""

    def do_GET(self) -> None:
        web = self.server_of
        asked, if_range = self.headers.get("Range", ""), self.headers.get("If-Range", "")
        web.asked.append((self.path, asked, if_range))
        path = self.path.partition("?")[0]
        served = web.files.get(path)
        if served is None:
            self._empty(404, {})
            return
        if served.before:
            self._empty(*served.before.pop(0))
            return
        if served.then:
            web.files[path] = served.then
        match = _RANGE.fullmatch(asked) if served.ranges else None
        if match and if_range not in ("", served.etag):
            match = None
        self._file(served, match)

    def _empty(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _file(self, served: Served, match: re.Match[str] | None) -> None:
        data, size = served.data, len(served.data)
        if match:
            begin, end = int(match[1]), min(int(match[2]) + 1, size)
            if begin >= size:
                self._empty(416, {"Content-Range": f"bytes */{size}"})
                return
            data = data[begin:end]
            self.send_response(206)
            shown = f"{begin + served.shift}-{end + served.shift - 1}"
            self.send_header("Content-Range", f"bytes {shown}/{size}")
        else:
            self.send_response(200)
        for name, value in (("ETag", served.etag), ("Last-Modified", served.modified)):
            if value:
                self.send_header(name, value)
        if served.unsized:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            length = len(data) if served.length is None else served.length
            self.send_header("Content-Length", str(length))
        self.end_headers()
        with contextlib.suppress(OSError):
            self._body(served, data)

    def _body(self, served: Served, data: bytes) -> None:
        for name in ("cut", "stall"):
            count, times = getattr(served, name)
            if times and count < len(data):
                setattr(served, name, (count, times - 1))
                self.wfile.write(data[:count])
                self.wfile.flush()
                if name == "stall":
                    self.server_of.ended.wait(600)
                self._end()
                return
        if served.drip:
            for byte in data:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if self.server_of.ended.wait(served.drip):
                    return
            return
        self.wfile.write(data)
        if served.length is not None and served.length != len(data):
            self._end()
            self.server_of.ended.wait(served.linger)

    def _end(self) -> None:
        self.close_connection = True
        self.wfile.flush()


def certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate of 127.0.0.1 and localhost, and its key."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "crawlrank tests")])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "certificate.pem", folder / "key.pem"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return pem, secret
