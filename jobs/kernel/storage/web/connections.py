"""Connections to web servers. The address of each is checked before a byte is sent to it.

A name may have a public address when it is looked up and a private one a moment later (DNS
rebinding). So the address that was checked is the one that is connected to, and each connection is
checked: those after a redirect, too.

The environment, which all processes of a run share, says what the user allows beyond https:// and
public addresses, and how long a file is read without a record.

http.client reads `100 Continue`, headers, extensions of chunks and trailers to their end, however
many come and however slowly. Here both are bounded, below everything that reads.
"""

from __future__ import annotations

import io
import ipaddress
import os
import socket
import ssl
import time
from functools import lru_cache
from http.client import HTTPResponse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from crawlrank.jobs.kernel.errors import BadInput

ALLOW_PRIVATE, ALLOW_HTTP = "CRAWLRANK_ALLOW_PRIVATE", "CRAWLRANK_ALLOW_HTTP"


def is_allowed(variable: str) -> bool:
    """Whether it is set, and not to ''."""
    return bool(os.environ.get(variable))


#: of reading a file on the web without a record: seconds of waiting, and bytes
WEB_TIME, WEB_BYTES = "CRAWLRANK_WEB_TIME", "CRAWLRANK_WEB_BYTES"
LIMITS = {WEB_TIME: 3 * 60 * 60, WEB_BYTES: 64 * 10**9}


def limit(variable: str) -> int:
    return int(os.environ.get(variable) or LIMITS[variable])


if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SLOWEST = 1 << 10  # bytes in a second; fewer count after twice the time of a stall
BESIDE = 1 << 18  # bytes that are no body, such as headers
FRAMING = 1  # more of them for each byte of the body: chunks may be small


class WireFault(Exception):
    """Too few bytes come, or too many beside the body, so that the answer would never end. Neither
    of urllib3's errors nor an OSError, so that no library takes it for another fault."""


class Answer(HTTPResponse):
    """Raises WireFault, also while its head is read."""

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self._wire = _Wire(self.fp.detach(), 2 * (sock.gettimeout() or 0))
        self.fp = io.BufferedReader(self._wire)

    def read1(self, n: int = -1) -> bytes:
        data = super().read1(n)
        self._wire.body += len(data)
        return data


class _Wire(io.RawIOBase):
    """body: bytes of the body that were taken. slow_after: seconds of waiting over which the rate
    is taken, 0 for no bound; each such time is judged alone."""

    def __init__(self, raw: io.RawIOBase, slow_after: float) -> None:
        self._raw, self._slow_after = raw, slow_after
        self.body = self._all = self._lately = 0
        self._waited = 0.0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        begin = time.monotonic()
        count = self._raw.readinto(buffer)
        self._waited += time.monotonic() - begin
        self._all += count or 0
        self._lately += count or 0
        if self._all > BESIDE + (1 + FRAMING) * self.body + len(memoryview(buffer)):
            raise WireFault(f"more than {BESIDE:,} bytes that are no body")
        if self._slow_after and self._waited > self._slow_after:
            if self._lately < SLOWEST * self._waited:
                raise WireFault(f"fewer than {SLOWEST:,} bytes in a second")
            self._lately, self._waited = 0, 0.0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


BUNDLE = "REQUESTS_CA_BUNDLE"  # a file of certificates; OpenSSL itself reads SSL_CERT_FILE
CONNECTING = 20  # seconds
POOLS, OPEN = 32, 32  # hosts, and connections to each, that are kept for the next request
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class PrivateAddress(Exception):
    """A host has a private address. No error of urllib3, so that its pools let it through."""

    def __init__(self, host: str, address: str) -> None:
        super().__init__(host, address)
        self.host, self.address = host, address


def is_public(text: str) -> bool:
    """Whether an address is one of the public internet. Addresses of IPv6 that stand for one of
    IPv4 are judged by that."""
    address: Address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        address = inner or address
    return address.is_global and not address.is_multicast


class _Checked(HTTPConnection):
    """Connects to one of the addresses that it has checked."""

    response_class = Answer

    def _new_conn(self) -> socket.socket:
        try:
            addresses = _addresses(self._dns_host, self.port)
        except (OSError, UnicodeError) as error:
            raise NameResolutionError(self.host, self, _as_lookup(error)) from error
        fault: OSError | None = None
        for address in addresses:
            try:
                return create_connection(
                    (address, self.port), self.timeout, socket_options=self.socket_options
                )
            except OSError as error:
                fault = error
        if isinstance(fault, TimeoutError):
            raise ConnectTimeoutError(self, f"no connection in {CONNECTING} s") from fault
        raise NewConnectionError(self, str((fault and fault.strerror) or fault)) from fault


class _CheckedHTTPS(_Checked, HTTPSConnection):
    """A checked connection with TLS."""


def _as_lookup(error: Exception) -> socket.gaierror:
    """A name that cannot even be looked up has no address."""
    if isinstance(error, socket.gaierror):
        return error
    return socket.gaierror(socket.EAI_NONAME, str(error))


def _addresses(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises PrivateAddress if one is not public, OSError if there is
    none."""
    infos = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
    if not is_allowed(ALLOW_PRIVATE):
        for address in addresses:
            if not is_public(address):
                raise PrivateAddress(host, address)
    return addresses


class _HttpPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Checked


class _HttpsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _CheckedHTTPS


def manager() -> urllib3.PoolManager:
    """The connections of this process: one that was forked must not use its parent's connections,
    nor those that were made when other things were allowed or trusted. Raises BadInput for a bad
    BUNDLE."""
    trusted = os.environ.get(BUNDLE, ""), os.environ.get("SSL_CERT_FILE", "")
    return _manager(os.getpid(), trusted, is_allowed(ALLOW_PRIVATE))


def forget_connections() -> None:
    """After a fault. A connection that waits for the next request may be one that its server is
    about to end, or may hold more of the last answer than was told. Those in use stay."""
    _manager.cache_clear()


@lru_cache(4)
def _manager(process: int, trusted: tuple[str, str], private: bool) -> urllib3.PoolManager:
    pools = urllib3.PoolManager(
        POOLS,
        maxsize=OPEN,
        retries=False,
        ssl_context=_context(trusted[0]),
    )
    pools.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return pools


def _context(bundle: str) -> ssl.SSLContext:
    """bundle: file or folder of certificates; '' for those of the system or, where it has none, of
    the package certifi."""
    if bundle:
        try:
            if Path(bundle).is_dir():
                return ssl.create_default_context(capath=bundle)
            return ssl.create_default_context(cafile=bundle)
        except OSError as error:
            what = f"cannot be read as certificates ({error.strerror or error})"
            raise BadInput(bundle, what, f"a PEM file, in {BUNDLE}") from error
    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        return ssl.create_default_context()
    import certifi

    return ssl.create_default_context(cafile=certifi.where())
