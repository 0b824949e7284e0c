"""The inputs of rankings besides the graph, each declared once.

A row of methods.py lists the inputs of its method. The options of `run` and `rank`, the parameters
in manifests, the fingerprint of page-rank, and the checks of what a method and a runner take follow
from the two tables.

An input has two values. The option's value is what its text is parsed to, such as `LinkWeights`.
A `Problem` has the value for the graph, such as the weight of each link's host. For numbers and
words both are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar, get_args

if TYPE_CHECKING:
    from crawlrank.pipeline.data.graph import Floats

LIGHTEST, HEAVIEST = 1e-6, 1e6  # weights of links
LEAST_LOG2M, MOST_LOG2M = 6, 14  # of the registers of HyperBall
SiteBy = Literal["host", "domain"]
SiteWeight = Literal["count", "distinct", "one"]
CombineBy = Literal["position", "probability"]
T = TypeVar("T")


class NumberRange(NamedTuple):
    """An option that takes a number from `least` to `most`. whole: whether only whole ones."""

    least: float
    most: float
    whole: bool = False


class PageFile(NamedTuple):
    """An option that takes a file of pages. lines: its reader in run/rank_step.py."""

    lines: Literal["weights", "seeds", "seeds.txt", "relevance", "words"]


class ParsedText(NamedTuple):
    """An option whose text `parse` turns into its value. `parse` raises ValueError."""

    metavar: str
    parse: Callable[[str], Any]


def _itself(value: Any) -> Any:
    return value


@dataclass(frozen=True, eq=False)
class RankingInput(Generic[T]):
    """An input of rankings. T is the type of its value for the graph.

    option: its name on the command line and in manifests. name: its key in `Problem.inputs`; inputs
    with the same name exclude each other. help: without the names of methods. accepts: the type of
    the option; words for a choice. default: of both values.
    on_jobs: whether jobs take it. validated: whether OPIC can check rankings with it. always:
    whether manifests record it at its default, too. recorded: what a manifest holds of the option's
    value. fingerprinted: what the fingerprint of page-rank holds, if it is not `recorded` under the
    name of the option.
    """

    option: str
    name: str
    help: str
    accepts: NumberRange | PageFile | ParsedText | tuple[str, ...]
    default: T
    on_jobs: bool = False
    validated: bool = True
    always: bool = False
    recorded: Callable[[Any], Any] = _itself
    fingerprinted: Callable[[Any], dict[str, Any]] | None = None

    def of(self, inputs: Mapping[str, Any]) -> T:
        """The value among the inputs of a Problem."""
        value: T = inputs.get(self.name, self.default)
        return value

    def counts(self, value: Any) -> bool:
        """Whether results differ from those without the option, or manifests record it always."""
        return self.always or value != self.default

    def fingerprint(self, value: Any) -> dict[str, Any]:
        """The entries of the fingerprint of page-rank."""
        if self.fingerprinted:
            return self.fingerprinted(value)
        return {self.option: self.recorded(value)}


class WeightLine(NamedTuple):
    """line: its number, from 1. page: a URI or a key."""

    line: int
    page: str
    weight: float


@dataclass(frozen=True)
class PageWeights:
    """Weights of pages from a file. mark: a digest of the lines. damaged: the number of seeds that
    are not UTF-8, which are left out. damaged_lines: the first of these."""

    lines: tuple[WeightLine, ...]
    mark: str
    damaged: int = 0
    damaged_lines: tuple[str, ...] = ()


def _pages(option: str, lines: Any, help: str) -> RankingInput[Floats | None]:
    """An input of weights of pages: float64[N] by id, whose meaning is the method's."""
    return RankingInput(
        option, "weights", help, PageFile(lines), None, on_jobs=True,
        recorded=lambda weights: weights.mark,
    )  # fmt: skip


TELEPORT = _pages(
    "--teleport", "weights", "how often a reader starts at each page, `URI-or-key weight`."
)
SEEDS = _pages("--seeds", "seeds", "the pages to trust, one a line.")
RELEVANCE = _pages(
    "--relevance",
    "relevance",
    "the relevance of pages, `URI-or-key weight`, 0 to 1; of all others it is 0 with hits, and 0.5"
    " with opic-hits.",
)
SEEDS_FILE = _pages("--from-seeds-file", "seeds.txt", "the same from Heritrix's seeds.txt.")

