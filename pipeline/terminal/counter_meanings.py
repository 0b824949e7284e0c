"""What the counters of steps count, in plain words, for whoever reads them in a table.

The names are those of the manifest and of JSON; jobs/kernel/captures/counters.py lists those of
extraction.
"""

from __future__ import annotations

from crawlrank.jobs.kernel.archive.damage import REASONS
from crawlrank.jobs.kernel.formats.rows import HOPS, NAV_HOPS

DROPPED, METHOD = "dropped.", "method."
#: reason of dropped links and captures -> what was left out
_DROPPED = {
    "duplicate": "again on the same page",
    "nofollow": "links that ask not to be followed",
    "over-limit": "pages with more links than are kept",
    "base": "bases of pages, which Heritrix lists like links",
    "html-tail": "pages cut at the longest size that is read",
    "srcdoc": "documents in srcdoc, and shadow roots, that are nested too deeply or cut",
    "encoding": "documents in encodings that browsers do not read",
    "css-tail": "style sheets cut at the longest size that is read",
    "feed-tail": "feeds cut at the longest size that is read",
    "sitemap-tail": "sitemaps cut at the longest size that is read",
    "robots-tail": "robots.txt cut at the longest size that is read",
    "invalid": "no URI can be made of it",
    "too-long": "longer than 8,192 bytes",
    "scheme.data": "data: URIs",
    "scheme.javascript": "javascript: URIs",
    "scheme.mailto": "mail addresses",
    "scheme.other": "other schemes than http and https",
    "scheme.dns": "look-ups of hosts",
    "scheme.ftp": "files of FTP servers",
    "scheme.ftps": "files of FTP servers",
    "scheme.whois": "registrations of hosts",
    "scheme.screenshot": "pictures of pages",
    "scheme.thumbnail": "pictures of pages",
    "scheme.urn": "added by crawls with a browser: pictures and texts of pages",
    "no-uri": "lines of a sitemap in text that are no URIs",
    "known": "captures that an index tells of, and an archive or another index too",
    "json": "feeds in JSON that cannot be read, or are too large",
    "unread.html": "bodies that look like HTML, and have another type",
    "unread.svg": "bodies that look like SVG, and have another type",
    "unread.xml": "bodies that look like XML, and have another type",
    "request.unmatched": "requests of HEAD, POST and the like, whose answer is not near them",
    "self-links": "links of a page to itself",
    "links-from-source-without-id": "links of pages without rank, as no page links to these;"
    " --nodes all ranks them",
}
#: what else steps count: the name, or its beginning where a value follows -> the meaning
_COUNTED = {
    "archives": "archives read",
    "indexes": "of these, indexes of captures",
    "bytes": "bytes of records, decompressed",
    "captures": "captures of pages",
    "captures.status.": "by the answer of the server",
    "captures.type.": "by media type",
    "captures.": "by kind of record",
    "records.": "by kind",
    "pages.": "documents read for links, by kind",
    "links.from.": "by where they stand",
    "metadata.used": "metadata records whose links are used",
    "metadata.unmatched": "metadata records of captures that are not here",
    "flagged.nofollow": "links that ask not to be followed, repeated ones too",
    "skipped.pdf.": "PDFs that were not read",
    "wat": "records that a WAT describes",
    "sources-without-id": "pages with links that no page links to, so without rank",
    "anchors": "elements `a` with words, also those that lead to no page",
    "canonical_links": "pairs of keys, each once",
    "uris": "spellings of pages",
    "keys": "different pages",
    "map": "pages with an id",
    "nodes": "pages with an id",
    "edges": "links between two pages with ids, each pair once",
    "dangling": "pages without links to others",
    "damage": "damaged places",
    "precedence": "lines of the precedence file",
}


def meaning_of(name: str) -> str:
    """What a counter counts; empty where its name is plain."""
    if name.startswith(DROPPED):
        return _of_dropped(name.removeprefix(DROPPED))
    if name.startswith("damage."):
        return REASONS.get(name.removeprefix("damage."), "")
    if name.startswith("links.") and name.removeprefix("links.") in HOPS:
        return HOPS[name.removeprefix("links.")].meaning
    if name in _COUNTED:
        return _COUNTED[name]
    return next(
        (text for key, text in _COUNTED.items() if key[-1] == "." and name.startswith(key)), ""
    )


def _of_dropped(reason: str) -> str:
    what, _, rest = reason.partition(".")
    if what in ("capture", "metadata"):
        kind = "captures" if what == "capture" else "metadata"
        if rest.startswith(METHOD):
            return f"{kind}: answers to {rest.removeprefix(METHOD)}, no pages that GET gives"
        return f"{kind}: {_DROPPED.get(rest, rest)}"
    if what == "hop":
        return _of_hop(rest)
    return _DROPPED.get(reason, "")


def _of_hop(letter: str) -> str:
    if letter not in HOPS:
        return "links of a kind that Heritrix does not have"
    kept = "" if letter in NAV_HOPS else ": kept with --links all"
    return HOPS[letter].meaning + (kept if HOPS[letter].counts_as else ": never links")
