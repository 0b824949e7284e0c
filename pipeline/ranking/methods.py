"""The table of rankings. Commands, manifest, explain, diff, plots and export go by its rows.

A new ranking is a module with what `Scoring` names, and a row here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, cast

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.ranking.inputs import (
    COMBINE,
    COMBINE_BY,
    LINK_WEIGHT,
    LOG2M,
    PERTURB,
    RELEVANCE,
    SEEDS,
    SEEDS_FILE,
    SITE_BY,
    SITE_WEIGHT,
    TELEPORT,
    WORDS,
    RankingInput,
)
from crawlrank.pipeline.steps import EMBEDDED

if TYPE_CHECKING:
    from crawlrank.pipeline.data.graph import Floats, Positions
    from crawlrank.pipeline.ranking.solution import Problem, Solution

PAGERANK = "pagerank"  # the default
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

    jobs: the rounds of jobs that compute it, by their name in engines/text/engine.py; '' if none
    do. opic: whether validate-opic checks it. inputs: what it takes besides the graph. needs:
    whether it needs weights of pages. unnamed: the weight of a page that a file of weights does not
    name. more: names of further columns of ranks. of_sites: whether a page has the score of its
    site. of_links: whether a score is a sum over the links to a page.
    """

    name: str
    title: str
    module: str
    jobs: Literal["", "pagerank", "hits"] = ""
    opic: bool = False
    inputs: tuple[RankingInput[Any], ...] = ()
    needs: bool = False
    unnamed: float = 0.0
    more: tuple[str, ...] = ()
    of_sites: bool = False
    of_links: bool = True

    @property
    def scoring(self) -> Scoring:
        """The module, loaded when a score is needed, as it may compile loops."""
        return cast(Scoring, import_module(self.module))

    @property
    def takes(self) -> tuple[str, ...]:
        """The options that give weights of pages. At most one of them may be given."""
        return tuple(each.option for each in self.inputs if each.name == "weights")

    def runs_on(self, runner: str) -> bool:
        return bool(self.jobs) or runner == EMBEDDED

    def given(self, values: Mapping[str, Any]) -> Iterator[tuple[RankingInput[Any], Any]]:
        """The inputs that count, each with the value of its option. values: by option."""
        for each in self.inputs:
            value = values.get(each.option, each.default)
            if each.counts(value):
                yield each, value

    def parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the manifest records of the inputs. values: by option."""
        return {each.option: each.recorded(value) for each, value in self.given(values)}

    def fingerprint(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the fingerprint of page-rank holds of the method and its inputs. PageRank is not
        named, so that folders of earlier versions keep their ranks."""
        entries = {} if self.name == PAGERANK else {"method": self.name}
        for each, value in self.given(values):
            entries |= each.fingerprint(value)
        return entries

    def require(self, values: Mapping[str, Any], runner: str) -> None:
        """Raises ValueError for inputs that the method or the runner does not take, and without
        weights of pages that the method needs. values: by option."""
        own = {each.option: each for each in self.inputs}
        for option in values:
            if option not in own:
                raise ValueError(f"{option} is not for --method {self.name}")
            if runner != EMBEDDED and not own[option].on_jobs:
                raise ValueError(f"{option} is for --runner {EMBEDDED}, not {runner}")
        if self.needs and not set(self.takes) & values.keys():
            raise ValueError(f"--method {self.name} needs {' or '.join(self.takes)} FILE")


def method_of(parameters: Mapping[str, Any]) -> Method:
    """The ranking of a work folder, by the parameters of its manifest. OPIC does not check one with
    an input that it does not know. Raises BadInput for a method that is not in the table, as a
    later version may have."""
    name = parameters.get("--method", PAGERANK)
    if name not in METHODS:
        cure = "Use the version of crawlrank that made the work folder."
        raise BadInput("manifest.json", f"--method {name}", " or ".join(METHODS), cure)
    method = METHODS[name]
    unknown = any(parameters.get(each.option) for each in method.inputs if not each.validated)
    return method._replace(opic=False) if unknown else method


METHODS = {
    method.name: method
    for method in (
        Method(
            PAGERANK,
            "PageRank",
            "crawlrank.pipeline.ranking.pagerank.method",
            jobs="pagerank",
            opic=True,
            inputs=(LINK_WEIGHT,),
        ),
        Method(
            "personalized",
            "personalized PageRank",
            "crawlrank.pipeline.ranking.personalized",
            jobs="pagerank",
            inputs=(TELEPORT, LINK_WEIGHT),
            needs=True,
        ),
        Method(
            "trustrank",
            "TrustRank",
            "crawlrank.pipeline.ranking.personalized",
            jobs="pagerank",
            inputs=(SEEDS, SEEDS_FILE, LINK_WEIGHT),
            needs=True,
        ),
        Method(
            "topic",
            "PageRank of a topic",
            "crawlrank.pipeline.ranking.topic",
            inputs=(WORDS,),
            needs=True,
            of_links=False,
        ),
        Method(
            "hits",
            "HITS",
            "crawlrank.pipeline.ranking.hits.method",
            jobs="hits",
            inputs=(RELEVANCE, PERTURB),
            more=("hubs", "gives"),
        ),
        Method("degree", "indegree", "crawlrank.pipeline.ranking.degree"),
        Method(
            "harmonic",
            "harmonic centrality",
            "crawlrank.pipeline.ranking.harmonic.method",
            inputs=(LOG2M,),
            more=("reach", "closeness"),
            of_links=False,
        ),
        Method("opic", "OPIC", "crawlrank.pipeline.ranking.cash.opic_cycles"),
        Method(
            "opic-hits",
            "OPIC-HITS",
            "crawlrank.pipeline.ranking.cash.opic_hits_cycles",
            inputs=(RELEVANCE,),
            unnamed=0.5,
            more=("hubs",),
        ),
        Method(
            COMBINED,
            "a combination",
            "crawlrank.pipeline.ranking.combination",
            inputs=(COMBINE, COMBINE_BY),
            of_links=False,
        ),
        Method(
            "site",
            "PageRank of sites",
            "crawlrank.pipeline.ranking.sites",
            inputs=(SITE_BY, SITE_WEIGHT),
            of_sites=True,
            of_links=False,
        ),
        Method(
            "site-harmonic",
            "harmonic centrality of sites",
            "crawlrank.pipeline.ranking.harmonic.of_sites",
            inputs=(SITE_BY, LOG2M),
            more=("reach", "closeness"),
            of_sites=True,
            of_links=False,
        ),
    )
}
