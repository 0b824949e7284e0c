"""What holds of the sections of a partition (packed_graph.py), checked before loops go by them.

A checksum tells damaged lines; these tell sections that do not belong together. One pass over the
indices of a section, less than a tenth of the loop that goes by them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.rank.packing import CURE, Array, Arrays, Where

EXPECTED = "sections of one partition of one graph"


def check_outgoing(where: Where, linking: Arrays, outgoing: Arrays, partitions: int) -> None:
    """What a partition sends. Raises BadInput."""
    with _Checking(where) as require:
        links, counts = len(linking["degrees"]), outgoing["counts"]
        require("degrees above 0", _integers(linking) and bool(linking["degrees"].all()))
        require("types of outgoing", _integers(outgoing))
        require("partitions", len(outgoing["lengths"]) == partitions)
        require("outgoing numbers", int(outgoing["lengths"].sum()) == len(counts))
        require("outgoing edges", _edges(outgoing, links))


def check_inside(
    where: Where, linking: Arrays, local: Arrays, outgoing: Arrays, groups: int
) -> None:
    """A partition's own edges, and its groups; after `check_outgoing`. Raises BadInput."""
    with _Checking(where) as require:
        links, own = len(linking["degrees"]), len(linking["groups"])
        first, dangling = linking["first_group"], linking["dangling"]
        require("groups", len(first) == 1 and int(first[0]) + own <= groups)
        require("groups that dangle", len(dangling) == own)
        require("linking nodes", int(linking["groups"].sum()) == links)
        require("types of local", _integers(local))
        require("nodes", len(local["counts"]) == links + int(dangling.sum()))
        require("local edges", _edges(local, links))
        require("groups of numbers", len(outgoing["groups"]) == groups)
        require("numbers", int(outgoing["groups"].sum()) == len(outgoing["counts"]))
        edges = len(local["sources"]) + len(outgoing["sources"])
        require("degrees", int(linking["degrees"].sum(dtype=np.int64)) == edges)


def check_incoming(where: Where, incoming: Arrays, nodes: int, partitions: int) -> None:
    """What a partition gets. Raises BadInput."""
    with _Checking(where) as require:
        rows, lengths = incoming["rows"], incoming["lengths"]
        require("types of incoming", _integers(incoming))
        require("partitions", len(lengths) == partitions)
        require("incoming numbers", int(lengths.sum()) == len(rows))
        require("incoming rows", not len(rows) or int(rows.max()) < nodes)


def check_teleport(where: Where, teleport: Arrays, nodes: int) -> None:
    """How often a reader starts at each node. Raises BadInput."""
    with _Checking(where) as require:
        weights = teleport["weights"]
        require("type of weights", weights.dtype == np.float64)
        require("weights", len(weights) == nodes and bool((weights >= 0).all()))


def check_lines(
    where: Where, nodes: Arrays, local: Arrays, outgoing: Arrays, targets: Arrays
) -> None:
    """What lines of a graph are made of again. Raises BadInput."""
    with _Checking(where) as require:
        degrees, links = nodes["degrees"], int(np.count_nonzero(nodes["degrees"]))
        require("nodes", len(nodes["ids"]) == len(degrees) == len(local["counts"]))
        require("targets", len(targets["ids"]) == len(outgoing["counts"]))
        require("types", _integers(local) and _integers(outgoing))
        require("edges", _edges(local, links) and _edges(outgoing, links))
        edges = len(local["sources"]) + len(outgoing["sources"])
        require("degrees", int(degrees.sum(dtype=np.int64)) == edges)


def check_state(where: Where, state: Arrays, links: int) -> None:
    """Vectors of linking nodes. Raises BadInput."""
    with _Checking(where) as require:
        for name in ("plain", *state):
            vector = state[name]
            require(f"state {name}", vector.dtype.kind == "f" and len(vector) == links)


class _Checking:
    """Raises BadInput for what does not hold, and for an array that is not there."""

    def __init__(self, where: Where) -> None:
        self._part = where.part

    def __enter__(self) -> _Checking:
        return self

    def __call__(self, what: str, holds: bool) -> None:
        if not holds:
            raise BadInput(self._part, f"sections that do not fit ({what})", EXPECTED, CURE)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, KeyError):
            raise BadInput(self._part, f"sections without {error}", EXPECTED, CURE) from error


def _integers(arrays: Mapping[str, Array]) -> bool:
    return all(array.dtype == np.uint32 for array in arrays.values())


def _edges(arrays: Arrays, links: int) -> bool:
    """As many sources as are counted, all of them rows of linking nodes."""
    counts, sources = arrays["counts"], arrays["sources"]
    counted = int(counts.sum(dtype=np.int64)) == len(sources)
    return counted and (not len(sources) or int(sources.max()) < links)