#: the option's value is a TopicWords. For the graph: how much each page is of the topic
WORDS: RankingInput[Floats | None] = RankingInput(
    "--words",
    "weights",
    "words and phrases of the topic, one a line, with a tab before a weight; needs the words of"
    " links (--anchor-text).",
    PageFile("words"),
    None,
    validated=False,
    recorded=lambda words: words.mark,
)
TOPIC = "topic"  # among the inputs of a Problem, what goes with WORDS: a TopicLinks
PERTURB = RankingInput[float](
    "--perturb",
    "perturb",
    "add EPS to every entry of the matrix of links, where it has no single best pair.",
    NumberRange(0, 1),
    0.0,
    fingerprinted=lambda value: {"perturb": value},
)


LOG2M = RankingInput[int | None](
    "--log2m",
    "log2m",
    "estimate distances by HyperBall, with 2^N registers a page: each 2 more halve the error"
    " (default: exact distances, and for large graphs 8, or what memory allows).",
    NumberRange(LEAST_LOG2M, MOST_LOG2M, whole=True),
    None,
)


@dataclass(frozen=True)
class LinkWeights:
    """Weights of links within a host, and of other links: 0 or from LIGHTEST to HEAVIEST. At least
    one of both is above 0."""

    internal: float = 1.0
    external: float = 1.0

    def __str__(self) -> str:
        return f"internal={self.internal!r},external={self.external!r}"


def parsed_link_weights(text: str) -> LinkWeights:
    """The weights of `internal=1,external=2`; one that is not named is 1. Raises ValueError."""
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


#: for the graph: WeightedLinks of ranking/pagerank/terms.py; None if all links weigh the same
LINK_WEIGHT = RankingInput[Any](
    "--link-weight",
    "links",
    "weights of links within a host, and of other links (default: 1 each).",
    ParsedText("internal=W,external=W", parsed_link_weights),
    None,
    validated=False,
    recorded=str,
)

SITE_BY = RankingInput[SiteBy](
    "--site-by",
    "site_by",
    "what pages share a score. host: those of a host and port; domain: those of a domain that"
    " somebody has registered, by the public suffix list.",
    get_args(SiteBy),
    "host",
    always=True,
)
SITE_WEIGHT = RankingInput[SiteWeight](
    "--site-weight",
    "site_weight",
    "the weight of a link between two sites. count: the links between their pages; distinct: the"
    " pages that have such links; one: 1.",
    get_args(SiteWeight),
    "count",
    always=True,
)


@dataclass(frozen=True)
class Combination:
    """The rankings of a work folder that another one is made of. parts: label and weight of each.
    marks: label and fingerprint of the scores of each."""

    parts: tuple[tuple[str, float], ...]
    marks: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return ",".join(f"{label}={weight:g}" for label, weight in self.parts)


def parsed_parts(text: str) -> dict[str, float]:
    """The weights of `LABEL=WEIGHT,…`. Raises ValueError."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        label, _, number = part.strip().partition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not label or not 0 < weight < math.inf:
            raise ValueError(f"{part.strip()!r} is not LABEL=WEIGHT with a finite weight above 0")
        if label in weights:
            raise ValueError(f"{label} is there twice")
        weights[label] = weight
    return weights


#: `rank` looks up the rankings: the option's value is a Combination. For the graph: float64[N]
COMBINE: RankingInput[Floats | None] = RankingInput(
    "--combine",
    "combined",
    "Instead of a method: make it of other rankings, `run` being that of the run.",
    ParsedText("LABEL=WEIGHT,…", parsed_parts),
    None,
    recorded=str,
    fingerprinted=lambda made_of: {"--combine": str(made_of), "parts": made_of.marks},
)
COMBINE_BY = RankingInput[CombineBy](
    "--combine-by",
    "combine_by",
    "Weigh the positions of pages, or their parts of all scores.",
    get_args(CombineBy),
    "position",
    always=True,
)

#: all inputs, in the order of help
INPUTS: tuple[RankingInput[Any], ...] = (
    *(COMBINE, COMBINE_BY, TELEPORT, SEEDS, RELEVANCE, SEEDS_FILE, WORDS, PERTURB, LINK_WEIGHT),
    *(SITE_BY, SITE_WEIGHT, LOG2M),
)
