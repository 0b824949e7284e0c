"""The rows of the datasets, a type for each, and the values of their columns that have a table.

The fields of a type are the columns of the dataset. A hop says what leads from a page to its
target: one letter, of Heritrix 3.0 to 3.13, and C. HOPS is the table of all letters. Methods of
HTTP requests are as records and indexes have them (RFC 9110, 9; RFC 4918).

A capture has the digest of its payload. WARC says what a payload is: the body without its transfer
coding (WARC 1.1, 6.3.2). Many writers digest the body with its chunk marks instead. Servers cut the
same page at other places each time, so such a digest changes where the page does not. A capture
then has two digests with a comma between them: that of the payload, by which captures are compared,
and after it the one that its record states, by which revisits know it.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b32encode
from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple


class Hop(NamedTuple):
    """name: one word or two, of one link. of_many: a name of many, for columns. meaning: what leads
    to the target. counts_as: the hop under which a link counts; '' where it is never an edge."""

    name: str
    of_many: str
    meaning: str
    counts_as: str


CANONICAL_HOP, MANIFEST_HOP, SUBMIT_HOP = "C", "M", "S"
HOPS = {
    "L": Hop("navigation", "links", "what a reader follows", "L"),
    "R": Hop("redirect", "redirects", "redirects and refreshes", "R"),
    "E": Hop("embed", "embeds", "embeds: images, scripts, styles, frames", "E"),
    "X": Hop("guess", "guesses", "guesses and hints: forms, canonical, next", "X"),
    MANIFEST_HOP: Hop("manifest", "manifests", "entries of sitemaps and robots.txt", "L"),
    "I": Hop("inferred", "inferred", "what Heritrix infers, such as favicon.ico", ""),
    "P": Hop("prerequisite", "prerequisites", "what is needed first: robots.txt, DNS", ""),
    SUBMIT_HOP: Hop("form", "submitted forms", "forms that Heritrix submits, to log in", ""),
    CANONICAL_HOP: Hop("canonical address", "canonical", "the page's own address", ""),
}
HERITRIX_HOPS = "".join(letter for letter in HOPS if letter != CANONICAL_HOP)

NAV_HOPS = "LR"  # that `--links nav` keeps
LINK_HOPS = "LREX"  # that may become edges of the graph
NOFOLLOW_HOPS = "LX"  # that a page can ask not to follow
FOLD_HOPS = "R" + CANONICAL_HOP  # that say where else a page is
UNLINKED_HOPS = "".join(letter for letter, hop in HOPS.items() if not hop.counts_as)


OTHER_METHOD = "other"
_REQUEST = re.compile(rb"[\r\n]*([A-Za-z][A-Za-z-]{0,30})[ \t]+(?=([^\r\n]*HTTP/[0-9])?)")
_LONGEST_REQUEST_LINE = 2**14
_METHODS = frozenset({  # of RFC 9110, of WebDAV and what proxies have; others are one
    *("HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "QUERY", "PURGE"),
    *("PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH"),
})  # fmt: skip


def method_of(request: bytes) -> str:
    """The method in the block of a request record, as `method_named`; '' if it is no HTTP
    request."""
    if request.startswith(b"GET "):
        return ""
    line = _REQUEST.match(request[:_LONGEST_REQUEST_LINE])
    method = method_named(line[1].decode()) if line else ""
    return "" if method == OTHER_METHOD and line and not line[2] else method


def method_named(name: str) -> str:
    """The method in capital letters; '' for GET, `other` for what is no method of the table."""
    name = name.strip().upper()
    return "" if name in ("", "-", "GET") else name if name in _METHODS else OTHER_METHOD


SELF_LINKS = "dropped.self-links"
LINKS_WITHOUT_ID = "dropped.links-from-source-without-id"
SOURCES_WITHOUT_ID = "sources-without-id"
MAX_EXAMPLES = 20  # of what a step leaves out, in the manifest


UNKNOWN = b"-"


class Link(NamedTuple):
    """A link as found: absolute URIs without whitespace, and the letter of its hop; where asked
    for, the timestamp of the capture that it was found in, 14 digits, and the kinds of its
    references (links/reference_kinds.py)."""

    target: bytes
    source: bytes
    hop: bytes = b"L"
    timestamp: bytes = UNKNOWN
    reference: bytes = UNKNOWN


class LinkRun(NamedTuple):
    """Links of a page that follow each other, of one hop: nearly all of them. references: the
    kinds of each link, where asked for."""

    targets: list[bytes]
    source: bytes
    hop: bytes = b"L"
    timestamp: bytes = UNKNOWN
    references: list[bytes] | None = None  # may grow until its page is complete

    def links(self) -> Iterator[Link]:
        targets, source, hop, timestamp, references = self
        kinds = [UNKNOWN] * len(targets) if references is None else references
        pairs = zip(targets, kinds, strict=True)
        return (Link(target, source, hop, timestamp, kind) for target, kind in pairs)


class Anchor(NamedTuple):
    """The words of a link: the text of its `a`, and of images in it. timestamp: of the capture of
    its page. Where asked for, the words with those around the link."""

    target: bytes
    source: bytes
    words: bytes
    timestamp: bytes = UNKNOWN
    around: bytes = UNKNOWN


class AnchorRun(NamedTuple):
    """The words of links of a page that follow each other. Some may lack a target or words, or be
    repeated: these are no rows. words, around: those of each link and those around it, as lines in
    UTF-8 that end with a line feed; around may be empty."""

    targets: list[bytes]
    source: bytes
    words: bytes
    timestamp: bytes
    around: bytes = b""

    def anchors(self) -> Iterator[Anchor]:
        around = self.around.split(b"\n") if self.around else repeat(UNKNOWN)
        known = set[tuple[bytes, bytes]]()
        for target, words, near in zip(self.targets, self.words.split(b"\n"), around, strict=False):
            if target and words and (target, words) not in known:
                known.add((target, words))
                yield Anchor(target, self.source, words, self.timestamp, near)


class Capture(NamedTuple):
    """One fetched page; `-` where a field is unknown. kind: response, resource or
    revisit, or index of one that an index tells of.

    via: the URI that Heritrix came from; hops: its way from the seed, a letter a hop. Where asked
    for, the id of its record, and what a revisit refers to: an id, or a URI and its timestamp.
    Where asked for, Last-Modified of its HTTP header as a timestamp, and ETag. Where asked for, the
    title of an HTML page (markup/page_text.py), in which there may be blanks.
    """

    uri: bytes
    timestamp: bytes
    status: bytes
    media_type: bytes
    digest: bytes
    kind: bytes
    archive: bytes
    offset: bytes
    via: bytes = UNKNOWN
    hops: bytes = UNKNOWN
    id: bytes = UNKNOWN
    refers_to: bytes = UNKNOWN
    refers_to_uri: bytes = UNKNOWN
    refers_to_timestamp: bytes = UNKNOWN
    modified: bytes = UNKNOWN
    etag: bytes = UNKNOWN
    title: bytes = UNKNOWN


class CanonicalLink(NamedTuple):
    """A link between keys."""

    target_key: bytes
    source_key: bytes


class UriRow(NamedTuple):
    """One spelling of a key: how often captured, how often linked, when last captured."""

    key: bytes
    uri: bytes
    captures: int
    links: int
    last: bytes


class Fold(NamedTuple):
    """A key that another one stands for. kind: redirect or canonical, by which it leads on; hops:
    how many such steps it is away."""

    key: bytes
    target_key: bytes
    kind: bytes
    hops: int


class InputLink(NamedTuple):
    """A link between keys, with the id of its target."""

    id: bytes
    target_key: bytes
    source_key: bytes


class MapRow(NamedTuple):
    """A node: its id and its key."""

    id: bytes
    key: bytes


class ScoreRow(NamedTuple):
    """A node at the end: its score, its URI and its key."""

    score: float
    uri: bytes
    key: bytes


class HubRow(NamedTuple):
    """A node as a hub: its hub score, and what each of its links adds to the target's score."""

    id: bytes
    hub: float
    gives: float


