"""Inputs of rankings besides the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

LINK_WEIGHT = "--link-weight"
LIGHTEST, HEAVIEST = 1e-6, 1e6  # weights of links
SiteBy = Literal["host", "domain"]
SiteWeight = Literal["count", "distinct", "one"]


class WeightLine(NamedTuple):
    """line: its number, from 1. page: a URI or a key."""

    line: int
    page: str
    weight: float


@dataclass(frozen=True)
class PageWeights:
    """Weights of pages that a ranking is given. option: its name, which says what they mean. lines:
    of its file. mark: a digest of what they say. damaged: the number of its seeds that are not
    UTF-8, which are left out; damaged_lines: where the first ones are."""

    option: str
    lines: tuple[WeightLine, ...]
    mark: str
    damaged: int = 0
    damaged_lines: tuple[str, ...] = ()


CombineBy = Literal["position", "probability"]


@dataclass(frozen=True)
class Combination:
    """A ranking made of others of the work folder. parts: label and weight of each. marks: label
    and fingerprint of the scores of each."""

    parts: tuple[tuple[str, float], ...]
    how: CombineBy
    marks: tuple[tuple[str, str], ...]

    def parameters(self) -> dict[str, Any]:
        named = ",".join(f"{label}={weight:g}" for label, weight in self.parts)
        return {"--combine": named, "--combine-by": self.how}


@dataclass(frozen=True)
class SiteOptions:
    """What a ranking of sites takes as one. site_weight: of an edge between two sites. count: links
    between their pages; distinct: pages that have such links; one: 1."""

    site_by: SiteBy = "host"
    site_weight: SiteWeight = "count"

    def parameters(self) -> dict[str, str]:
        return {"--site-by": self.site_by, "--site-weight": self.site_weight}


@dataclass(frozen=True)
class LinkWeights:
    """Weights of links within a host, and of other ones: 0 or from LIGHTEST to HEAVIEST, and one
    above 0, as `parsed_link_weights` makes sure."""

    internal: float = 1.0
    external: float = 1.0

    def __str__(self) -> str:
        return f"internal={self.internal!r},external={self.external!r}"


def parsed_link_weights(text: str) -> LinkWeights:
    """Those of `internal=1,external=2`; one that is not named is 1. Raises ValueError."""
    named: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.partition("=")
        if name not in ("internal", "external") or name in named:
            raise ValueError(f"{part!r} is not internal=WEIGHT or external=WEIGHT, once each")
        named[name] = float(number)  # ValueError, too
        if not (named[name] == 0 or LIGHTEST <= named[name] <= HEAVIEST):
            raise ValueError(f"{number} is not 0 or from {LIGHTEST:g} to {HEAVIEST:g}")
    weights = LinkWeights(**named)
    if not weights.internal and not weights.external:
        raise ValueError("both weights are 0; one has to be above it")
    return weights
