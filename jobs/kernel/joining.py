"""References joined to the base of their page: exactly what `uris.resolve` gives, mostly faster.

ada takes some five microseconds a reference, and pages repeat theirs. So what depends on nothing
but the directory of the base (all but `?a`, `#a`, the empty one and odd spellings of these) is
remembered by directory, and what the standard leaves as it stands is joined as text:

  a/b.html?c    no `.` at the beginning of a name, no `:` before a `?`, nothing that is escaped
  /a/b.html     likewise, behind scheme and host
  http://a.b/c  likewise, its host of letters, digits and single hyphens, in lower case

ada gets everything else. Tests compare the two on made and on real references.
"""

from __future__ import annotations

import re

from jobs.kernel.uris import LONGEST, parsed, resolve

REMEMBERED = 2**15  # references, some 10 MB; bounded by the next two whatever a page holds
_LONGEST_REFERENCE = 256  # characters
_LONGEST_TARGET = 512  # characters of a directory, bytes of a target

_PATH = r"[A-Za-z0-9_~!$&'()*+,;=@/.%-]*"
_QUERY = r"(?:\?[A-Za-z0-9_~!$&()*+,;=@/.%:?-]*)?"  # browsers escape `'` here
_REST = rf"({_PATH})({_QUERY})(?:#[\x00-\x7f]*)?"  # lone surrogates are refused
_HOST = r"(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+"  # no `xn--`, and not the end of an address
_RELATIVE = re.compile(rf"(?=[^./#?]){_REST}").fullmatch
_OF_HOST = re.compile(rf"(?=/(?!/)){_REST}").fullmatch
_ABSOLUTE = re.compile(rf"(https?://{_HOST})(?:(?=[/?#]){_REST})?").fullmatch
_ESCAPED_DOT = re.compile("%2e", re.IGNORECASE).search
_OF_DIRECTORY = re.compile(r"[/.]|https?://|[A-Za-z0-9_~][^:]*\Z").match

Target = bytes | str  # as `resolve` returns it: a URI, or the reason why there is none


class _Memory:
    """Targets by directory and charset, then by reference; begins anew when full."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str], dict[str, Target]] = {}
        self.room = REMEMBERED

    def table(self, directory: str, charset: str) -> dict[str, Target]:
        if self.room <= 0:
            self._tables.clear()
            self.room = REMEMBERED
        known = self._tables.get((directory, charset))
        if known is None:
            known = {}
            if len(directory) <= _LONGEST_TARGET:
                self._tables[directory, charset] = known
                self.room -= 1
        return known


_memory = _Memory()


class Base:
    """What references are resolved against: the URI of a page, or what its `<base>` says."""

    def __init__(self, uri: str, charset: str = "utf-8") -> None:
        self._uri, self._charset = uri, charset
        normal = _as_text(_ABSOLUTE(uri), "") or parsed(uri)
        self._page: bytes | None = normal if isinstance(normal, bytes) else None
        if self._page is None:
            self._known: dict[str, Target] = {}
            return
        path = self._page.decode().partition("?")[0]
        self._directory = path[: path.rindex("/") + 1]
        self._origin = path[: path.index("/", len("https://"))]
        self._known = _memory.table(self._directory, charset)

    def join(self, reference: str) -> Target:
        """As `resolve(reference, uri, charset)`."""
        target = self._known.get(reference)
        return self._found(reference) if target is None else target

    def _found(self, reference: str) -> Target:
        if self._page is None or len(reference) > _LONGEST_REFERENCE:
            return resolve(reference, self._uri, self._charset)
        if reference.startswith("#") and reference.isascii():
            return self._page
        target = self._joined(reference) or resolve(reference, self._uri, self._charset)
        if _memory.room > 0 and len(target) <= _LONGEST_TARGET and _OF_DIRECTORY(reference):
            _memory.room -= 1
            self._known[reference] = target
        return target

    def _joined(self, reference: str) -> bytes | None:
        """The target where text will do."""
        if reference.startswith("/"):
            return _as_text(_OF_HOST(reference), self._origin)
        if reference.startswith(("http://", "https://")):
            return _as_text(_ABSOLUTE(reference), "")
        return _as_text(_RELATIVE(reference), self._directory)


def _as_text(match: re.Match[str] | None, before: str) -> bytes | None:
    """What the match of one of the three expressions is as it stands, if it is nothing else."""
    if match is None:
        return None
    *host, path, query = match.groups("")
    if "/." in path or ("%2" in path and _ESCAPED_DOT(path)):
        return None
    target = f"{before}{''.join(host)}{path or '/'}{query}".encode()
    return target if len(target) <= LONGEST else None
