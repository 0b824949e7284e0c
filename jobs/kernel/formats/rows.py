"""The rows of the datasets, a type for each. Its fields are the columns of the dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

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
    """The words of a link: the text of its `a`, and of images in it."""

    target: bytes
    source: bytes
    words: bytes


class Capture(NamedTuple):
    """One fetched page; `-` where a field is unknown. kind: response, resource or
    revisit, or index of one that an index tells of.

    via: the URI that Heritrix came from; hops: its way from the seed, a letter a hop. Where asked
    for, the id of its record, and what a revisit refers to: an id, or a URI and its timestamp.
    Where asked for, Last-Modified of its HTTP header as a timestamp, and ETag.
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
