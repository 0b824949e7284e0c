"""Keys as the `surt` package itself gives them: slow, but for any URI."""

from __future__ import annotations

import importlib
import re
import socket
import sys
import types
import warnings

# surt needs it for public suffixes, which no key has; it brings along an HTTP client, which takes
# several times as long to load as all the rest. So it is loaded when surt asks it for something.
_SUFFIXES = "tldextract"
_later = types.ModuleType(_SUFFIXES)
_later.__getattr__ = lambda name: getattr(importlib.import_module(_SUFFIXES), name)  # type: ignore[method-assign]
_loaded = sys.modules.setdefault(_SUFFIXES, _later)
with warnings.catch_warnings():  # surt's own pattern strings, when no compiled file exists yet
    warnings.simplefilter("ignore")
    import surt
    from surt import GoogleURLCanonicalizer
if _loaded is _later:
    del sys.modules[_SUFFIXES]

_PRINTABLE = re.compile(r"[!-?A-~][!-~]*\Z")  # no blank; `@` starts side lines


def _numeric_only(host: bytes) -> tuple[str, list[str], list[str]]:
    """`gethostbyname_ex` for hosts of digits and dots: as the C library reads them, no look-up."""
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


def surt_key(uri: bytes, keep_www: bool) -> bytes | None:
    """The key of a URI, or None when surt cannot take it or the key would break a line."""
    try:
        key = surt.surt(uri.decode("utf-8", "surrogateescape"), host_massage=not keep_www)
    except (ValueError, AssertionError, AttributeError, TypeError, IndexError):
        return None  # surt validates nothing itself: what its parts raise means "not a URL"
    if not isinstance(key, str) or not _PRINTABLE.match(key):
        return None
    return key.encode("ascii")
