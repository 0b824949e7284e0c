"""Keys from the `surt` package itself: slow, but for any URI.

Four of its functions are replaced by functions of linear time, because surt's own take quadratic
time for URIs that a hostile page writes in a few bytes. Each returns what surt's own returns: tests
compare them.
"""

from __future__ import annotations

import importlib
import re
import socket
import sys
import types
import warnings
from types import ModuleType
from urllib.parse import unquote_to_bytes

_CHAINS = re.compile(b"%(?:25)+")
_ID, _TOKEN = b"cfid=", b"&cftoken="
_SCRIPT = b".aspx"


def patch(google: ModuleType, canonicalizer: ModuleType, transformer: ModuleType) -> None:
    """Put the functions in place of those of surt's modules."""
    google.unescapeRepeatedly = unescaped  # type: ignore[attr-defined]
    google.normalizePath = normal_path  # type: ignore[attr-defined]
    in_query, in_path = _without_cf_ids(transformer), _without_path_ids(transformer)
    for module in (canonicalizer, transformer):
        module.stripQuerySessionID = in_query  # type: ignore[attr-defined]
        module.stripPathSessionID = in_path  # type: ignore[attr-defined]


def unescaped(text: bytes | str | None) -> bytes | str | None:
    """The text with escapes undone until nothing is escaped.

    A pass undoes all escapes that are whole, so what is nested takes as many passes as it is deep:
    the logarithm of its length, as a level makes a text three times as long. Only `%2525…` is
    deeper; the order does not matter, so all of it is undone first.
    """
    if isinstance(text, str):
        text = unquote_to_bytes(text)
    while text is not None:
        once = unquote_to_bytes(_CHAINS.sub(b"%", text))
        if once == text:
            break
        text = once
    return text


def normal_path(path: bytes | None) -> bytes:
    """The path without `.`, `..` and empty names, but for an empty one at the end. surt gives None
    for a URI without a path."""
    if not path:
        return b"/"
    kept = list[bytes]()
    for name in path.split(b"/")[1:]:
        if name == b".." and kept:
            kept.pop()
        elif name != b".":
            kept.append(name)
    return b"/" + b"".join([name + b"/" for name in kept[:-1] if name]) + b"".join(kept[-1:])


def _without_cf_ids(transformer: ModuleType) -> object:
    *others, _ = transformer._RES_QUERY_SESSIONID  # the last one is ColdFusion's

    def strip(query: bytes) -> bytes:
        for pattern in others:
            if match := pattern.match(query):
                query = match[1] + (match[2] or b"")
        return without_cf_id(query)

    return strip


def without_cf_id(query: bytes) -> bytes:
    """Remove the last match of surt's `^(.*)(?:cfid=[^&]+&cftoken=[^&]+)(?:&(.*))?$`."""
    small = query.lower()
    token = small.rfind(_TOKEN)
    while token >= 0:
        first = small.rfind(b"&", 0, token) + 1
        end = small.find(b"&", token + 1)
        end = len(query) if end < 0 else end
        begin = small.rfind(_ID, first, max(token - 1, 0))
        if begin >= 0 and end > token + len(_TOKEN):
            return query[:begin] + query[end + 1 :]
        token = small.rfind(_TOKEN, 0, token)
    return query


def _without_path_ids(transformer: ModuleType) -> object:
    own = transformer.stripPathSessionID

    def strip(path: bytes) -> bytes:
        """An id counts before the name of a script, so none after the last one does."""
        last = path.lower().rfind(_SCRIPT)
        if last < 0:
            return path
        end = last + len(_SCRIPT)
        stripped: bytes = own(path[:end])
        return stripped + path[end:]

    return strip


# surt needs this package for public suffixes, which no key has. It imports an HTTP client, which
# takes several times as long to load as surt. So it is loaded when surt first uses it.
_SUFFIXES = "tldextract"
_later = types.ModuleType(_SUFFIXES)
_later.__getattr__ = lambda name: getattr(importlib.import_module(_SUFFIXES), name)  # type: ignore[method-assign]
_loaded = sys.modules.setdefault(_SUFFIXES, _later)
with warnings.catch_warnings():  # about surt's pattern strings, when they are compiled
    warnings.simplefilter("ignore")
    import surt
    from surt import GoogleURLCanonicalizer, IAURLCanonicalizer, URLRegexTransformer
if _loaded is _later:
    del sys.modules[_SUFFIXES]

_PRINTABLE = re.compile(r"[!-?A-~][!-~]*\Z")  # no blank; `@` starts side lines


def _numeric_only(host: bytes) -> tuple[str, list[str], list[str]]:
    """`gethostbyname_ex` for hosts of digits and dots: read by the C library, without look-up."""
    try:
        address = socket.inet_ntoa(socket.inet_aton(host.decode("ascii")))
    except (OSError, UnicodeDecodeError) as error:
        raise socket.gaierror(str(error)) from error
    return host.decode("ascii"), [], [address]


# surt asks the resolver about hosts such as 999.1.2.3; nothing in an archive is ever looked up.
GoogleURLCanonicalizer.socket = types.SimpleNamespace(
    gethostbyname_ex=_numeric_only,
    gaierror=socket.gaierror,
    herror=socket.herror,
    inet_ntoa=socket.inet_ntoa,
)

patch(GoogleURLCanonicalizer, IAURLCanonicalizer, URLRegexTransformer)


def surt_key(uri: bytes, *, keep_www: bool) -> bytes | None:
    """The key of a URI, or None if surt does not accept it or the key would break a line."""
    try:
        key = surt.surt(uri.decode("utf-8", "surrogateescape"), host_massage=not keep_www)
    except (ValueError, AssertionError, AttributeError, TypeError, IndexError):
        return None  # surt validates nothing: these errors of its parts mean "not a URL"
    if not isinstance(key, str) or not _PRINTABLE.match(key):
        return None
    return key.encode("ascii")
