"""The steps of the recipe on datasets of any form: each reads datasets and writes new ones.

A step runs its jobs into a temporary folder beside its outputs and puts the results in place when
all is done. `crawlrank run` and the commands call the same functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from jobs import assign_ids as assign_ids_job
from jobs import fold_chains
from jobs import fold_keys as fold_keys_job
from jobs import join_scores as join_scores_job
from jobs.canonicalize import Canonicalize
from jobs.extract_links import ExtractLinks
from jobs.gen_graph import GenGraph
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import BadInput, NotConverged
from jobs.kernel.formats import downloading
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.formats.tables import CAPTURES, DATED_LINKS, LINKS, REFERRING_CAPTURES
from jobs.kernel.formats.usable import require_usable
from jobs.kernel.links.pdf_links import require_reader
from jobs.kernel.storage.opening import Place, place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from pipeline.contract import ArchiveReport, Round, StepResult, Stop
from pipeline.data.datasets import ORDER, by_score, deliver
from pipeline.data.row_groups import deliver_rows
from pipeline.data.scores_table import write_parquet
from pipeline.engines.text.archive_reports import archive_reports, writable_names
from pipeline.engines.text.delivering import Places, delivering, workplace
from pipeline.engines.text.rounds import rank, scores_in

MAX_EXAMPLES = 20


def extract_links(
    archives: Places,
    links: Path,
    captures: Path,
    launcher: Launcher,
    options: ExtractionOptions | None = None,
    *,
    tables: bool = False,
) -> list[ArchiveReport]:
    """Links and captures of archives; reports in the order of the archives, failures among them.

    tables: outputs that are folders get Parquet, as files do whose names say so.
    """
    args = (options or ExtractionOptions()).arguments()
    if options and options.pdf:
        require_reader()
    with workplace(links, launcher) as there:
        found, seen = there.tmp / "links", there.tmp / "captures"
        named = writable_names([place(archive) for archive in archives], there.tmp)
        outcome = launch(ExtractLinks, list(named), found, there, args, {"captures": seen})
        reports = archive_reports(outcome, named)
        if not all(report.error for report in reports):
            dated = options is not None and options.timestamps
            deliver_rows(found, links, DATED_LINKS if dated else LINKS, tables)
            deliver_rows(seen, captures, REFERRING_CAPTURES if dated else CAPTURES, tables)
    return reports


def canonicalize(
    links: Places,
    captures: Places,
    output: Place,
    uris: Place,
    launcher: Launcher,
    *,
    folds: Places = (),
    keep_www: bool = False,
) -> StepResult:
    """Links and captures to canonical links, and to the spellings of each key; folds: of
    select_links, whose keys give way to those that they fold into."""
    args, inputs = ["--keep-www"] * keep_www, [*links, *captures]
    outputs = {output: ORDER["canonical_links"], uris: ORDER["uris"]}
    with delivering(launcher, outputs) as (there, (canonical, spelled)):
        if not folds:
            outcome = launch(Canonicalize, inputs, canonical, there, args, {"uris": spelled})
        elif there.is_small(folds, fold_chains.IN_MEMORY):
            with there.scratch("folds") as near:
                args += ["--folds", str(_few_folds(folds, near))]
                outcome = launch(Canonicalize, inputs, canonical, there, args, {"uris": spelled})
        else:
            outcome = _folded(inputs, folds, canonical, spelled, there, args)
        require_usable(", ".join(map(str, inputs)), outcome.rows["uris"], outcome.counters)
    return canonicalized(outcome)


def _few_folds(folds: Places, near: Path) -> Path:
    """All folds as one file, for each task of a job to hold."""
    for dataset in folds:
        downloading.download(dataset, near / "parts")
    path = near / "folds.txt"
    path.write_bytes(b"".join(part.read_bytes() for part in sorted((near / "parts").iterdir())))
    return path


def _folded(
    inputs: Places, folds: Places, links: Place, uris: Place, launcher: Launcher, args: list[str]
) -> Outcome:
    with launcher.workplace("canonicalize") as tmp:
        whole_links, whole_uris = join(tmp, "links"), join(tmp, "uris")
        side = {"uris": whole_uris}
        whole = launch(Canonicalize, inputs, whole_links, launcher, args, side)
        outcome = fold_keys_job.run(whole_links, whole_uris, folds, links, uris, launcher)
    outcome.notes = whole.notes
    outcome.counters = Counter({**whole.counters, **outcome.counters})
    return outcome


def canonicalized(outcome: Outcome) -> StepResult:
    """What is told of canonical links, with examples of URIs without a key."""
    result = result_of(outcome, "canonical_links")
    dropped = [note.value.decode("utf-8", "replace") for note in outcome.notes.get("dropped", ())]
    result.examples = sorted(dropped)[:MAX_EXAMPLES]
    return result


def assign_ids(
    canonical_links: Places,
    uris: Places,
    output: Place,
    map_output: Place,
    launcher: Launcher,
    *,
    nodes: str = "linked",
) -> StepResult:
    """Ids for keys. Raises BadInput where no key gets one: a crawl without links has no ranks."""
    inputs = [*canonical_links, *(uris if nodes == "all" else ())]
    outputs = {output: ORDER["input_links"], map_output: ORDER["map"]}
    with delivering(launcher, outputs) as (there, (input_links, mapped)):
        outcome = assign_ids_job.run(inputs, input_links, mapped, there, nodes=nodes)
        require_nodes(outcome, inputs, nodes)
    return result_of(outcome, "input_links")


def require_nodes(outcome: Outcome, inputs: Places, nodes: str) -> None:
    """Raise BadInput where assign_ids gave no id."""
    if not outcome.rows["map"]:
        raise BadInput(
            ", ".join(map(str, inputs)),
            "no links at all, so no page gets an id",
            "at least one link" + (" or capture" if nodes == "all" else ""),
            "Look at what extract-links counted; --nodes all ranks pages without links too.",
        )


def gen_graph(input_links: Places, maps: Places, output: Place, launcher: Launcher) -> StepResult:
    """Links with ids to graph lines; maps add the nodes that no link points to."""
    with delivering(launcher, {output: ORDER["graph"]}) as (there, (graph,)):
        outcome = launch(GenGraph, [*input_links, *maps], graph, there)
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
    """Rounds of PageRank from a graph to ranks; the entries of all rounds, the last of which tells
    the certificates. Raises NotConverged, with the scores in place, and BadInput for a graph that
    does not start with the sum N + 1."""
    with workplace(output, launcher) as there:
        folder = there.tmp / "rounds"
        rounds: list[Round] = []

        def keep(entry: Round, so_far: list[Round]) -> bool:
            rounds[:] = so_far
            on_round(entry, so_far)
            return True

        try:
            rank(graph, folder, there, stop, on_round=keep)
        except NotConverged:
            deliver(Path(scores_in(folder, stop, rounds)), output, ORDER["ranks"])
            raise
        deliver(Path(scores_in(folder, stop, rounds)), output, ORDER["ranks"])
    return rounds


def join_scores(
    ranks: Places,
    maps: Places,
    uris: Place,
    output: Place,
    launcher: Launcher,
    *,
    digits: int = DIGITS,
) -> StepResult:
    """Scores joined with keys and URIs, best first; Parquet when the output's name says so."""
    inputs = [*ranks, *maps]
    if isinstance(output, Path) and output.suffix == ".parquet":
        with workplace(output, launcher) as there:
            folder = there.tmp / "scores"
            outcome = join_scores_job.run(inputs, uris, folder, there, digits=digits, columns="all")
            write_parquet(folder, output, digits, sum(part["scores"] for part in outcome.sums))
    else:
        with delivering(launcher, {output: by_score(digits)}) as (there, (scores,)):
            outcome = join_scores_job.run(inputs, uris, scores, there, digits=digits)
    return result_of(outcome, "scores")


def result_of(outcome: Outcome, main: str) -> StepResult:
    rows = {(main if name == "main" else name): count for name, count in outcome.rows.items()}
    return StepResult(rows, dict(sorted(outcome.counters.items())))
