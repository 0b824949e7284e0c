"""The steps of the recipe. Each runs jobs that read datasets and write new ones.

On this machine the jobs write to a temporary folder beside the outputs, which gets its name when
all jobs are done. `crawlrank run` and the commands call the same functions. An extraction job gets
the names of its archives on its command line, and reports on each of them.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from crawlrank.jobs import assign_ids as assign_ids_job
from crawlrank.jobs import fold_chains
from crawlrank.jobs import fold_keys as fold_keys_job
from crawlrank.jobs import join_scores as join_scores_job
from crawlrank.jobs import select_links as select_links_job
from crawlrank.jobs.canonicalize import FOREIGN, Canonicalize
from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput, NotConverged, no_nodes
from crawlrank.jobs.kernel.formats.datasets import ANCHORS, CAPTURES, LINKS
from crawlrank.jobs.kernel.formats.lines import require_usable
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.jobs.kernel.formats.side_lines import download
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.links.pdf_links import require_reader
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, as_path_or_url
from crawlrank.jobs.kernel.storage.stores import join, remove
from crawlrank.jobs.kernel.storage.temporary import plain_path, temporary_folder
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.jobs.respell import Respell
from crawlrank.jobs.select_links import TIMES
from crawlrank.pipeline.data.datasets import ORDER, LineKey, by_score, deliver
from crawlrank.pipeline.data.parquet import deliver_rows
from crawlrank.pipeline.data.scores_file import write_parquet
from crawlrank.pipeline.engines.text.rounds import rank, scores_in
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.steps import ArchiveReport, ArchiveTask, StepResult
from crawlrank.pipeline.workfolder.archives import add_counters


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
    options = options or ExtractionOptions()
    around = options.words_around and anchors is not None
    options = options._replace(anchor_text=anchors is not None, words_around=around)
    if options.pdf:
        require_reader()
    with working_beside(links, launcher) as beside:
        new_links, new_captures = beside.tmp / "links", beside.tmp / "captures"
        names = writable_names([as_path_or_url(archive) for archive in archives], beside.tmp)
        side = {"captures": new_captures}
        if anchors:
            side["anchors"] = beside.tmp / "anchors"
        args = options.arguments()
        outcome = launch(ExtractLinks, list(names), new_links, beside, args, side)
        reports = archive_reports(outcome, names)
        if not all(report.error for report in reports):
            link_columns = len(LINKS.columns) if options.timestamps else LINKS.usual
            deliver_rows(new_links, links, LINKS, tables=tables, columns=link_columns)
            columns = options.capture_columns
            deliver_rows(new_captures, captures, CAPTURES, tables=tables, columns=columns)
            if anchors:
                columns = options.anchor_columns
                deliver_rows(side["anchors"], anchors, ANCHORS, tables=tables, columns=columns)
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
        delivering(launcher, outputs) as (beside, (canonical, spelled)),
        beside.workplace("respelled") as tmp,
    ):
        outcome = _canonicalized(inputs, [folds], canonical, spelled, beside, args)
        if outcome.counters.pop(FOREIGN, 0):
            more = _respelled([spelled, *folds], join(tmp, "folds"), beside, args)
            if more.rows["main"]:
                for dataset in (canonical, spelled):
                    remove(dataset)
                stages = [[join(tmp, "folds")], folds]
                outcome = _canonicalized(inputs, stages, canonical, spelled, beside, args)
                del outcome.counters[FOREIGN]
            outcome.counters += more.counters
        require_usable(", ".join(map(str, inputs)), outcome.rows["uris"], outcome.counters)
    return canonicalized(outcome)


def _canonicalized(
    inputs: Locations,
    stages: Sequence[Locations],
    links: PathOrUrl,
    uris: PathOrUrl,
    launcher: Launcher,
    args: list[str],
) -> Outcome:
    """stages: folds, those that come first first: what they lead to may fold by the next ones."""
    folds = [fold for stage in stages for fold in stage]
    if folds and not launcher.is_small(folds, fold_chains.IN_MEMORY):
        return _folded(inputs, [*filter(None, stages)], links, uris, launcher, args)
    with launcher.scratch("folds") as tmp:
        more = ["--folds", str(_few_folds(folds, tmp))] if folds else []
        return launch(Canonicalize, inputs, links, launcher, [*args, *more], {"uris": uris})


def _respelled(inputs: Locations, folds: PathOrUrl, launcher: Launcher, args: list[str]) -> Outcome:
    """Write the folds of pages that were linked to in another charset than they were captured in.
    inputs: uris, and folds of which they are made."""
    with launcher.workplace("respell") as tmp:
        candidates = join(tmp, "candidates")
        launch(Respell, inputs, candidates, launcher, args)
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
    stages: Sequence[Locations],
    links: PathOrUrl,
    uris: PathOrUrl,
    launcher: Launcher,
    args: list[str],
) -> Outcome:
    with launcher.workplace("canonicalize") as tmp:
        outputs = [(join(tmp, f"links-{n}"), join(tmp, f"uris-{n}")) for n in range(len(stages))]
        (all_links, all_uris), *_ = outputs
        before = launch(Canonicalize, inputs, all_links, launcher, args, {"uris": all_uris})
        outputs.append((links, uris))
        for folds, read, written in zip(stages, outputs, outputs[1:], strict=False):
            outcome = fold_keys_job.run(*read, folds, *written, launcher)
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
    with delivering(launcher, outputs) as (beside, (input_links, mapped)):
        outcome = assign_ids_job.run(inputs, input_links, mapped, beside, nodes=nodes)
        if not outcome.rows["map"]:
            raise no_nodes(", ".join(map(str, inputs)), nodes)
    return result_of(outcome, "input_links")


def gen_graph(
    input_links: Locations, maps: Locations, output: PathOrUrl, launcher: Launcher
) -> StepResult:
    """Write graph lines of links with ids; maps add the nodes that no link points to."""
    with delivering(launcher, {output: ORDER["graph"]}) as (beside, (graph,)):
        args = [] if maps else ["--links-only"]
        outcome = launch(GenGraph, [*input_links, *maps], graph, beside, args)
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
    with working_beside(output, launcher) as beside:
        folder = beside.tmp / "rounds"
        rounds: list[Round] = []

        def keep(entry: Round, so_far: list[Round]) -> bool:
            rounds[:] = so_far
            on_round(entry, so_far)
            return True

        try:
            rank(graph, folder, beside, stop, on_round=keep)
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
        with working_beside(output, launcher) as beside:
            folder = beside.tmp / "scores"
            outcome = join_scores_job.run(
                inputs, uris, folder, beside, digits=digits, columns="all"
            )
            write_parquet(folder, output, digits, sum(part["scores"] for part in outcome.sums))
    else:
        with delivering(launcher, {output: by_score(digits)}) as (beside, (scores,)):
            outcome = join_scores_job.run(inputs, uris, scores, beside, digits=digits)
    return result_of(outcome, "scores")


def result_of(outcome: Outcome, main: str) -> StepResult:
    rows = {(main if name == "main" else name): count for name, count in outcome.rows.items()}
    return StepResult(rows, dict(sorted(outcome.counters.items())))


ExtractedArchive = tuple[ArchiveTask, ArchiveReport]


def writable_names(archives: Sequence[PathOrUrl], tmp: Path) -> dict[str, PathOrUrl]:
    """name for the job -> archive. The name is the archive's own, or that of a link in tmp where
    mrjob's list of archives cannot have the own one."""
    names: dict[str, PathOrUrl] = {}
    for number, archive in enumerate(archives):
        if not isinstance(archive, Path):
            names[_writable_url(archive)] = archive
            continue
        folder = archive.parent.resolve() if ".." in archive.parts else archive.parent.absolute()
        path = str(folder / archive.name)  # as mrjob will write it, without `..`
        if not path.isprintable() or path != path.strip():
            folder = tmp / f"archive-{number}"
            folder.mkdir()
            link = folder / quote(os.fsencode(archive.name))
            link.symlink_to(path)
            path = str(link.absolute())
        names[path] = archive
    return names


