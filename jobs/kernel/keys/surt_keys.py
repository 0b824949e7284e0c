"""Keys from the `surt` package itself: slow, but for any URI."""

from __future__ import annotations

import importlib
import re
import socket
import sys
import types
import warnings

from crawlrank.jobs.kernel.keys.surt_linear import patch

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
