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

from jobs.kernel.keys.uris import LONGEST, parsed, resolve
from jobs.kernel.links.dropped import Examples, count_dropped

REMEMBERED = 2**16  # references, some 20 MB; bounded by the next two whatever a page holds
_LONGEST_REFERENCE = 256  # characters
_LONGEST_TARGET = 512  # characters of a directory, bytes of a target

_NAME = r"[A-Za-z0-9_~!$&'()*+,;=@.%-]"
_QUERY = r"(?:\?[A-Za-z0-9_~!$&()*+,;=@/.%:?-]*)?"  # browsers escape `'` here
# Scheme and host, path, query. What is behind `#` does not matter, but for lone surrogates, which
# are refused. No `xn--`, and no host that ends like an address.
_AS_IT_STANDS = re.compile(
    r"((?:https?:)?//(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?=[/?#]|\Z))?"
    rf"((?:/|{_NAME})*)({_QUERY})(?:#[\x00-\x7f]*)?"
).fullmatch
# More than half of all, where no slash is followed by another or by a dot: then no name is dots.
_PLAIN = re.compile(r"/?[A-Za-z0-9_~][A-Za-z0-9_~./-]*").fullmatch
_LAST_NAME = re.compile(rf"(?![.%]){_NAME}*{_QUERY.replace('/', '')}").fullmatch
_DOTS = re.compile(r"(?:\A|/)(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE).search
_OF_DIRECTORY = re.compile(r"[/.]|https?://|[A-Za-z0-9_~][^:]*\Z").match

Target = bytes | str  # as `resolve` returns it: a URI, or the reason why there is none


class _Directory:
    """The directory of a page, its scheme and host, and targets that depend on no more."""

    def __init__(self, path: str) -> None:
        self.path, self.origin = path, path[: path.index("/", len("https://"))]
        self.known: dict[str, Target] = {}


class _Memory:
    """Directories by their path without the last slash, and charset; begins anew when full."""

    def __init__(self) -> None:
        self._directories: dict[tuple[str, str], _Directory] = {}
        self.known = self._directories.get
        self.room = REMEMBERED

    def of_page(self, page: str, charset: str) -> _Directory:
        """That of a page that is written as the standard writes it."""
        path, _, _ = page.partition("?")[0].rpartition("/")
        if self.room <= 0:
            self._directories.clear()
            self.room = REMEMBERED
        directory = self.known((path, charset)) or _Directory(path + "/")
        if len(path) < _LONGEST_TARGET and (path, charset) not in self._directories:
            self._directories[path, charset] = directory
            self.room -= 1
        return directory


_memory = _Memory()


class Base:
    """What references are resolved against: the URI of a page, or what its `<base>` says."""

    def __init__(self, uri: str, charset: str = "utf-8") -> None:
        self._uri, self._charset = uri, charset
        self._page: bytes | None
        path, _, name = uri.rpartition("/")
        directory = _memory.known((path, charset))
        if directory and len(uri) <= LONGEST and _LAST_NAME(name):
            self._page = uri.encode()
        else:
            normal = _absolute(uri) or parsed(uri)
            if isinstance(normal, str):
                self._page, self._known = None, dict[str, Target]()
                return
            self._page, directory = normal, _memory.of_page(normal.decode(), charset)
        self._directory, self._known = directory, directory.known

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

    def targets(
        self, references: list[str], counters: Counter[str], examples: Examples
    ) -> list[bytes]:
        """Those of many; where there is none, its reason is counted as `dropped.REASON`."""
        known, found = self._known.get, self._found
        joined = [known(reference) or found(reference) for reference in references]
        targets = [target for target in joined if type(target) is bytes]
        if len(targets) < len(joined):
            for reference, target in zip(references, joined, strict=True):
                if isinstance(target, str):
                    count_dropped(target, reference, counters, examples)
        return targets

    def _joined(self, reference: str) -> bytes | None:
        """The target where text will do; it depends on the directory alone."""
        directory = self._directory
        if (
            _PLAIN(reference)
            and not ("/." in reference or "//" in reference)
            and len(directory.path) < _LONGEST_TARGET
        ):
            before = directory.origin if reference[0] == "/" else directory.path
            return (before + reference).encode()
        match = _AS_IT_STANDS(reference)
        if not match:
            return None
        host, path, query = match.groups()
        if host:
            return _as_text(_with_scheme(host, directory.origin), path or "/", query)
        if path.startswith("/"):
            return None if path.startswith("//") else _as_text(directory.origin, path, query)
        before = directory.path
        climbs = path.startswith("../")
        while path.startswith("../"):
            path = path[3:]
            if len(before) > len(directory.origin) + 1:
                before = before[: before.rindex("/", 0, -1) + 1]
        if path.startswith("/") or not (path or (climbs and not query)):
            return None
        return _as_text(before, path, query)


def _with_scheme(host: str, origin: str) -> str:
    return origin.partition("/")[0] + host if host.startswith("/") else host


def _absolute(uri: str) -> bytes | None:
    match = _AS_IT_STANDS(uri)
    if not (match and match[1] and uri.startswith("http")):
        return None
    return _as_text(match[1], match[2] or "/", match[3])


def _as_text(before: str, path: str, query: str) -> bytes | None:
    """All together, if the standard leaves the path as it is."""
    if ("/." in path or path.startswith(".") or "%2" in path) and _DOTS(path):
        return None
    target = f"{before}{path}{query}".encode()
    return target if len(target) <= LONGEST else None