def _writable_url(url: str) -> str:
    if not url.isprintable() or url != url.strip():
        raise BadInput(ascii(url), "a URL with control characters", cure="Copy the archive.")
    return url


def archive_reports(outcome: Outcome, names: Mapping[str, PathOrUrl]) -> list[ArchiveReport]:
    """The job's report of each archive. names: of writable_names."""
    damage: dict[str, list[list[Any]]] = {}
    for note in outcome.notes.get("damage", ()):
        name, *item = json.loads(note.value)
        damage.setdefault(name, []).append(item)
    reports = []
    for note in outcome.notes.get("archive", ()):
        end = json.loads(note.value)
        name, error, digest = end["archive"], end.get("error"), end.get("digest", "")
        path, damaged = str(names[name]), damage.get(name, [])
        reports.append(ArchiveReport(path, note.part, end["counters"], damaged, error, digest))
    return reports


def totals(reports: Sequence[ArchiveReport]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for report in reports:
        add_counters(total, report.counters)
    return dict(sorted(total.items()))


Locations = Sequence[PathOrUrl]


@contextlib.contextmanager
def working_beside(output: Path, launcher: Launcher) -> Iterator[Launcher]:
    """The launcher with a temporary folder beside the output, on the same file system."""
    with contextlib.ExitStack() as stack:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            tmp = stack.enter_context(temporary_folder(output.parent))
        except OSError as error:
            raise BadInput(
                str(output.parent),
                f"cannot be written ({error.strerror})",
                "a folder for the output",
                "Name another output.",
            ) from error
        yield replace(launcher, tmp=stack.enter_context(plain_path(tmp)))


@contextlib.contextmanager
def delivering(
    launcher: Launcher, outputs: Mapping[PathOrUrl, LineKey | None]
) -> Iterator[tuple[Launcher, list[PathOrUrl]]]:
    """A launcher, and for each output the folder for a job to write to.

    outputs: each with the key that its rows are merged by where it is one file. On this machine the
    folders become the outputs when the block ends well. At a URL they are the outputs: old ones are
    removed, and a dataset counts once its job has left its mark.
    """
    first = next(iter(outputs))
    if not isinstance(first, Path):
        for output in outputs:
            stores.remove(output)
        yield launcher, list(outputs)
        return
    with working_beside(first, launcher) as beside:
        folders = [beside.tmp / f"output-{number}" for number in range(len(outputs))]
        yield beside, list(folders)
        for folder, (output, key) in zip(folders, outputs.items(), strict=True):
            deliver(folder, Path(output), key)


def select_links(
    links: Locations,
    captures: Locations,
    output: PathOrUrl | None,
    folds: PathOrUrl,
    launcher: Launcher,
    rules: CaptureRules,
    *,
    www: Www = "strip",
    timed: bool = False,
) -> StepResult:
    """Write the links that count of the captures of each page, and the keys that fold into others.

    links, captures: of extract_links with its options timestamps and canonical. output: only with
    rules.latest; otherwise all links count. timed: raise BadInput where captures have times and no
    link has one, as after an extraction without that option.
    """
    outputs = {folds: ORDER["folds"], **({output: ORDER["selected"]} if output else {})}
    with (
        delivering(launcher, outputs) as (beside, (folded, *selected)),
        beside.workplace("candidates") as tmp,
    ):
        links_output = selected[0] if selected else join(tmp, "selected")  # not written then
        outcome, folders = select_links_job.run(
            links, captures, links_output, join(tmp, "candidates"), beside, rules, www=www
        )
        dated, undated, of_captures = (outcome.counters.pop(name, 0) for name in TIMES)
        if timed and undated and of_captures and not dated:
            raise _without_times(links)
        fold_outcome = fold_chains.run(folders, folded, beside, rules.circle_target)
    rows = {"selected": outcome.rows["main"]} if output else {}
    counters = Counter({**outcome.counters, **fold_outcome.counters})
    return StepResult({**rows, "folds": fold_outcome.rows["main"]}, dict(sorted(counters.items())))


def _without_times(links: Locations) -> BadInput:
    return BadInput(
        ", ".join(map(str, links)),
        "no link has a timestamp",
        "`target source hop timestamp`",
        "Make links and captures with `crawlrank step extract-links --timestamps --canonical`.",
    )
