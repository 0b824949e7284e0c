"""Keys: the canonical form (SURT) of a URI, as the `surt` package gives it, but for one rule.

surt takes `www.`, `www2.` and so on from a host even where only a public suffix is left, so that
the sites www1355544.com and www3288.com are one page, `com)/`. Here a key never loses the domain
that somebody has registered: such a host keeps its `www`.

surt takes 10 to 20 microseconds a URI, and a page has a hundred links. Nearly all URIs need none of
surt's rare rules; here they take about one microsecond. All others go to surt itself. For
`scheme://host:port/path?query` of printable ASCII the key is host, `)`, path, `?`, query, with

  host    lower case, without `www.` or `www2.` (but see above), labels reversed and joined by
          commas, then the port unless it is the scheme's default. It depends on scheme, host and
          port alone, so surt can give the hosts with other rules (addresses), once each
  path    lower case, escapes undone but for those that must stay, one slash for several, no slash
          at the end
  query   lower case, escapes as in the path, arguments ordered by name, then by value; left out if
          empty

surt handles user names, dots in place of names (`/../`), session ids, escapes of escapes,
incomplete escapes, fragments and characters above ASCII. Tests compare the two on real, made and
random URIs.

A public suffix is a name under which others register theirs (`com`, `co.uk`, `blogspot.com`), by
https://publicsuffix.org/list/. The list is that of the release of tldextract that is installed,
which surt brings. It is read as the file that it is, in a hundredth of a second: importing the
package takes a fifth. A name under no listed suffix has its last label as the suffix, which is the
list's rule `*`.

A browser writes the query of a link in the charset of its page (`?q=caf%E9` on a page in Latin-1),
Heritrix and many other crawlers write UTF-8 (`?q=caf%C3%A9`). Which of them made an archive is not
always known; what it has captured tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.machinery import PathFinder
from operator import methodcaller
from pathlib import Path
from typing import Any, Literal, TypeVar

from crawlrank.jobs.kernel.encodings.decoding import REPLACEMENT, decoded

_LIST = ".tld_set_snapshot"


def needs_www(name: str) -> bool:
    """Whether a host that begins with `www.` or `www2.` would lose its registered domain with that:
    what is left is a public suffix, or the host was one, by a rule such as `*.kobe.jp`."""
    return is_public_suffix(name) or is_public_suffix(f"www.{name}")


def is_public_suffix(host: str) -> bool:
    """host: in lower case, as in a URI, without port."""
    if "." not in host:
        return True
    rules = _rules()
    if f"!{host}" in rules:
        return False
    return host in rules or f"*.{host.partition('.')[2]}" in rules


@cache
def _rules() -> frozenset[str]:
    spec = PathFinder.find_spec("tldextract")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("tldextract, which surt needs, is not installed")
    lines = (Path(spec.origin).parent / _LIST).read_text("utf-8").splitlines()
    rules = [line.split()[0] for line in lines if line.strip() and not line.startswith("//")]
    return frozenset(rule if rule.isascii() else _in_ascii(rule) for rule in rules)


def _in_ascii(rule: str) -> str:
    """The rule as hosts of URIs write it; unchanged if it cannot be written so."""
    try:
        return ".".join(label.encode("idna").decode() for label in rule.split("."))
    except UnicodeError:
        return rule


KeyFunction = Callable[[bytes], "bytes | None"]

AnyText = TypeVar("AnyText", str, bytes)
AnyKey = TypeVar("AnyKey")

#: what becomes of a host's `www.`: it is stripped, unless only a public suffix is left; it is kept;
#: it is stripped as surt does it
Www = Literal["strip", "keep", "surt"]

REMEMBERED = 1 << 16  # URIs, as pages of a site repeat its menus; and hosts. About 20 MB
LONGEST = 512

# These expressions see lower case. A host does not end with a colon: surt reads http://http://host/
# as http://host/.
_COMMON = re.compile(r'(https?://[a-z0-9._:-]*[a-z0-9._-])(/[!"$-~]*)').fullmatch
_NAMED = re.compile(
    r"https?://(?![0-9.]+\Z)(www[0-9]*\.)?((?:[a-z0-9_-]+\.)*[a-z0-9_-]+)"
).fullmatch
_DOTS = re.compile(r"/\.\.?(?:/|\Z)").search
_SLASHES = re.compile("/{2,}").sub
_SESSION = re.compile(r"sid=[0-9a-z]{32}|jsessionid=[0-9a-z]{32}|aspsessionid|&cftoken=").search
_BY_NAME = methodcaller("replace", "=", "\0", 1)  # a name sorts before all longer ones


def _escaped(byte: int) -> str:
    """A byte in a key: printable ASCII in lower case; others, and `#` and `%`, stay escaped."""
    character = chr(byte)
    if 0x20 < byte < 0x7F and character not in "#%":
        return character.lower()
    return f"%{byte:02x}"


_ESCAPES = {f"{byte:02x}": _escaped(byte) for byte in range(256) if byte != ord("%")}


class _Uncommon(Exception):
    """The URI needs a rule that only surt has."""


def _unescaped(text: str) -> str:
    """The text with all escapes undone. None is an escaped `%`, so once is enough."""
    head, *rest = text.split("%")
    try:
        return head + "".join([_ESCAPES[part[:2]] + part[2:] for part in rest])
    except KeyError:
        raise _Uncommon from None


def _flattened(path: str) -> str:
    if _DOTS(path) or ("(" in path and ".aspx" in path):  # session ids of ASP.NET are in brackets
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


def www_rule(options: Mapping[str, Any]) -> Www:
    """The rule for `www.` in the parameters of a run."""
    if options.get("--keep-www"):
        return "keep"
    return "surt" if options.get("--surt-exact") else "strip"


def _by_surt(uri: bytes, www: Www) -> bytes | None:
    from crawlrank.jobs.kernel.keys.surt_keys import surt_key  # takes a quarter of a second

    key = surt_key(uri, keep_www=www == "keep")
    if key is None or www != "strip":
        return key
    host = ".".join(reversed(re.split("[):]", key.decode(), maxsplit=1)[0].split(",")))
    return surt_key(uri, keep_www=True) if needs_www(host) else key


class _Cache(dict[AnyText, AnyKey]):
    """The values of a function; emptied when there are `most`. Long arguments are not kept, so that
    no archive can fill the memory."""

    def __init__(self, function: Callable[[AnyText], AnyKey], most: int = REMEMBERED) -> None:
        super().__init__()
        self._function: Callable[[AnyText], AnyKey] = function
        self._most = most

    def __missing__(self, argument: AnyText) -> AnyKey:
        value = self._function(argument)
        if len(argument) <= LONGEST:
            if len(self) >= self._most:
                self.clear()
            self[argument] = value
        return value


def _host_part(origin: str, www: Www) -> str:
    """The key of `scheme://host:port` up to its path; '' where surt gives no such key."""
    if named := _NAMED(origin):
        prefix, name = named.groups("")
        kept = prefix and (www == "keep" or (www == "strip" and needs_www(name)))
        labels = (prefix + name if kept else name).split(".")
        return ",".join(reversed(labels)) + ")"
    key = _by_surt(f"{origin}/".encode(), www) or b""
    return key[:-1].decode() if key.endswith(b")/") else ""


def forgetful_key_function(www: Www) -> KeyFunction:
    """A function like `key_function` that remembers hosts only."""
    hosts = _Cache[str, str](lambda origin: _host_part(origin, www))

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
        return _by_surt(uri, www)

    return key_of


def key_function(www: Www = "strip", remembered: int = REMEMBERED) -> KeyFunction:
    """A function from an http(s) URI to its key, or to None if surt does not accept the URI or the
    key would break a line. remembered: keys, at most."""
    return _Cache(forgetful_key_function(www), remembered).__getitem__


@cache
def shared_key_function(www: Www) -> KeyFunction:
    """A `key_function` of the process."""
    return key_function(www)


key_of = shared_key_function("strip")


#: of pages, by their share of the web of old; GBK is read as GB18030, others are parts of these
CHARSETS = (
    "windows-1252", "shift_jis", "gb18030", "windows-1251", "euc-jp", "euc-kr", "big5",
    "iso-8859-2", "windows-1250", "windows-1254", "windows-1253", "windows-1255", "windows-1256",
    "koi8-r", "windows-874", "iso-8859-15",
)  # fmt: skip
_ESCAPE = re.compile(rb"%([89A-Fa-f][0-9A-Fa-f])")
#: what has such an escape in its query, for expressions of other libraries
BEYOND_ASCII = r"\?.*%[89A-Fa-f][0-9A-Fa-f]"
_has_escapes = re.compile(BEYOND_ASCII.encode()).search


def is_beyond_ascii(uri: bytes) -> bool:
    """Whether the query has escapes of bytes beyond ASCII."""
    return _has_escapes(uri) is not None


def is_foreign(uri: bytes) -> bool:
    """Whether these bytes are no UTF-8."""
    if not is_beyond_ascii(uri):
        return False
    try:
        _query(uri).decode()
    except UnicodeDecodeError:
        return True
    return False


def in_utf_8(uri: bytes) -> Iterator[bytes]:
    """The URI with its query in UTF-8, for each charset that it may be in; each once."""
    head = uri[: uri.index(b"?") + 1]
    texts = dict.fromkeys(decoded(_query(uri), charset) for charset in CHARSETS)
    yield from (head + _percent_escaped(text) for text in texts if REPLACEMENT not in text)


def _query(uri: bytes) -> bytes:
    """The query, with bytes in place of escapes beyond ASCII; other escapes stay."""
    return _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), uri.partition(b"?")[2])


def _percent_escaped(text: str) -> bytes:
    return b"".join(
        char.encode() if char.isascii() else b"".join(b"%%%02X" % byte for byte in char.encode())
        for char in text
    )
