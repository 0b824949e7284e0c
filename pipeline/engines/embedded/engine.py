"""The steps of a run in this process and a pool, on datasets of Parquet and arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.jobs.kernel.formats.lines import DROPPED
from crawlrank.jobs.kernel.formats.rows import LINKS_WITHOUT_ID, SELF_LINKS, SOURCES_WITHOUT_ID
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.machine.processes import at_a_time
from crawlrank.pipeline.data.csr import open_csr
from crawlrank.pipeline.data.datasets import move
from crawlrank.pipeline.data.memory import LOOPS, Memory, require_memory
from crawlrank.pipeline.data.scores_file import DUMMY, SCORES, open_scores, read_dummy
from crawlrank.pipeline.data.workers import worth_starting
from crawlrank.pipeline.engines.contract import Ranking, ValidationInput
from crawlrank.pipeline.engines.embedded.canonicalization.canonicalize import (
    LEAST_PARTITION,
    URIS,
    canonicalize,
)
from crawlrank.pipeline.engines.embedded.extraction import extract_archives
from crawlrank.pipeline.engines.embedded.gen_graph import gen_graph, opic_graph, transposed
from crawlrank.pipeline.engines.embedded.ids import (
    IDS,
    MAP,
    assign_ids,
    spelled_nodes,
)
from crawlrank.pipeline.engines.embedded.ranks import INTERVAL, rank
from crawlrank.pipeline.engines.embedded.scores import join_scores
from crawlrank.pipeline.engines.embedded.select_links import FOLDS, select_links
from crawlrank.pipeline.engines.embedded.sites import (
    collapse,
    hosts_of_pages,
    open_sites,
    write_sites,
)
from crawlrank.pipeline.precedence.caveats import LinkCounts
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.classes import PREFERENCE_BYTES
from crawlrank.pipeline.ranking.inputs import (
    LINK_WEIGHT,
    SITE_BY,
    SITE_WEIGHT,
    LinkWeights,
    SiteBy,
    SiteWeight,
)
from crawlrank.pipeline.ranking.options import OnRound, Round, Stop, Ties
from crawlrank.pipeline.ranking.pagerank.terms import WeightedLinks
from crawlrank.pipeline.ranking.validation.validate import VALIDATION_BYTES
from crawlrank.pipeline.steps import COLUMNS, ArchiveReport, ArchiveTask, StepEntry
from crawlrank.pipeline.workfolder.dataset_store import DatasetStore, remove
from crawlrank.pipeline.workfolder.work_folder import WorkFolder, links_of

PARQUET = "scores.parquet"
CHECKPOINT = "rounds"  # a folder, as that of the jobs
EDGES = "edges"  # a folder of those that canonicalize leaves to gen-graph


class EmbeddedEngine(WorkFolder):
    """One work folder. tmp: a folder in it for unfinished datasets. keyed: its imported links are
    of keys, and the folder keys has those of a map. processes: as asked for; by default (None) one
    for each core, or fewer where there is little to read. interval: seconds between checkpoints."""

    form = "Parquet"
    suffix = ".parquet"
    datasets = COLUMNS
    interval = INTERVAL

    def __init__(
        self,
        work: Path,
        tmp: Path,
        memory: Memory,
        processes: int | None,
        on_read: Callable[[int, int], None],
        *,
        keyed: bool = False,
    ) -> None:
        self.work, self.tmp, self.memory = work, tmp, memory
        self.store = DatasetStore(work)
        self.processes, self.asked = at_a_time(processes), processes
        self.on_read, self.keyed = on_read, keyed

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        return extract_archives(
            tasks, self.work, tmp=self.tmp, options=options, processes=self.asked,
            most=self.memory.extracting(self.processes), on_read=self.on_read,
        )  # fmt: skip

    def _processes_for(self, parts: Path) -> int:
        """How many processes to use to read all parts of a dataset."""
        size = sum(path.stat().st_size for path in parts.iterdir())
        return worth_starting(self.asked, size, LEAST_PARTITION)

    def select_links(self, rules: CaptureRules, www: Www) -> StepEntry:
        selected, folds = self.tmp / "selected", self.tmp / "folds"
        remove(self.path("selected"))
        links = self.path("links")
        counts = select_links(
            links, self.path("captures"), selected, folds, rules,
            budget=self.memory.budget, tmp=self.tmp, processes=self._processes_for(links), www=www,
        )  # fmt: skip
        names = ("selected", "folds") if rules.latest else ("folds",)
        rows = {name: counts.pop(name, 0) for name in names}
        self._publish(*([selected] if rules.latest else []), folds)
        return {"rows": rows, "counters": dict(sorted((+counts).items()))}

    def canonicalize(self, www: Www, folded: bool) -> StepEntry:
        uris, numbers = self.tmp / "uris", self.tmp / "numbers"
        remove(edges := self.tmp / EDGES)
        links = links_of(self.work)
        counts = canonicalize(
            links, self.path("keys" if self.keyed else "captures"), uris, numbers,
            www=www, keyed=self.keyed,
            folds=self.path("folds") / FOLDS if folded else None,
            budget=self.memory.budget, tmp=self.tmp, processes=self._processes_for(links),
            threads=self.processes, edges=edges,
        )  # fmt: skip
        self._publish(uris, numbers)
        dropped = {DROPPED + reason: count for reason, count in sorted(counts.dropped.items())}
        examples = [uri.decode("utf-8", "replace") for uri in counts.examples]
        return {
            "rows": {"uris": counts.uris},
            "counters": {
                "keys": counts.keys,
                "links": counts.links,
                **dropped,
                **(+counts.folded),
            },
            "examples": [f"no-key\t{uri}" for uri in examples],
        }

    def assign_ids(self, nodes: str) -> StepEntry:
        output = self.tmp / "map"
        counts = assign_ids(self.path("uris") / URIS, output, nodes=nodes)
        self._publish(output)
        return {"rows": {"map": counts.nodes}, "counters": asdict(counts)}

    def gen_graph(self, nodes: str) -> StepEntry:
        output, edges = self.tmp / "graph", self.tmp / EDGES
        counts = gen_graph(
            links_of(self.work), self.path("numbers"), self.path("map") / IDS, output,
            budget=self.memory.budget, tmp=self.tmp, threads=self.processes,
            edges=edges if edges.exists() else None,
        )  # fmt: skip
        remove(edges)
        self._publish(output)
        counters = asdict(counts)
        counters[SELF_LINKS] = counters.pop("self_links")
        counters[LINKS_WITHOUT_ID] = counters.pop("without_id")
        counters[SOURCES_WITHOUT_ID] = counters.pop("sources_without_id")
        return {"rows": {"graph": counts.nodes}, "counters": counters}

    def rank(self, ranking: Ranking, rounds: list[Round], on_round: OnRound) -> list[Round]:
        """Resumes from the checkpoint in the folder `rounds`, whatever the manifest holds."""
        folder, output, collapsed = self.path(CHECKPOINT), self.tmp / "ranks", None
        inputs = dict(ranking.inputs)
        if ranking.method.of_sites:
            collapsed = self._collapsed(
                inputs.pop(SITE_BY.name), inputs.pop(SITE_WEIGHT.name, SITE_WEIGHT.default)
            )
            inputs["sites"] = open_sites(collapsed)
        if weights := LINK_WEIGHT.of(inputs):
            inputs[LINK_WEIGHT.name] = self._links(weights)
        try:
            done = rank(
                replace(ranking, inputs=inputs), open_csr(self.path("graph")), output,
                threads=self.processes, budget=self.memory.budget,
                checkpoint=folder / "checkpoint.npz", on_round=on_round, interval=self.interval,
            )  # fmt: skip
        except NotConverged:  # the scores may suffice; the checkpoint stays for more rounds
            self._publish_ranks(output, collapsed)
            raise
        self._publish_ranks(output, collapsed)
        return done

    def _publish_ranks(self, output: Path, collapsed: Path | None) -> None:
        if collapsed:
            write_sites(collapsed, output)
        self._publish(output)

    def _collapsed(self, by: SiteBy, weight: SiteWeight) -> Path:
        """The folder of the graph of sites, made anew: it takes less than the rounds."""
        output = self.tmp / "collapsed"
        collapse(
            self.path("map") / MAP, self.path("graph"), output, by, weight, self.tmp,
            budget=self.memory.budget, threads=self.processes,
        )  # fmt: skip
        return output

    def _links(self, weights: LinkWeights) -> WeightedLinks:
        hosts = hosts_of_pages(
            self.path("map") / MAP, open_csr(self.path("graph"), edges=False).nodes, self.tmp,
            budget=self.memory.budget, threads=self.processes,
        )  # fmt: skip
        return WeightedLinks(weights.internal, weights.external, hosts)

    def checkpoint(self, stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
        return ()  # that of `rank` has its own checksums

    def join_scores(self, digits: int) -> StepEntry:
        output = self.tmp / "scores"
        output.mkdir()
        rows = join_scores(
            self.path("ranks") / SCORES, self.path("map") / IDS, self.path("uris") / URIS,
            self.path("graph"), output / PARQUET, self.tmp, digits=digits,
            budget=self.memory.budget, threads=self.processes,
        )  # fmt: skip
        self._publish(output)
        return {"rows": {"scores": rows}}

    def export_precedence(
        self, options: PrecedenceOptions, links: LinkCounts | None = None
    ) -> StepEntry:
        summary = export_precedence(
            self.path("scores") / PARQUET, self.path("uris") / URIS,
            self.path("precedence.txt"), self.tmp, options, ids=self.path("map") / IDS,
            budget=self.memory.budget, threads=self.processes, links=links,
        )  # fmt: skip
        return {"rows": {"precedence": summary.uris}}

    def validation_input(self, ties: Ties = "key") -> ValidationInput:
        csr, ranks = open_csr(self.path("graph")), self.path("ranks")
        weighed = ties == "links"
        each = VALIDATION_BYTES + weighed * PREFERENCE_BYTES
        require_memory(
            "validate-opic", csr.nodes, each, self.memory.budget, fixed=LOOPS,
            cure="--no-validate",
        )  # fmt: skip
        out = transposed(
            csr, self.tmp / "outgoing", budget=self.memory.budget, tmp=self.tmp,
            threads=self.processes, beside=LOOPS + each * csr.nodes,
        )  # fmt: skip
        ones = np.broadcast_to(1.0, csr.nodes)  # the scores of this graph are not read
        graph = opic_graph("graph", csr, out, ones, 1.0)
        scores, dummy = open_scores(ranks / SCORES, csr.nodes), read_dummy(ranks / DUMMY)
        spelled = spelled_nodes(
            self.path("uris") / URIS, self.path("map") / IDS, csr.nodes, weighed=weighed
        )
        ranks_graph = replace(graph, name="ranks", scores=scores, dummy=dummy)
        return ValidationInput(graph, ranks_graph, spelled.captured, spelled.take_preferred())

    def _publish(self, *folders: Path) -> None:
        for folder in folders:
            move(folder, self.path(folder.name))
