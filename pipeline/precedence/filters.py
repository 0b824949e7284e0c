"""Which pages of a ranking to take: conditions, a row of SELECTORS each.

A condition is SQL on the columns of a page (score_formats.py), so that DuckDB decides it for
columns at once, in whatever memory there is. Values of one option are alternatives; a page has to
meet all options. `top` then takes the best of what is left. Filters take pages: they never change
the class or the position of one, which all pages decide together.

Patterns are RE2's (https://github.com/google/re2/wiki/Syntax): they take time in proportion to the
URI whatever the pattern, so that none can hang, and know no look-around and no back-references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from crawlrank.jobs.kernel.keys.keys import Www, key_function

#: names of media types: what --type takes beside `major/minor` and `major/*`
TYPES = {
    "html": ("text/html", "application/xhtml+xml"),
    "pdf": ("application/pdf", "application/x-pdf"),
    "css": ("text/css",),
    "script": (
        "text/javascript", "application/javascript", "application/x-javascript",
        "text/ecmascript", "application/ecmascript",
    ),
    "json": ("application/json", "application/ld+json", "text/json"),
    "xml": ("text/xml", "application/xml"),
    "feed": ("application/rss+xml", "application/atom+xml", "application/rdf+xml"),
    "font": ("font/*", "application/font-woff", "application/x-font-ttf"),
    "image": ("image/*",),
    "audio": ("audio/*",),
    "video": ("video/*",),
    "text": ("text/plain",),
}  # fmt: skip
_STATUS = re.compile(r"([0-9])xx|([0-9]{3})(?:-([0-9]{3}))?", re.ASCII | re.IGNORECASE)
_MEDIA = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)", re.ASCII)
DETAILS = ("status", "types")  # that only captures tell
OF_WORK = (*DETAILS, "min_links", "linked_from", "around", "new_since")  # that need a finished run


class PageFilters(NamedTuple):
    """What to take, as a user has written it; see SELECTORS. top: the number of the best to take,
    or None. around: URIs. new_since: the work folder of an earlier run."""

    captured: bool = False
    not_captured: bool = False
    min_links: int | None = None
    linked_from: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    new_since: Path | None = None
    status: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    match: str | None = None
    top: int | None = None

    @property
    def any(self) -> bool:
        return self != PageFilters()


class Filter(NamedTuple):
    """One option. condition: SQL that is true for the pages to take."""

    option: str
    condition: str


def quoted(text: str) -> str:
    """A string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _captured(filters: PageFilters, www: Www) -> str:
    return "captures > 0" if filters.captured else ""


def _not_captured(filters: PageFilters, www: Www) -> str:
    return "captures = 0"


def _min_links(filters: PageFilters, www: Www) -> str:
    return f"links_in >= {filters.min_links}"


def _linked(filters: PageFilters, www: Www) -> str:
    """linked: a table of the keys to which these hosts link, which open_pages makes."""
    return "key IN (SELECT key FROM linked)"


def _around(filters: PageFilters, www: Www) -> str:
    """around: a table of the keys of these pages and their neighbours, which open_pages makes."""
    return "key IN (SELECT key FROM around)"


def _new(filters: PageFilters, www: Www) -> str:
    """earlier: a table of the keys that the earlier run knows, which open_pages makes."""
    return "key NOT IN (SELECT key FROM earlier)"


def status_condition(words: Iterable[str]) -> str:
    """The condition for `200`, `3xx`, `400-499`, with commas between them. A page without a status
    in its captures counts as 200, as its links do. Raises ValueError."""
    ranges = []
    for word in _words(words):
        match = _STATUS.fullmatch(word)
        hundreds, first, last = match.groups() if match else (None, None, None)
        begin = int(hundreds) * 100 if hundreds else int(first or -1)
        end = begin + 99 if hundreds else int(last or begin)
        if not match or end < begin:
            raise ValueError(f"{word!r} is no status such as 200, 3xx or 400-499")
        ranges.append(f"coalesce(status, 200) BETWEEN {begin} AND {end}")
    return f"captures > 0 AND ({_either(ranges)})"