class GraphLine(NamedTuple):
    """A node of the graph, its score and its targets: ids ascending, or `dummy` alone."""

    id: bytes
    score: float
    targets: list[bytes]


BETWEEN = ","
_LENGTHS = {"md5": 16, "sha1": 20, "sha256": 32, "sha512": 64}  # bytes
_USUAL = "sha1"
_HEX = re.compile("[0-9a-fA-F]*").fullmatch


def with_digest_of(payload: bytes, stated: str) -> str:
    """The digests of a capture. payload: without its transfer coding. stated: by its record, as
    `sha1:…`, or ''. The new one is of the same algorithm and in the same form, by default SHA-1 in
    base 32."""
    name, colon, value = stated.partition(":")
    algorithm = name.strip().lower().replace("-", "")
    if not colon or algorithm not in _LENGTHS:
        name, algorithm, value = _USUAL, _USUAL, ""
    digest = hashlib.new(algorithm, payload, usedforsecurity=False).digest()
    made = f"{name}:{_in_form_of(value.strip(), digest)}"
    return made if stated in ("", made) else f"{made}{BETWEEN}{stated}"


def _in_form_of(value: str, digest: bytes) -> str:
    if len(value) == 2 * len(digest) and _HEX(value):
        return digest.hex().upper() if value.isupper() else digest.hex()
    text = b32encode(digest).decode()
    text = text if value.endswith("=") or not value else text.rstrip("=")
    return text.lower() if value.islower() else text


def digests_in(digests: bytes) -> list[bytes]:
    """The digests of a capture, that of the payload first."""
    return digests.split(BETWEEN.encode())
