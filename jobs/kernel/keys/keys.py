"""Keys: the canonical form (SURT) of a URI, exactly as the `surt` package gives it.

surt takes 10 to 20 microseconds a URI, and a crawl has a hundred links a page. Here the URIs that
need none of its rare rules, nearly all, take about one; any other goes to surt itself. For
`scheme://host:port/path?query` of printable ASCII the key is host, `)`, path, `?`, query, with

  host    lower case, without `www.` or `www2.`, labels turned round and joined by commas, then the
          port unless it is the scheme's own. It depends on scheme, host and port alone, so that
          hosts with other rules (addresses, say) come from surt, once each
  path    lower case, escapes undone but for those that must stay, runs of slashes made one, no
          slash at the end
  query   lower case, escapes likewise, arguments ordered by name, then by value; left out if empty

Left to surt: user names, dots in place of names (`/../`), session ids, escapes of escapes, escapes
cut short, fragments, what is not ASCII. Tests compare the two on real, made and random URIs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import methodcaller
from typing import TypeVar

KeyFunction = Callable[[bytes], "bytes | None"]

Given = TypeVar("Given", str, bytes)
Made = TypeVar("Made")

REMEMBERED = 1 << 16  # URIs, as pages of a site repeat its menus, and hosts: about 20 MB
LONGEST = 512

# All of these see lower case. No colon ends a host: surt reads http://http://host/ as http://host/.
_COMMON = re.compile(r'(https?://[a-z0-9._:-]*[a-z0-9._-])(/[!"$-~]*)').fullmatch
_NAMED = re.compile(
    r"https?://(?![0-9.]+\Z)(www[0-9]*\.)?((?:[a-z0-9_-]+\.)*[a-z0-9_-]+)"
).fullmatch
_DOTS = re.compile(r"/\.\.?(?:/|\Z)").search
_SLASHES = re.compile("/{2,}").sub
_SESSION = re.compile(r"sid=[0-9a-z]{32}|jsessionid=[0-9a-z]{32}|aspsessionid|&cftoken=").search
_BY_NAME = methodcaller("replace", "=", "\0", 1)  # a name sorts before all longer ones


def _escaped(byte: int) -> str:
    """A byte in a key: as it is, in lower case, if printable ASCII; `#` and `%` would change it."""
    character = chr(byte)
    if 0x20 < byte < 0x7F and character not in "#%":
        return character.lower()
    return f"%{byte:02x}"


_ESCAPES = {f"{byte:02x}": _escaped(byte) for byte in range(256) if byte != ord("%")}


class _Uncommon(Exception):
    """The URI needs a rule that only surt has."""


def _unescaped(text: str) -> str:
    """Without an escaped `%` among them, undoing all escapes once leaves none to undo again."""
    head, *rest = text.split("%")
    try:
        return head + "".join([_ESCAPES[part[:2]] + part[2:] for part in rest])
    except KeyError:
        raise _Uncommon from None


def _flattened(path: str) -> str:
    if _DOTS(path) or ("(" in path and ".aspx" in path):  # ASP.NET writes session ids in brackets
        raise _Uncommon
    return _SLASHES("/", path)


def _ordered(query: str) -> str:
    if ("id" in query or "&cf" in query) and _SESSION(query):
        raise _Uncommon
    if "&" not in query:
        return query
    arguments = query.split("&")
    arguments.sort(key=_BY_NAME)
    return "&".join(arguments)


def _by_surt(uri: bytes, keep_www: bool) -> bytes | None:
    from jobs.kernel.keys.surt_keys import (
        surt_key,  # a quarter of a second, which small tasks can save
    )

    return surt_key(uri, keep_www)


class _Memory(dict[Given, Made]):
    """Remembers what was made of what; begins anew when full, and forgets long things at once, so
    that no archive can fill the memory."""

    def __init__(self, make: Callable[[Given], Made]) -> None:
        super().__init__()
        self._make: Callable[[Given], Made] = make

    def __missing__(self, given: Given) -> Made:
        made = self._make(given)
        if len(given) <= LONGEST:
            if len(self) >= REMEMBERED:
                self.clear()
            self[given] = made
        return made


def _host_part(origin: str, keep_www: bool) -> str:
    """`scheme://host:port` as the key has it, up to its path; empty where surt makes no such."""
    if named := _NAMED(origin):
        www, name = named.groups("")
        labels = (www + name if keep_www else name).split(".")
        return ",".join(reversed(labels)) + ")"
    key = _by_surt(f"{origin}/".encode(), keep_www) or b""
    return key[:-1].decode() if key.endswith(b")/") else ""


def forgetful_key_function(keep_www: bool) -> KeyFunction:
    """As `key_function`, but remembers hosts only."""
    hosts = _Memory[str, str](lambda origin: _host_part(origin, keep_www))

    def key_of(uri: bytes) -> bytes | None:
        match = _COMMON(uri.lower().decode("latin-1"))
        try:
            if match and (host := hosts[match[1]]):
                path, _, query = match[2].partition("?")
                if "%" in path:
                    path = _unescaped(path)
                if "//" in path or "/." in path or "(" in path:
                    path = _flattened(path)
                if path[-1] == "/" and path != "/":
                    path = path[:-1]
                if not query:
                    return (host + path).encode()
                if "%" in query:
                    query = _unescaped(query)
                return f"{host}{path}?{_ordered(query)}".encode()
        except _Uncommon:
            pass
        return _by_surt(uri, keep_www)

    return key_of


def key_function(keep_www: bool) -> KeyFunction:
    """A function from an http(s) URI to its key, or to None when surt cannot take the URI or the
    key would break a line. keep_www: `www.` and `www2.` stay a part of the host."""
    return _Memory(forgetful_key_function(keep_www)).__getitem__


key_of = key_function(keep_www=False)
key_keeping_www = key_function(keep_www=True)
