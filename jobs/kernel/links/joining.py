"""References joined to the base of their page: exactly as `uris.resolve` does it, mostly faster.

ada takes some five microseconds a reference, and pages repeat their references. Most targets depend
on the directory of the base alone (all but those of `?a`, `#a`, the empty reference and odd
spellings of these); they are remembered by directory. A reference that the standard leaves as it is
gets joined as text:

  a/b.html?c    after the directory, or as many above it as there are `../` before; no `:` before
                a `?`, no name that is `.` or `..`, nothing that is escaped
  /a/b.html     the same, after scheme and host
  http://a.b/c  the same, with a host of letters, digits and single hyphens, in lower case; also
                without scheme

All others go to ada. Tests compare the two on made and on real references.

References that are no links are counted by reason, and the first of them kept as examples.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from crawlrank.jobs.kernel.keys.uris import LONGEST, parsed, resolve
from crawlrank.jobs.kernel.links.reference_kinds import kind_of
from crawlrank.jobs.kernel.markup.scanner import Before, References, targets_of

MAX_EXAMPLES, LONGEST_EXAMPLE = 5, 200  # for each reason; characters
Examples = dict[str, list[str]]  # URIs and references as written in the archive, by reason


def count_dropped(reason: str, uri: str, counters: Counter[str], examples: Examples) -> None:
    counters[f"dropped.{reason}"] += 1
    known = examples.setdefault(reason, [])
    if len(known) < MAX_EXAMPLES:
        known.append(uri[:LONGEST_EXAMPLE])


REMEMBERED = 2**16  # references, some 20 MB; the next two bound their sizes
_LONGEST_REFERENCE = 256  # characters
_LONGEST_TARGET = 512  # characters of a directory, bytes of a target

_NAME = r"[A-Za-z0-9_~!$&'()*+,;=@.%-]"
_QUERY = r"(?:\?[A-Za-z0-9_~!$&()*+,;=@/.%:?-]*)?"  # browsers escape `'` here
# Scheme and host, path, query. A fragment does not matter, except that lone surrogates are refused.
# No `xn--`, and no host that ends like an address.
_AS_IT_STANDS = re.compile(
    r"((?:https?:)?//(?:[a-z0-9]+(?:-[a-z0-9]+)*\.)+[a-z]+(?=[/?#]|\Z))?"
    rf"((?:/|{_NAME})*)({_QUERY})(?:#[\x00-\x7f]*)?"
).fullmatch
# More than half of all references. If no slash is followed by a slash or a dot, no name is dots.
_PLAIN = re.compile(r"/?[A-Za-z0-9_~][A-Za-z0-9_~./-]*").fullmatch
_LAST_NAME = re.compile(rf"(?![.%]){_NAME}*{_QUERY.replace('/', '')}").fullmatch
_DOTS = re.compile(r"(?:\A|/)(?:\.|%2e){1,2}(?:/|\Z)", re.IGNORECASE).search
_OF_DIRECTORY = re.compile(r"[/.]|https?://|(?:mailto|javascript|tel):|[A-Za-z0-9_~][^:]*\Z").match

# A reference, or the bytes of a page that it is read from, by a subclass of Base
RawReference = str | bytes
UriOrReason = bytes | str  # as `resolve` returns it: a URI, or the reason why there is none


class _Directory:
    """The directory of a page, its scheme and host, and the targets that depend on it alone."""

    def __init__(self, path: str) -> None:
        self.path, self.origin = path, path[: path.index("/", len("https://"))]
        first = _parent(path, self.origin)
        second = _parent(first, self.origin)
        before = path, self.origin, "", first, second, _parent(second, self.origin)
        self.before = Before([part.encode() for part in before])
        self.known: dict[RawReference, UriOrReason] = {}


class _Directories:
    """Directories by their path without the last slash, and charset; emptied when full."""

    def __init__(self) -> None:
        self._directories: dict[tuple[str, str], _Directory] = {}
        self.known = self._directories.get
        self.room = REMEMBERED

    def of_page(self, page: str, charset: str) -> _Directory:
        """The directory of a page whose URI is written as the standard writes it."""
        path, _, _ = page.partition("?")[0].rpartition("/")
        if self.room <= 0:
            self._directories.clear()
            self.room = REMEMBERED
        directory = self.known((path, charset)) or _Directory(path + "/")
        if len(path) < _LONGEST_TARGET and (path, charset) not in self._directories:
            self._directories[path, charset] = directory
            self.room -= 1
        return directory


_directories = _Directories()


class Base:
    """The URI that references are resolved against: of a page, or of its `<base>`."""

    def __init__(self, uri: str, charset: str = "utf-8") -> None:
        self.uri, self._charset = uri, charset
        self._page: bytes | None
        self._before: Before | None = None  # of a directory, if that is short
        path, _, name = uri.rpartition("/")
        directory = _directories.known((path, charset))
        if directory and len(uri) <= LONGEST and _LAST_NAME(name):
            self._page = uri.encode()
        else:
            normal = _absolute(uri) or parsed(uri)
            if isinstance(normal, str):
                self._page, self._known = None, dict[RawReference, UriOrReason]()
                return
            self._page, directory = normal, _directories.of_page(normal.decode(), charset)
        self._directory, self._known = directory, directory.known
        if len(directory.path) < _LONGEST_TARGET:
            self._before = directory.before

    def join(self, reference: str) -> UriOrReason:
        """The target, as of `resolve(reference, uri, charset)`."""
        target = self._known.get(reference)
        return self._resolved(reference) if target is None else target

    def text(self, reference: RawReference) -> str:
        return str(reference)

    def _resolved(self, reference: RawReference) -> UriOrReason:
        target, kept = self._target(self.text(reference))
        self._remember(reference, target, kept=kept)
        return target

    def _target(self, reference: str) -> tuple[UriOrReason, bool]:
        """The target, and whether it depends on the directory alone."""
        if self._page is None or len(reference) > _LONGEST_REFERENCE:
            return resolve(reference, self.uri, self._charset), False
        if reference.startswith("#") and reference.isascii():
            return self._page, False
        target: UriOrReason | None = self._joined(reference)
        if target is not None:
            return target, True
        kept = _OF_DIRECTORY(reference) is not None
        return resolve(reference, self.uri, self._charset), kept

    def _remember(self, reference: RawReference, target: UriOrReason, *, kept: bool) -> None:
        short = len(target) <= _LONGEST_TARGET and len(reference) <= _LONGEST_TARGET
        if kept and short and _directories.room > 0:
            _directories.room -= 1
            self._known[reference] = target

    def targets(
        self,
        references: Sequence[RawReference] | References,
        counters: Counter[str],
        examples: Examples,
    ) -> list[bytes]:
        """The targets of many references; each reason for none is counted as `dropped.REASON`."""
        return present(self.each(references, counters, examples))

    def targets_and_kinds(
        self,
        references: Sequence[RawReference] | References,
        elsewhere: Base,
        counters: Counter[str],
        examples: Examples,
    ) -> tuple[list[bytes], list[bytes]]:
        """The targets, as of `targets`, with the kind of each reference. elsewhere: the base of the
        page that reference_kinds.py compares with."""
        each = self.each(references, counters, examples)
        return with_kinds(each, elsewhere.each(references, Counter(), {}))

    def each(
        self,
        references: Sequence[RawReference] | References,
        counters: Counter[str],
        examples: Examples,
    ) -> list[bytes]:
        """The target of each reference, b"" where there is none."""
        if type(references) is References and self._page and self._before:
            return self._scanned(references, self._page, self._before, counters, examples)
        known, resolved = self._known.get, self._resolved
        joined = [known(reference) or resolved(reference) for reference in references]
        targets = [target if type(target) is bytes else b"" for target in joined]
        if b"" in targets:
            for reference, target in zip(references, joined, strict=True):
                if isinstance(target, str):
                    count_dropped(target, self.text(reference), counters, examples)
        return targets

    def _scanned(
        self,
        references: References,
        page: bytes,
        before: Before,
        counters: Counter[str],
        examples: Examples,
    ) -> list[bytes]:
        targets, others = targets_of(references, before, page)
        for index, reference in others:
            target = self._known.get(reference) or self._resolved(reference)
            if isinstance(target, bytes):
                targets[index] = target
            else:
                targets[index] = b""
                count_dropped(target, self.text(reference), counters, examples)
        return targets

    def _joined(self, reference: str) -> bytes | None:
        """The target if it can be joined as text; it depends on the directory alone."""
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
            path, before = path[3:], _parent(before, directory.origin)
        if path.startswith("/") or not (path or (climbs and not query)):
            return None
        return _as_text(before, path, query)


def present(targets: list[bytes]) -> list[bytes]:
    """Those of `Base.each` that are there."""
    return [*filter(None, targets)] if b"" in targets else targets


def with_kinds(targets: list[bytes], elsewhere: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """The targets of those of `Base.each` that have one, and the kinds of their references.
    elsewhere: the same of the page elsewhere."""
    kinds = [kind_of(*pair) for pair in zip(targets, elsewhere, strict=True) if pair[0]]
    return [*filter(None, targets)], kinds


def _parent(path: str, origin: str) -> str:
    """The directory above one, which has none above it if it is the host's."""
    return path[: path.rindex("/", 0, -1) + 1] if len(path) > len(origin) + 1 else path


def _with_scheme(host: str, origin: str) -> str:
    return origin.partition("/")[0] + host if host.startswith("/") else host


def _absolute(uri: str) -> bytes | None:
    match = _AS_IT_STANDS(uri)
    if not (match and match[1] and uri.startswith("http")):
        return None
    return _as_text(match[1], match[2] or "/", match[3])


def _as_text(before: str, path: str, query: str) -> bytes | None:
    """The parts joined, if the standard leaves the path as it is."""
    if ("/." in path or path.startswith(".") or "%2" in path) and _DOTS(path):
        return None
    target = f"{before}{path}{query}".encode()
    return target if len(target) <= LONGEST else None
