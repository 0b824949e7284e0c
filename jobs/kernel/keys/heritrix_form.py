"""URIs as Heritrix 3.13 writes them, and the keys under which it looks up their precedence.

Heritrix cuts a URI into scheme, authority, path and query, mends and escapes each, joins them, and
parses the result a second time. It escapes only what browsers escape, and an existing escape stays
unchanged, also in case. The key is the SURT of the string, case kept. The string is not mended for
the key, so a precedence file has to hold forms.

`heritrix_form` runs named steps in Heritrix's order. Most URIs of a crawl skip them, as one
expression recognizes forms. A form is its own form, except where Heritrix is not idempotent itself:
without a host (`HTTP:///a` gives `http:/a`, which it rejects), with an authority that only its
second parser sees, with a `..` after several above the root, and with ports that its steps cannot
read (`http://h:+80/` gives `http://h:80/`, and that gives `http://h/`). Then the form is what
Heritrix makes in one turn.

The second parser of Heritrix makes the final string of a mended URI. It is derived from a general
parser of RFC 2396 and sees the authority in its own way, so it can change the result of the steps
before it: it writes ports as numbers, drops a colon without a port, and takes a path that starts
with two slashes for an authority if there is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from crawlrank.jobs.kernel.keys.idna2003 import NotADomain, domain_to_ascii


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

    The search continues after a `..` that has no parent and never comes back, which is why Heritrix
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


__all__ = [
    "IS_FORM", "MAX_LENGTH", "NOT_OF_THE_WEB", "HeritrixRejects", "heritrix_form", "lookup_key"
]  # fmt: skip

MAX_LENGTH = 2083  # in UTF-16 units, before and after escaping
NO_SCHEME = "no scheme, or a line break in the fragment"
NOT_HTTP = "not an http or https URI"
NOT_OF_THE_WEB = frozenset({NO_SCHEME, NOT_HTTP})  # reasons of URIs that no crawler fetches

_SEGMENT = r"A-Za-z0-9\-~_.*=&+,:;@$!()%|'"
_SAFE = _SEGMENT + "/"  # characters that are not escaped in user info and path
_QUERY_SAFE = _SAFE + r"{}\[\]\^?"

_PRINTABLE = re.compile(r"[!-~]+\Z")

# A URI that is a form already, if it is not too long. jobs/kernel/keys/form_columns.py tests
# whole columns with the same expression by RE2, which has no look-ahead.
_PORT = "[1-9]|[1-79][0-9]|8[1-9]|[1-35-9][0-9]{2}|4[0-35-9][0-9]|44[0-24-9]|[1-9][0-9]{3}"
_NO_DOTS = rf"(?:\.{{0,2}}[{_SEGMENT.replace('.', '')}][{_SEGMENT}]*|\.{{3}}[{_SEGMENT}]*)?"
IS_FORM = (
    rf"https?://[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::(?:{_PORT}))?"  # neither 80 nor 443
    rf"(?:/{_NO_DOTS})+(?:\?[{_QUERY_SAFE}]+)?"  # no segment is `.` or `..`
)
_is_form = re.compile(IS_FORM).fullmatch


def heritrix_form(uri: str) -> str:
    """The http or https URI as Heritrix 3.13 schedules it, logs it and looks it up.

    The form is printable ASCII without blanks. Raises HeritrixRejects with the reason where
    Heritrix rejects the URI, for other schemes, and for the few forms that keep raw characters.
    """
    if len(uri) <= MAX_LENGTH and _is_form(uri):
        return uri
    return _form_by_steps(uri)


def _form_by_steps(uri: str) -> str:
    for mend in WHOLE:
        uri = mend(uri)
    parts = cut(uri)
    for fix in PARTS:
        fix(parts)
    form = reparse(parts.scheme, join(parts))
    if not _PRINTABLE.match(form):
        raise HeritrixRejects("a form with raw characters, which no precedence file can hold")
    return check_length(form)


_SURT = re.compile(
    r"(\w+://)(?:([-\w.!~*'()%;:&=+$,]+)(@))?"
    r"(?:((?:\d{1,3}\.){3}\d{1,3})|(\S+?))(:\d+)?(/\S*)?\Z",
    re.ASCII,
)
_USUAL = re.compile(r"(https?://)((?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*)(/[!-~]*)\Z")
_BLANK = re.compile(r"\s", re.ASCII)


def lookup_key(form: str) -> str:
    """The key of a string in Heritrix's history database: its SURT, case kept.

    `http://(org,example,:8080@user)/path`. Nothing is mended: only forms give keys that a crawl
    looks up. A string without authority, or with a blank, is its own key.
    """
    if usual := _USUAL.match(form):
        scheme, host, path = usual.groups()
        return f"{scheme}({_reversed(host)}){path}"
    return _general_key(form)


def _general_key(form: str) -> str:
    match = None if _BLANK.search(form) else _SURT.match(form)
    if not match:
        return form
    scheme, user, at, address, host, port, path = match.groups("")
    return f"{scheme}({address or _reversed(host)}{port}{at}{user}){path}"


def _reversed(host: str) -> str:
    """`www.example.org` as `org,example,www,`; a dot at the end belongs to the last label."""
    labels = host[:-1].split(".")
    labels[-1] += host[-1]
    return ",".join(reversed(labels)) + ","


# ---- the whole URI ---------------------------------------------------------------------------

_TRIMMED = "".join(map(chr, range(0x21)))
_STRAY_BREAKS = re.compile("[\n\r\t]+")
_MORE_SLASHES = re.compile(rf"\A(https?://)/+({JAVA_DOT}*)\Z")


def check_length(uri: str) -> str:
    if len(uri.encode("utf-16-le", "surrogatepass")) // 2 > MAX_LENGTH:
        raise HeritrixRejects(f"longer than {MAX_LENGTH} characters")
    return uri


def pair_surrogates(uri: str) -> str:
    """Java's strings are UTF-16: two halves that follow each other are one character."""
    if uri.isascii():
        return uri
    return uri.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def blank_for_no_break_space(uri: str) -> str:
    return uri.replace("\xa0", " ")