def type_condition(words: Iterable[str]) -> str:
    """The condition for names in TYPES and media types. Raises ValueError."""
    parts = []
    for word in _words(words):
        lowered = word.lower()
        patterns = TYPES.get(lowered) or ((lowered,) if _MEDIA.fullmatch(lowered) else None)
        if patterns is None:
            known = ", ".join(TYPES)
            raise ValueError(f"{word!r} is no media type such as text/html or image/*, nor {known}")
        for pattern in patterns:
            major, star, _ = pattern.partition("*")
            same = f"starts_with(media_type, {quoted(major)})"
            parts.append(same if star else f"media_type = {quoted(pattern)}")
    return _either(parts)


def host_condition(words: Iterable[str], www: Www) -> str:
    """The condition for `example.org`, and for `.example.org` or `*.example.org` for that host and
    all below it. Without a port, all ports; with 80 or 443 the usual one of http or https. The host
    is that of the key, so `www.` in front says nothing unless keys keep it. Raises ValueError."""
    key_of, parts = key_function(www), []
    for word in _words(words):
        below = word.startswith((".", "*."))
        name = word.removeprefix("*").removeprefix(".")
        if name.count(":") > 1 and name[0] != "[":  # an address of IPv6, as lists of hosts show it
            name = f"[{name}]"
        key = None if re.search(r"[\s/?#@*]", name) else key_of(f"http://{name}/".encode())
        part, end, rest = (key or b"").decode().partition(")")
        if not part or not end or rest != "/":
            raise ValueError(f"{word!r} is no host such as example.org or *.example.org")
        host, port = part, None
        if written := re.search(r":[0-9]+$", name):
            host = re.sub(r":[0-9]+$", "", part)
            port = "" if written[0] in (":80", ":443") else written[0]
        ends = (")", ":") if port is None else (f"{port})",)
        parts += [f"starts_with(key, {quoted(host + each)})" for each in ends]
        if below:
            parts.append(_below(host, port))
    return _either(parts)


def _below(host: str, port: str | None) -> str:
    """The condition for hosts below one. port: as keys have it, '' for the usual ones of http and
    https; None for all."""
    below, ports = f"starts_with(key, {quoted(host + ',')})", "split_part(key, ')', 1)"
    if port is None:
        return below
    has = f"suffix({ports}, {quoted(port)})" if port else f"NOT contains({ports}, ':')"
    return f"({below} AND {has})"


def match_condition(pattern: str) -> str:
    """The condition for a pattern that a part of the URI has. Raises ValueError for one that RE2
    refuses."""
    import duckdb

    try:
        duckdb.execute("SELECT regexp_matches('', $pattern)", {"pattern": pattern}).fetchall()
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0].partition("Error: ")[2]
        raise ValueError(f"{pattern!r} is no pattern of RE2 ({reason})") from error
    return f"regexp_matches(url, {quoted(pattern)})"


#: option -> its field, and its condition; also the order in which they are counted
SELECTORS: dict[str, tuple[str, Callable[[PageFilters, Www], str]]] = {
    "--captured": ("captured", _captured),
    "--not-captured": ("not_captured", _not_captured),
    "--min-links": ("min_links", _min_links),
    "--linked-from": ("linked_from", _linked),
    "--around": ("around", _around),
    "--new-since": ("new_since", _new),
    "--status": ("status", lambda filters, _: status_condition(filters.status)),
    "--type": ("types", lambda filters, _: type_condition(filters.types)),
    "--host": ("hosts", lambda filters, www: host_condition(filters.hosts, www)),
    "--match": ("match", lambda filters, _: match_condition(filters.match or "")),
}


def conditions(filters: PageFilters, *, www: Www = "strip") -> list[Filter]:
    """A row for each option that was given, `top` apart. Raises ValueError for what an option
    cannot have."""
    rows = []
    for option, (field, condition) in SELECTORS.items():
        value = getattr(filters, field)
        if value or (field == "match" and value is not None):
            values = ",".join(value) if isinstance(value, tuple) else str(value)
            shown = "" if value is True else f" {values}"
            rows.append(Filter(option + shown, condition(filters, www)))
    return rows


def _words(values: Iterable[str]) -> list[str]:
    words = [word.strip() for value in values for word in value.split(",")]
    if not all(words):
        raise ValueError("a value is empty")
    return words


def _either(parts: Iterable[str]) -> str:
    return " OR ".join(parts) if parts else "false"
