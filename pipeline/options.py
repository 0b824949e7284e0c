"""What commands and programs may ask for: each value with its type, bounds and default, once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.mapreduce.launcher import CLUSTERS, RUNNERS, Launcher
from crawlrank.pipeline.contract import EMBEDDED, LINK_WEIGHT, PAGERANK, SITE, Stop

if TYPE_CHECKING:
    from crawlrank.pipeline.data.memory import Memory
    from crawlrank.pipeline.workfolder.weight_files import WeightLine

MRJOB = " or ".join(RUNNERS)  # these make the same datasets
CLUSTER = " or ".join(CLUSTERS)
NODES = ("linked", "all")
QUICK, FULL = CHECKS = ("quick", "full")

MAX_BINS = 125
LIGHTEST, HEAVIEST = 1e-6, 1e6  # weights of links
ClassesOver = Literal["captured", "all"]
Ties = Literal["key", "links", "together"]
Spellings = Literal["all", "captured"]
Alias = Literal["scheme", "www"]
Policy = Literal["cycle", "random", "greedy"]
VirtualPage = Literal["teleport", "edge"]
SiteBy = Literal["host", "domain"]
HostSort = Literal[
    "score",
    "best",
    "pages",
    "captured",
    "captures",
    "links_in",
    "links_out",
    "links_within",
    "host",
]
SiteWeight = Literal["count", "distinct", "one"]


@dataclass(frozen=True)
class CutOptions:
    """How scores are cut into classes; pipeline/ranking/classes.py has the equation.

    bins: 1 to MAX_BINS. digits: scores with the same significant digits count as equal.
    """

    bins: int = 5
    classes_over: ClassesOver = "captured"
    ties: Ties = "key"
    digits: int = DIGITS


@dataclass(frozen=True)
class PrecedenceOptions(CutOptions):
    """How classes are cut and which URIs are listed; DESIGN, precedence.

    unlisted: precedence of URIs that are not in the file, 1 to MAX_BINS + 1; None: bins + 1.
    eta, absolute: bounds of the error of a score, relative to the exact one and in its unit; eta is
    None where they are not known. aliases: further lines.
    """

    unlisted: int | None = None
    spellings: Spellings = "all"
    aliases: tuple[Alias, ...] = ()
    eta: float | None = None
    absolute: float = math.inf

    @property
    def unlisted_precedence(self) -> int:
        return self.bins + 1 if self.unlisted is None else self.unlisted


@dataclass(frozen=True)
class OpicOptions:
    """opic_error: the certificate to reach. max_visits: in multiples of N; the policy cycle makes
    whole sweeps of N, at least one. seed: of the policy random. virtual_page: see
    pipeline/ranking/opic.py."""

    policy: Policy = "cycle"
    opic_error: float = 1e-6
    max_visits: float = 200.0
    seed: int = 0
    virtual_page: VirtualPage = "teleport"


@dataclass(frozen=True)
class ValidationOptions(CutOptions, OpicOptions):
    """Options of OPIC, and of classes as in the precedence file. digits: of PageRank's order.
    certificate: that page-rank has proved, where it is known."""

    min_agreement: float = 0.99
    certificate: float | None = None


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


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan of fetches. budget: fetches a day. horizon: days that are planned. due:
    days whose fetches are in the precedence file. shortest_interval: days between two fetches of a
    page."""

    budget: float
    horizon: float = 90.0
    due: float = 1.0
    objective: str = "regular"
    shortest_interval: float = 1 / 24


@dataclass(frozen=True)
class RunOptions:
    """Options of a run. Processes, memory, the bound on rounds and the treatment of damage do not
    change results and may differ between runs in the same folder."""

    runner: str = EMBEDDED
    processes: int | None = None
    memory: Memory | None = None
    data: str | None = None  # URL of the datasets of a cluster
    reducers: int = Launcher.ranges
    conf: Path | None = None
    extraction: ExtractionOptions = field(default_factory=ExtractionOptions)
    rules: CaptureRules = field(default_factory=CaptureRules)  # which captures count, what folds
    www: Www = "strip"
    nodes: str = NODES[0]
    method: str = PAGERANK  # a row of ranking/methods.py
    weights: PageWeights | None = None
    perturb: float = 0.0  # what HITS adds to every entry of the matrix of links
    combination: Combination | None = None
    link_weights: LinkWeights | None = None  # None: all links weigh the same
    sites: SiteOptions = field(default_factory=SiteOptions)  # of the method site
    stop: Stop = field(default_factory=Stop)
    precedence: PrecedenceOptions = field(default_factory=PrecedenceOptions)
    validation: ValidationOptions = field(default_factory=ValidationOptions)
    validate: bool = True
    strict: bool = False
    skip_bad_files: bool = False
    force: bool = False
    check_archives: str = QUICK  # how much of an archive is read to see whether it changed

    def __post_init__(self) -> None:
        if self.selects:
            extraction = self.extraction._replace(timestamps=True, canonical=self.rules.canonical)
            object.__setattr__(self, "extraction", extraction)

    @property
    def selects(self) -> bool:
        """Whether the run has a step select-links."""
        return self.rules.selects

    def parameters(self) -> dict[str, Any]:
        """The options that results depend on, by name."""
        return {
            "--runner": EMBEDDED if self.runner == EMBEDDED else CLUSTER if self.data else MRJOB,
            **({"--data": self.data} if self.data else {}),
            **self.rules.parameters(),
            **self.extraction.parameters(),
            "--keep-www": self.www == "keep",
            "--surt-exact": self.www == "surt",
            "--nodes": self.nodes,
            **self.ranking_parameters(),
        }

    def ranking_parameters(self) -> dict[str, Any]:
        """Those of them that only the steps from page-rank on depend on."""
        stop, precedence, weights = self.stop, self.precedence, self.weights
        return {
            "--method": self.method,
            **({weights.option: weights.mark} if weights else {}),
            **({"--perturb": self.perturb} if self.perturb else {}),
            **(self.combination.parameters() if self.combination else {}),
            **({LINK_WEIGHT: str(self.link_weights)} if self.link_weights else {}),
            **(self.sites.parameters() if self.method == SITE else {}),
            "--iterations": stop.iterations,
            "--tolerance": None if stop.iterations is not None else stop.tolerance,
            "--bins": precedence.bins,
            "--unlisted": precedence.unlisted_precedence,
            "--classes-over": precedence.classes_over,
            "--ties": precedence.ties,
            "--spellings": precedence.spellings,
            **({"--aliases": ",".join(precedence.aliases)} if precedence.aliases else {}),
        }


#: flags that are on if nothing is said -> the flag that turns them off
TURNED_OFF = {"--validate": "--no-validate"}


def option_words(name: str, value: Any) -> list[str]:
    """The words of a command line that give the option its value; none for what is not given. The
    one place that turns parameters into options, so that no message shows `--pdf False`.

    >>> option_words("--pdf", True), option_words("--pdf", False), option_words("--bins", 5)
    (['--pdf'], [], ['--bins', '5'])
    >>> option_words("--validate", False), option_words("--fold", "canonical redirects")
    (['--no-validate'], ['--fold', 'canonical', '--fold', 'redirects'])
    """
    if name in TURNED_OFF:
        return [] if value else [TURNED_OFF[name]]
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    values = str(value).split() if name == "--fold" else [str(value)]
    return [word for each in values for word in (name, each)]


def with_option(name: str, value: Any) -> str:
    """For a sentence: `with --bins 5`, `without --pdf`."""
    words = option_words(name, value)
    return f"with {' '.join(words)}" if words else f"without {name}"
