"""The steps of the recipe: each runs jobs that read datasets and write new ones.

On this machine the jobs write to a temporary folder beside the outputs, which gets its name when
all jobs are done. `crawlrank run` and the commands call the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from crawlrank.jobs import assign_ids as assign_ids_job
from crawlrank.jobs import fold_chains
from crawlrank.jobs import fold_keys as fold_keys_job
from crawlrank.jobs import join_scores as join_scores_job
from crawlrank.jobs.canonicalize import FOREIGN, Canonicalize
from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, NotConverged, no_nodes
from crawlrank.jobs.kernel.formats.datasets import ANCHORS, CAPTURES, LINKS
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.jobs.kernel.formats.side_lines import download
from crawlrank.jobs.kernel.formats.usable import require_usable
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.links.pdf_links import require_reader
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, as_path_or_url
from crawlrank.jobs.kernel.storage.stores import join, remove
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.respell import Respell
from crawlrank.pipeline.data.datasets import ORDER, by_score, deliver
from crawlrank.pipeline.data.parquet import deliver_rows
from crawlrank.pipeline.data.scores_file import write_parquet
from crawlrank.pipeline.engines.text.archive_reports import archive_reports, writable_names
from crawlrank.pipeline.engines.text.delivering import Locations, delivering, working_beside
from crawlrank.pipeline.engines.text.rounds import rank, scores_in
from crawlrank.pipeline.ranking.stop import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport, StepResult


def extract_links(
    archives: Locations,
    links: Path,
    captures: Path,
    launcher: Launcher,
    options: ExtractionOptions | None = None,
    *,
    tables: bool = False,
    anchors: Path | None = None,
) -> list[ArchiveReport]:
    """Write links and captures of archives; returns a report of each archive, in their order.

    anchors: where the words of links go, if they are asked for. tables: write Parquet to outputs
    that are folders. The names of files say their format.
    """
    options = (options or ExtractionOptions())._replace(anchors=anchors is not None)
    if options.pdf:
        require_reader()
    with working_beside(links, launcher) as near:
        new_links, new_captures = near.tmp / "links", near.tmp / "captures"
        names = writable_names([as_path_or_url(archive) for archive in archives], near.tmp)
        side = {"captures": new_captures}
        if anchors:
            side["anchors"] = near.tmp / "anchors"
        args = options.arguments()
        outcome = launch(ExtractLinks, list(names), new_links, near, args, side)
        reports = archive_reports(outcome, names)
        if not all(report.error for report in reports):
            link_columns = len(LINKS.columns) if options.timestamps else LINKS.usual
            deliver_rows(new_links, links, LINKS, tables=tables, columns=link_columns)
            columns = options.capture_columns
            deliver_rows(new_captures, captures, CAPTURES, tables=tables, columns=columns)
            if anchors:
                deliver_rows(near.tmp / "anchors", anchors, ANCHORS, tables=tables)
    return reports


def canonicalize(
    links: Locations,
    captures: Locations,
    output: PathOrUrl,
    uris: PathOrUrl,
    launcher: Launcher,
    *,
    folds: Locations = (),
    www: Www = "strip",
) -> StepResult:
    """Write canonical links, and the spellings of each key. folds: of select_links; the keys in
    them become the keys that they fold into."""
    args, inputs = ["--www", www], [*links, *captures]
    outputs = {output: ORDER["canonical_links"], uris: ORDER["uris"]}
    with (
        delivering(launcher, outputs) as (near, (canonical, spelled)),
        near.workplace("respelled") as tmp,
    ):
        outcome = _canonicalized(inputs, folds, canonical, spelled, near, args)
        if outcome.counters.pop(FOREIGN, 0):
            more = _respelled(spelled, join(tmp, "folds"), near, args)
            if more.rows["main"]:
                for dataset in (canonical, spelled):
                    remove(dataset)
                all_folds = [*folds, join(tmp, "folds")]
                outcome = _canonicalized(inputs, all_folds, canonical, spelled, near, args)
                del outcome.counters[FOREIGN]
            outcome.counters += more.counters
        require_usable(", ".join(map(str, inputs)), outcome.rows["uris"], outcome.counters)
    return canonicalized(outcome)


def _canonicalized(
    inputs: Locations,
    folds: Locations,
    links: PathOrUrl,
    uris: PathOrUrl,
    launcher: Launcher,
    args: list[str],
) -> Outcome:
    if folds and not launcher.is_small(folds, fold_chains.IN_MEMORY):
        return _folded(inputs, folds, links, uris, launcher, args)
    with launcher.scratch("folds") as tmp:
        more = ["--folds", str(_few_folds(folds, tmp))] if folds else []
        return launch(Canonicalize, inputs, links, launcher, [*args, *more], {"uris": uris})


def _respelled(uris: PathOrUrl, folds: PathOrUrl, launcher: Launcher, args: list[str]) -> Outcome:
    """Write the folds of pages that were linked to in another charset than they were captured
    in."""
    with launcher.workplace("respell") as tmp:
        candidates = join(tmp, "candidates")
        launch(Respell, [uris], candidates, launcher, args)
        return fold_chains.run([candidates], folds, launcher)


def _few_folds(folds: Locations, tmp: Path) -> Path:
    """All folds at URLs as one file, which each task of a job can hold in memory."""
    for dataset in folds:
        download(dataset, tmp / "parts")
    path = tmp / "folds.txt"
    path.write_bytes(b"".join(part.read_bytes() for part in sorted((tmp / "parts").iterdir())))
    return path


def _folded(
    inputs: Locations,
    folds: Locations,
    links: PathOrUrl,
    uris: PathOrUrl,
    launcher: Launcher,
    args: list[str],
) -> Outcome:
    with launcher.workplace("canonicalize") as tmp:
        all_links, all_uris = join(tmp, "links"), join(tmp, "uris")
        side = {"uris": all_uris}
        before = launch(Canonicalize, inputs, all_links, launcher, args, side)
        outcome = fold_keys_job.run(all_links, all_uris, folds, links, uris, launcher)
    outcome.notes = before.notes
    outcome.counters = Counter({**before.counters, **outcome.counters})
    return outcome


def canonicalized(outcome: Outcome) -> StepResult:
    result = result_of(outcome, "canonical_links")
    dropped = [note.value.decode("utf-8", "replace") for note in outcome.notes.get("dropped", ())]
    result.examples = sorted(dropped)[:MAX_EXAMPLES]
    return result


def assign_ids(
    canonical_links: Locations,
    uris: Locations,
    output: PathOrUrl,
    map_output: PathOrUrl,
    launcher: Launcher,
    *,
    nodes: str = "linked",
) -> StepResult:
    """Write ids of keys. Raises BadInput where no key gets one, as in a crawl without links."""
    inputs = [*canonical_links, *(uris if nodes == "all" else ())]
    outputs = {output: ORDER["input_links"], map_output: ORDER["map"]}
    with delivering(launcher, outputs) as (near, (input_links, mapped)):
        outcome = assign_ids_job.run(inputs, input_links, mapped, near, nodes=nodes)
        if not outcome.rows["map"]:
            raise no_nodes(", ".join(map(str, inputs)), nodes)
    return result_of(outcome, "input_links")


def gen_graph(
    input_links: Locations, maps: Locations, output: PathOrUrl, launcher: Launcher
) -> StepResult:
    """Write graph lines of links with ids; maps add the nodes that no link points to."""
    with delivering(launcher, {output: ORDER["graph"]}) as (near, (graph,)):
        outcome = launch(GenGraph, [*input_links, *maps], graph, near)
        if not outcome.counters["nodes"]:
            raise BadInput(
                ", ".join(map(str, input_links)), "no links", "at least one line with an id"
            )
    return result_of(outcome, "graph")


def page_rank(
    graph: Path,
    output: Path,
    launcher: Launcher,
    stop: Stop,
    on_round: Callable[[Round, list[Round]], object] = lambda entry, rounds: None,
) -> list[Round]:
    """Write the ranks of a graph; returns the entries of all rounds, the last of which has the
    certificates. Raises NotConverged, with the scores in place, and BadInput for a graph that does
    not start with the sum N + 1."""
    with working_beside(output, launcher) as near:
        folder = near.tmp / "rounds"
        rounds: list[Round] = []

        def keep(entry: Round, so_far: list[Round]) -> bool:
            rounds[:] = so_far
            on_round(entry, so_far)
            return True

        try:
            rank(graph, folder, near, stop, on_round=keep)
        except NotConverged:
            deliver(Path(scores_in(folder, stop, rounds)), output, ORDER["ranks"])
            raise
        deliver(Path(scores_in(folder, stop, rounds)), output, ORDER["ranks"])
    return rounds


def join_scores(
    ranks: Locations,
    maps: Locations,
    uris: PathOrUrl,
    output: PathOrUrl,
    launcher: Launcher,
    *,
    digits: int = DIGITS,
) -> StepResult:
    """Write scores with keys and URIs, best first; as Parquet when the output ends in .parquet."""
    inputs = [*ranks, *maps]
    if isinstance(output, Path) and output.suffix == ".parquet":
        with working_beside(output, launcher) as near:
            folder = near.tmp / "scores"
            outcome = join_scores_job.run(inputs, uris, folder, near, digits=digits, columns="all")
            write_parquet(folder, output, digits, sum(part["scores"] for part in outcome.sums))
    else:
        with delivering(launcher, {output: by_score(digits)}) as (near, (scores,)):
            outcome = join_scores_job.run(inputs, uris, scores, near, digits=digits)
    return result_of(outcome, "scores")


def result_of(outcome: Outcome, main: str) -> StepResult:
    rows = {(main if name == "main" else name): count for name, count in outcome.rows.items()}
    return StepResult(rows, dict(sorted(outcome.counters.items())))
