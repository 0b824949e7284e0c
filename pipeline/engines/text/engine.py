"""The steps of a run by the jobs of `jobs/`, on datasets of text lines, in the work folder or at a
URL. Of those at a URL only the results for users are brought to the work folder.

All jobs of a run on EMR share a cluster, which ends with the run, also where the run fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

from mrjob.conf import find_mrjob_conf

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, NotConverged
from crawlrank.jobs.kernel.formats.side_lines import download
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.rank.equation import FILE, teleport, write_teleport
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join, write
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launch import end_orphans
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners import tag_options
from crawlrank.jobs.mapreduce.runners.applications import tag_of
from crawlrank.pipeline.data.graph import read_graph
from crawlrank.pipeline.engines.contract import Ranking, ValidationInput
from crawlrank.pipeline.engines.text import steps
from crawlrank.pipeline.engines.text.extraction import ClusterExtraction, extract_here
from crawlrank.pipeline.engines.text.hits_rounds import HitsRounds
from crawlrank.pipeline.engines.text.job_export import export_by_jobs, suits_jobs
from crawlrank.pipeline.engines.text.rounds import checkpoint, rank, scores_in
from crawlrank.pipeline.engines.text.steps import select_links
from crawlrank.pipeline.precedence.caveats import LinkCounts
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.precedence.scored import spelled_nodes
from crawlrank.pipeline.ranking.hits.method import relevance_of
from crawlrank.pipeline.ranking.options import OnRound, Round, Stop, Ties
from crawlrank.pipeline.steps import TEXT, TEXT_AT_URL, ArchiveReport, ArchiveTask, StepEntry
from crawlrank.pipeline.workfolder.dataset_store import (
    DatasetStore,
    links_that_count,
    local_copies,
    of_archives,
)
from crawlrank.pipeline.workfolder.lock import claim
from crawlrank.pipeline.workfolder.manifest import Manifest


class TextEngine:
    suffix = ""

    def __init__(self, work: Path, launcher: Launcher) -> None:
        self.work, self.launcher, self.data = work, launcher, launcher.data
        self.store = DatasetStore(work, launcher.data)
        self.form = "text at a URL" if self.data else "text"
        self.datasets = TEXT_AT_URL if self.data else TEXT

    def take(self, manifest: Manifest) -> None:
        """Claim the folder at the URL for the work folder, and end jobs that still write there."""
        if self.data:
            claim(self.data, manifest)
            end_orphans(self.launcher)

    def at(self, dataset: str) -> PathOrUrl:
        return self.store.location(dataset)

    def extract(
        self, tasks: Sequence[ArchiveTask], options: ExtractionOptions
    ) -> Iterator[tuple[ArchiveTask, ArchiveReport]]:
        if not self.data:
            yield from extract_here(tasks, options, self.launcher, self.store)
        elif tasks:
            yield from ClusterExtraction(self.launcher, self.data, options).extract(tasks)

    def select_links(self, rules: CaptureRules, www: Www) -> StepEntry:
        self.store.drop("selected")
        return asdict(
            select_links(
                of_archives(self.store, "links"), of_archives(self.store, "captures"),
                self.at("selected") if rules.latest else None, self.at("folds"),
                self.launcher, rules, www=www,
            )
        )  # fmt: skip

    def canonicalize(self, www: Www, folded: bool) -> StepEntry:
        return asdict(
            steps.canonicalize(
                links_that_count(self.store), of_archives(self.store, "captures"),
                self.at("canonical_links"), self.at("uris"), self.launcher,
                folds=[self.at("folds")] if folded else [], www=www,
            )
        )  # fmt: skip

    def assign_ids(self, nodes: str) -> StepEntry:
        return asdict(
            steps.assign_ids(
                [self.at("canonical_links")], [self.at("uris")], self.at("input_links"),
                self.at("map"), self.launcher, nodes=nodes,
            )
        )  # fmt: skip

    def gen_graph(self, nodes: str) -> StepEntry:
        maps = [self.at("map")] if nodes == "all" else []
        graph = self.at("graph")
        return asdict(steps.gen_graph([self.at("input_links")], maps, graph, self.launcher))

    def rank(self, ranking: Ranking, rounds: list[Round], on_round: OnRound) -> list[Round]:
        stop = ranking.stop
        if not rounds:
            self.store.drop("rounds")
        elif stop.iterations is not None and not self.store.exists(f"rounds/round-{len(rounds)}"):
            return rounds  # a killed run moved them to `ranks` before it saved that
        by_jobs = {"pagerank": self._pagerank, "hits": self._hits}
        return by_jobs[ranking.method.jobs](ranking, rounds, on_round)

    def _pagerank(self, ranking: Ranking, rounds: list[Round], on_round: OnRound) -> list[Round]:
        folder, stop = self.at("rounds"), ranking.stop
        self.store.drop("hubs")  # of another ranking
        graph, launcher = self.at("graph"), self.launcher
        with launcher.scratch("weights") as tmp:
            weights = teleport(ranking.inputs.get("weights")) if ranking.method.takes else None
            file = None if weights is None else write_teleport(tmp / FILE, weights)
            try:
                _, rounds = rank(graph, folder, launcher, stop, rounds, on_round, teleport=file)
            except NotConverged:  # the scores may be good enough for the user
                self._put_ranks(scores_in(folder, stop, rounds), file)
                raise
            self._put_ranks(scores_in(folder, stop, rounds), file)
        return rounds

    def _hits(self, ranking: Ranking, rounds: list[Round], on_round: OnRound) -> list[Round]:
        folder, stop = self.at("rounds"), ranking.stop
        with self.launcher.scratch("weights") as tmp:
            weights, file = ranking.inputs.get("weights"), None
            if weights is not None:
                file = write_teleport(tmp / FILE, relevance_of(weights))
            work = HitsRounds(self.at("graph"), folder, self.launcher, stop, rounds, on_round, file)
            try:
                _, rounds = work.run()
            except NotConverged:
                self._put_hits(folder)
                raise
            self._put_hits(folder)
        return rounds

    def _put_hits(self, folder: PathOrUrl) -> None:
        for name in ("hubs", "ranks"):
            self.store.put(join(folder, name), name)

    def _put_ranks(self, folder: PathOrUrl, teleport: Path | None) -> None:
        """Put the ranks, with the weights that they have, for explain."""
        if teleport:
            write(join(folder, FILE), teleport.read_bytes())
        self.store.put(folder, "ranks")

    def checkpoint(self, stop: Stop, rounds: list[Round]) -> tuple[str, ...]:
        return checkpoint(stop, rounds)

    def join_scores(self, digits: int) -> StepEntry:
        """At a URL the job writes `scored`, which is brought to this machine as `scores`."""
        output = self.at("scored" if self.data else "scores")
        inputs, uris = [self.at("ranks")], self.at("uris")
        result = steps.join_scores(
            inputs, [self.at("map")], uris, output, self.launcher, digits=digits
        )
        if self.data:
            self.store.drop("scores")
            download(output, self.work / "scores")
        return asdict(result)

    def export_precedence(
        self, options: PrecedenceOptions, links: LinkCounts | None = None
    ) -> StepEntry:
        scores, output = self.work / "scores", self.work / "precedence.txt"
        scored, uris, lines = map(self.at, ("scored", "uris", "precedence"))
        self.store.drop("precedence")
        if suits_jobs(scored, uris, self.launcher, options):
            summary = export_by_jobs(scored, uris, lines, output, self.launcher, options, links)
            return {"rows": {"precedence": summary.uris}}
        with self.launcher.scratch("uris") as tmp:
            uris = local_copies(self.store, tmp)("uris")
            summary = export_precedence(scores, uris, output, tmp, options, links=links)
        return {"rows": {"precedence": summary.uris}}

    def validation_input(self, ties: Ties = "key") -> ValidationInput:
        with self.launcher.scratch("ranked") as tmp:
            brought = local_copies(self.store, tmp)
            graph, ranks = read_graph(brought("graph")), read_graph(brought("ranks"))
            spelled = spelled_nodes(
                graph, brought("uris"), [brought("map")], tmp, weighed=ties == "links"
            )
            return ValidationInput(graph, ranks, spelled.captured, spelled.take_preferred())


@contextmanager
def cluster_of_run(conf: Path | None, tmp: Path, data: str) -> Iterator[Callable[[], Path]]:
    """A function that returns the configuration of held_cluster. Its first call starts the cluster,
    so that a run in which all steps are done starts none."""
    with ExitStack() as stack:
        held: list[Path] = []

        def configuration() -> Path:
            if not held:
                held.append(stack.enter_context(held_cluster(conf, tmp, data)))
            return held[0]

        yield configuration


@contextmanager
def held_cluster(conf: Path | None, tmp: Path, data: str) -> Iterator[Path]:
    """A configuration of mrjob that adds the cluster to `conf` (where that is None, to the one
    that mrjob finds). A cluster that `conf` names by cluster_id is used and left running. data: the
    folder of the datasets, whose tag a new cluster bears.

    After a kill, or a second interruption while the cluster is being ended, it runs until it has
    been idle for an hour, or until the next run on the same data. Raises JobFailed, BadInput.
    """
    usual = conf or find_mrjob_conf()
    if usual is None:  # mrjob's own defaults are a release of 2020 and a bucket that it makes
        expected = "one such as emr.conf, which `crawlrank cluster package` makes"
        raise BadInput("--runner emr", "no configuration", expected, "Name it: --cluster-conf.")
    options = ["--conf-path", str(usual), "--local-tmp-dir", str(tmp), "--quiet"]
    options += tag_options("emr", tag_of(data), "cluster")
    runner = Job(["--runner", "emr", *options]).make_runner()
    if runner.named():
        yield Path(usual)
        return
    cluster = runner.hold()
    try:
        with_cluster = tmp / "emr-cluster.conf"
        added = {"include": str(usual), "runners": {"emr": {"cluster_id": cluster}}}
        with_cluster.write_text(json.dumps(added))  # JSON is YAML
        yield with_cluster
    finally:
        runner.release()
