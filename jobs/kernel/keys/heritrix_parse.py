"""The second parser of Heritrix: it makes the final string of a mended URI.

It is derived from a general parser of RFC 2396 and sees the authority in its own way, so it can
change the result of the steps before it: it writes ports as numbers, drops a colon without a port,
and takes a path that starts with two slashes for an authority if there is none.
"""

from __future__ import annotations

import re
import unicodedata


class HeritrixRejects(ValueError):
    """Heritrix makes no URI of this text, or one that no precedence file can hold."""


JAVA_DOT = "[^\n\r\u0085\u2028\u2029]"  # `.` in an expression of Java

_NET_PATH = re.compile(r"//(?=.)([^/?]*)([^?]*)(.*)\Z", re.DOTALL)
_HOST_NAME = re.compile(r"[A-Za-z0-9._-]*\Z")
_REGISTRY_NAME = re.compile(r"[A-Za-z0-9_.!~*'()%$,;:@&=+-]*\Z")


def reparse(scheme: str, rest: str) -> str:
    """The final string of `scheme:rest`, where rest is escaped and has no fragment."""
    match = _NET_PATH.match(rest)
    if not match:
        path, mark, query = rest.partition("?")
        return f"{scheme}:{without_dot_segments(path)}{mark}{query}"
    authority, path, query = match.groups()
    return f"{scheme}://{authority_of_server(authority)}{without_dot_segments(path)}{query}"


def authority_of_server(authority: str) -> str:
    """`user@host:port`, the port as a number; raises HeritrixRejects."""
    start = authority.find("@") + 1
    opening = authority.find("[", start)
    if opening >= 0:
        end = authority.find("]", start) + 1
        if not end:
            raise HeritrixRejects("a bracket without its end in the authority")
    else:
        colon = authority.find(":", start)
        end = len(authority) if colon < 0 else colon
        if not _HOST_NAME.match(authority, start, end):
            if not _REGISTRY_NAME.match(authority):
                raise HeritrixRejects("a sign in the authority that cannot be there")
            return authority
    port = _port(authority[end + 1 :]) if authority[end : end + 1] == ":" else -1
    return authority[:end] if port == -1 else f"{authority[:end]}:{port}"


def _port(text: str) -> int:
    """-1 where none is given: an empty port, and -1 itself."""
    if not text:
        return -1
    port = java_int(text)
    if port is None:
        raise HeritrixRejects("the port is not a number")
    return port


def java_int(text: str) -> int | None:
    """The result of Java's Integer.parseInt: a sign, decimal digits of any script, 32 bit. None
    where it throws NumberFormatException."""
    sign, digits = (text[:1], text[1:]) if text[:1] in ("-", "+") else ("", text)
    if not digits or any(c > "\uffff" or unicodedata.decimal(c, None) is None for c in digits):
        return None
    significant = "".join(str(unicodedata.decimal(c)) for c in digits).lstrip("0")
    if len(significant) > 10:
        return None
    number = int(sign + (significant or "0"))
    return number if -(2**31) <= number < 2**31 else None


def without_dot_segments(path: str) -> str:
    """The path without `.` and `..`, as far as Heritrix removes them; empty segments count."""
    while "/./" in path:
        path = path.replace("/./", "/")
    if path.endswith("/."):
        path = path[:-1]
    return _above_root_dropped(_parents_resolved(path)) if "/.." in path else path


def _parents_resolved(path: str) -> str:
    """The path without each `/x/..`, removed from left to right.

    The search goes on behind a `..` that has no parent and never comes back, which is why Heritrix
    leaves the last `..` in `/../../a/../b`.
    """
    start = 0
    while (at := path.find("/../", start)) >= 0:
        parent = path.rfind("/", 0, at)
        if parent < 0:
            start = at + 3
        else:
            path = path[:parent] + path[at + 3 :]
    if path.endswith("/.."):
        parent = path.rfind("/", 0, len(path) - 3)
        path = path[: parent + 1] if parent >= 0 else path
    return path


def _above_root_dropped(path: str) -> str:
    while path.startswith("/../"):
        path = path[3:]
    return "/" if path == "/.." else path
