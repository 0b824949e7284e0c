"""References joined to the base of their page: exactly what `uris.resolve` gives, mostly faster.

ada takes some five microseconds a reference, and pages repeat theirs. So what depends on nothing
but the directory of the base (all but `?a`, `#a`, the empty one and odd spellings of these) is
remembered by directory, and what the standard leaves as it stands is joined as text:

  a/b.html?c    behind the directory, or as many above it as there are `../` before; no `:` before
                a `?`, no name that is `.` or `..`, nothing that is escaped
  /a/b.html     likewise, behind scheme and host
  http://a.b/c  likewise, its host of letters, digits and single hyphens, in lower case; or the
                same without scheme

ada gets everything else. Tests compare the two on made and on real references.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from jobs.kernel.uris import LONGEST, parsed, resolve

REMEMBERED = 2**15  # references, some 10 MB; bounded by the next two whatever a page holds
_LONGEST_REFERENCE = 256  # characters
_LONGEST_TARGET = 512  # characters of a directory, bytes of a target

_PATH = r"[A-Za-z0-9_~!$&'()*+,;=@/.%-]*"
_QUERY = r"(?:\?[A-Za-z0-9_~!$&()*+,;=@/.%:?-]*)?"  # browsers escape `'` here
_AS_IT_STANDS = re.compile(_PATH + _QUERY).fullmatch
_DOTS = re.compile(r"(?:\A|/)(?:\.|%2e){1,2}(?:[/?]|\Z)", re.IGNORECASE).search
_ORIGIN = re.compile(  # no `xn--`, and not the end of an address
    r"https?://(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?=[/?]|\Z)"
).match
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
        normal = _absolute(uri) or parsed(uri)
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
        target: Target | None = self._joined(reference)
        kept = target is not None or _OF_DIRECTORY(reference)
        if target is None:
            target = resolve(reference, self._uri, self._charset)
        if kept and _memory.room > 0 and len(target) <= _LONGEST_TARGET:
            _memory.room -= 1
            self._known[reference] = target
        return target

    def targets(self, references: Iterable[str], counters: Counter[str]) -> list[bytes]:
        """Those of many; where there is none, its reason is counted as `dropped.REASON`."""
        known, found = self._known.get, self._found
        joined = [known(reference) or found(reference) for reference in references]
        targets = [target for target in joined if type(target) is bytes]
        if len(targets) < len(joined):
            counters.update(f"dropped.{target}" for target in joined if type(target) is str)
        return targets

    def _joined(self, reference: str) -> bytes | None:
        """The target where text will do; it depends on the directory alone."""
        text, _, fragment = reference.partition("#")
        if not (text and fragment.isascii()):  # lone surrogates are refused
            return None
        if text.startswith("//"):
            return _absolute(self._origin.partition("/")[0] + text)
        if text.startswith("/"):
            return _as_text(self._origin, text)
        if text.startswith(("http://", "https://")):
            return _absolute(text)
        directory = self._directory
        while text.startswith("../"):
            text = text[3:]
            if len(directory) > len(self._origin) + 1:
                directory = directory[: directory.rindex("/", 0, -1) + 1]
        return None if text.startswith(("/", "?")) else _as_text(directory, text)


def _absolute(text: str) -> bytes | None:
    origin = _ORIGIN(text)
    if not origin:
        return None
    rest = text[origin.end() :]
    return _as_text(origin[0], rest if rest.startswith("/") else f"/{rest}")


def _as_text(before: str, rest: str) -> bytes | None:
    """The two together, if the standard leaves the rest, a path and perhaps a query, as it is."""
    if not _AS_IT_STANDS(rest) or (("." in rest or "%2" in rest) and _DOTS(rest)):
        return None
    target = (before + rest).encode()
    return target if len(target) <= LONGEST else None
