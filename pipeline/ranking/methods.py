"""The table of rankings. Commands, manifest, explain, diff, plots and export go by its rows.

A new ranking is a module with what `Scoring` names, and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.ranking.inputs import LINK_WEIGHT
from crawlrank.pipeline.steps import EMBEDDED

if TYPE_CHECKING:
    from crawlrank.pipeline.data.graph import Floats, Positions
    from crawlrank.pipeline.ranking.solution import Problem, Solution

PAGERANK = "pagerank"  # the default
HITS = "hits"
SITE = "site"  # the ranking of sites
COMBINED = "combined"  # one that is made of others


class Scoring(Protocol):
    """The module of a method."""

    def solve(self, problem: Problem) -> Solution:
        """The scores of all nodes of a graph."""

    def base(self, weights: Floats | None) -> Floats:
        """The score of a page that no page links to: float64[1] for all, or float64[N]."""

    def shares(self, scores: Floats, outdegrees: Positions, more: Mapping[str, Floats]) -> Floats:
        """What each link of a source adds to the score of its target, by the source's score and
        outdegree, and by its numbers in further columns. A score is its base and the shares of all
        links to the page."""


class Method(NamedTuple):
    """A ranking. name: as --method takes it. title: as reports name it. module: see Scoring.

    on_jobs: whether the jobs have it, too. opic: whether validate-opic checks it. takes: options
    that give weights of pages, one of which may be given; needs: whether one must be. unnamed:
    the weight of a page that such a file does not name. more: names of further columns of ranks.
    perturbs: whether it takes --perturb. of_sites: whether a page has the score of its site.
    of_links: whether a score is a sum over the links to a page. weighs_links: whether
    links may have weights.
    """

    name: str
    title: str
    module: str
    on_jobs: bool = False
    opic: bool = False
    takes: tuple[str, ...] = ()
    needs: bool = False
    unnamed: float = 0.0
    more: tuple[str, ...] = ()
    perturbs: bool = False
    of_sites: bool = False
    of_links: bool = True
    weighs_links: bool = False

    @property
    def scoring(self) -> Scoring:
        """The module, loaded when a score is needed, as it may compile loops."""
        return cast(Scoring, import_module(self.module))

    def runs_on(self, runner: str) -> bool:
        return self.on_jobs or runner == EMBEDDED


def method_of(parameters: Mapping[str, Any]) -> Method:
    """The ranking of a work folder, by the parameters of its manifest. Raises BadInput for one that
    is not in the table, as a later version may have. OPIC knows no weights of links."""
    name = parameters.get("--method", PAGERANK)
    if name not in METHODS:
        cure = "Use the version of crawlrank that made the work folder."
        raise BadInput("manifest.json", f"--method {name}", " or ".join(METHODS), cure)
    method = METHODS[name]
    return method._replace(opic=False) if parameters.get(LINK_WEIGHT) else method


METHODS = {
    method.name: method
    for method in (
        Method(
            PAGERANK,
            "PageRank",
            "crawlrank.pipeline.ranking.pagerank.method",
            on_jobs=True,
            opic=True,
            weighs_links=True,
        ),
        Method(
            "personalized",
            "personalized PageRank",
            "crawlrank.pipeline.ranking.personalized",
            on_jobs=True,
            takes=("--teleport",),
            needs=True,
            weighs_links=True,
        ),
        Method(
            "trustrank",
            "TrustRank",
            "crawlrank.pipeline.ranking.personalized",
            on_jobs=True,
            takes=("--seeds", "--from-seeds-file"),
            needs=True,
            weighs_links=True,
        ),
        Method(
            HITS,
            "HITS",
            "crawlrank.pipeline.ranking.hits.method",
            on_jobs=True,
            takes=("--relevance",),
            more=("hubs", "gives"),
            perturbs=True,
        ),
        Method("degree", "indegree", "crawlrank.pipeline.ranking.degree"),
        Method("opic", "OPIC", "crawlrank.pipeline.ranking.online.opic"),
        Method(
            "opic-hits",
            "OPIC-HITS",
            "crawlrank.pipeline.ranking.online.opic_hits",
            takes=("--relevance",),
            unnamed=0.5,
            more=("hubs",),
        ),
        Method(COMBINED, "a combination", "crawlrank.pipeline.ranking.combination", of_links=False),
        Method(
            SITE,
            "PageRank of sites",
            "crawlrank.pipeline.ranking.sites.method",
            of_sites=True,
            of_links=False,
        ),
    )
}
#: options that give weights of pages, of all methods
WEIGHT_OPTIONS = tuple(sorted({name for method in METHODS.values() for name in method.takes}))