def strip_ends(uri: str) -> str:
    """Java's trim: blanks and all control characters below them."""
    return uri.strip(_TRIMMED)


def slash_for_backslash(uri: str) -> str:
    before, mark, query = uri.partition("?")
    return before.replace("\\", "/") + mark + query


def drop_stray_breaks(uri: str) -> str:
    return _STRAY_BREAKS.sub("", uri)


def two_slashes_after_scheme(uri: str) -> str:
    return _MORE_SLASHES.sub(r"\1\2", uri, count=1)


WHOLE: tuple[Callable[[str], str], ...] = (
    check_length,
    pair_surrogates,
    blank_for_no_break_space,
    strip_ends,
    slash_for_backslash,
    drop_stray_breaks,
    two_slashes_after_scheme,
)

# ---- its parts -------------------------------------------------------------------------------


@dataclass
class Parts:
    """A URI cut up; authority, path and query are empty where the URI has none."""

    scheme: str
    authority: str
    path: str
    query: str


_REFERENCE = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*):(?P<rest>(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?)"
    rf"(?:#{JAVA_DOT}*)?\Z"
)
_DOMAIN = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?\Z")
_NUMERIC_PORT = re.compile(rf"({JAVA_DOT}*:)([0-9]+)\Z")
_PARENT_OF_ROOT = re.compile(r"\A(?:/\.\./)+")
_UNSAFE = re.compile(f"[^{_SAFE}]")
_QUERY_UNSAFE = re.compile(f"[^{_QUERY_SAFE}]")
_DEFAULT_PORT = {"http": ":80", "https": ":443"}


def cut(uri: str) -> Parts:
    """The parts of an absolute http(s) URI, its fragment dropped."""
    match = _REFERENCE.match(uri)
    if not match:
        raise HeritrixRejects(NO_SCHEME)
    scheme, rest, authority, path, query = match.groups()
    scheme = scheme.lower()
    if scheme not in _DEFAULT_PORT:
        raise HeritrixRejects(NOT_HTTP)
    if not rest.startswith("//") or rest == "//":
        raise HeritrixRejects("no host after the scheme")
    return Parts(scheme, authority or "", path, query or "")


def fix_authority(parts: Parts) -> None:
    """User info escaped, host in lower-case ASCII, the port unchanged."""
    authority = parts.authority
    if not authority:
        return
    while authority.endswith("%20"):
        authority = authority[:-3]
    at = authority.find("@") + 1
    colon = authority.find(":", max(at - 1, 0))
    end = len(authority) if colon < 0 else colon
    host = _fixed_host(authority[at:end])
    parts.authority = _escaped(authority[:at], _UNSAFE) + host + authority[end:]


def _fixed_host(host: str) -> str:
    """Heritrix accepts `_` and `-` anywhere in ASCII names, and labels of any length."""
    if host.isascii():
        if not _DOMAIN.match(host):
            raise HeritrixRejects("not a host name")
        return host.lower()
    try:
        return domain_to_ascii(host).lower()
    except NotADomain as error:
        raise HeritrixRejects(str(error)) from error


def drop_parent_of_root(parts: Parts) -> None:
    parts.path = _PARENT_OF_ROOT.sub("/", parts.path)


def root_for_no_path(parts: Parts) -> None:
    parts.path = parts.path or "/"


def check_port(parts: Parts) -> None:
    """Ports of digits are checked here, all others in `reparse`."""
    match = _NUMERIC_PORT.match(parts.authority)
    if not match:
        return
    port = match[2].lstrip("0")
    if len(port) > 5 or not 0 < int(port or "0") <= 65535:
        raise HeritrixRejects("the port is not one of 1 to 65535")
    parts.authority = match[1] + port


def drop_default_port(parts: Parts) -> None:
    parts.authority = parts.authority.removesuffix(_DEFAULT_PORT[parts.scheme])


def drop_outer_dots(parts: Parts) -> None:
    parts.authority = parts.authority.removesuffix(".").removeprefix(".")


def escape(parts: Parts) -> None:
    parts.path = _escaped(parts.path, _UNSAFE)
    parts.query = _escaped(parts.query, _QUERY_UNSAFE)


def _escaped(text: str, unsafe: re.Pattern[str]) -> str:
    """Escaped as UTF-8, in capital hex digits; half a surrogate pair is `?`, as in Java."""
    if not unsafe.search(text):
        return text
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    return unsafe.sub(lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), text)


PARTS: tuple[Callable[[Parts], None], ...] = (
    fix_authority,
    drop_parent_of_root,
    root_for_no_path,
    check_port,
    drop_default_port,
    drop_outer_dots,
    escape,
)


def join(parts: Parts) -> str:
    """What follows `scheme:`; the second parser may cut it elsewhere."""
    authority = f"//{parts.authority}" if parts.authority else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{authority}{parts.path}{query}"
