"""The steps of the recipe on datasets of any form: each reads datasets and writes new ones.

A step runs its jobs into a temporary folder beside its outputs and puts the results in place when
all is done. `crawlrank run` and the commands call the same functions.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jobs import assign_ids as assign_ids_job
from jobs import fold_keys as fold_keys_job
from jobs import join_scores as join_scores_job
from jobs.canonicalize import Canonicalize
from jobs.extract_links import ExtractLinks
from jobs.gen_graph import GenGraph
from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import BadInput, NotConverged
from jobs.kernel.formats.order import DIGITS
from jobs.kernel.formats.tables import CAPTURES, DATED_LINKS, LINKS, REFERRING_CAPTURES
from jobs.kernel.formats.usable import require_usable
from jobs.kernel.links.pdf_links import require_reader
from jobs.kernel.storage.opening import Place, place
from jobs.kernel.storage.plain_paths import plain_path
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from pipeline.contract import ArchiveReport, Round, StepResult, Stop
from pipeline.data.datasets import ORDER, by_score, deliver
from pipeline.data.row_groups import deliver_rows
from pipeline.data.scores_table import write_parquet
from pipeline.engines.text.rounds import rank, scores_in
from pipeline.workfolder.counting import add_counters

Paths = Sequence[str | Path]
MAX_EXAMPLES = 20


@contextlib.contextmanager
def workplace(output: Path, launcher: Launcher) -> Iterator[Launcher]:
    """A launcher whose temporary folder lies beside the output, on the same file system."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        place = tempfile.TemporaryDirectory(prefix=".crawlrank-", dir=output.parent)
    except OSError as error:
        raise BadInput(
            str(output.parent),
            f"cannot be written ({error.strerror})",
            "a folder for the output",
            "Name another output.",
        ) from error
    with place as tmp, plain_path(Path(tmp)) as near:
        yield replace(launcher, tmp=near)


def extract_links(
    archives: Paths,
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


def writable_names(archives: Sequence[Place], tmp: Path) -> dict[str, Place]:
    """A path for a job by which to read each archive: its own, or that of a link in tmp where the
    name has what mrjob's list of archives cannot carry."""
    named: dict[str, Place] = {}
    for number, archive in enumerate(archives):
        if not isinstance(archive, Path):
            named[_writable_url(archive)] = archive
            continue
        folder = archive.parent.resolve() if ".." in archive.parts else archive.parent.absolute()
        path = str(folder / archive.name)  # as mrjob will write it: it takes out `..`
        if not path.isprintable() or path != path.strip():
            folder = tmp / f"archive-{number}"
            folder.mkdir()
            link = folder / quote(os.fsencode(archive.name))
            link.symlink_to(path)
            path = str(link.absolute())
        named[path] = archive
    return named


def _writable_url(url: str) -> str:
    if not url.isprintable() or url != url.strip():
        raise BadInput(ascii(url), "a URL with control characters", cure="Copy the archive.")
    return url


def archive_reports(outcome: Outcome, named: Mapping[str, Place]) -> list[ArchiveReport]:
    """What the job told of each archive, under the path that it was given by."""
    damage: dict[str, list[list[Any]]] = {}
    for note in outcome.notes.get("damage", ()):
        archive, *what = json.loads(note.value)
        damage.setdefault(archive, []).append(what)
    reports = []
    for note in outcome.notes.get("archive", ()):
        told = json.loads(note.value)
        path = told["archive"]
        reports.append(
            ArchiveReport(
                str(named[path]),
                note.part,
                told["counters"],
                damage.get(path, []),
                told.get("error"),
                told.get("digest", ""),
            )
        )
    return reports


def require_readable(reports: Sequence[ArchiveReport], skip_bad_files: bool, strict: bool) -> None:
    """Raise BadInput for an archive without anything readable, or, if strict, for any damage."""
    bad = [report for report in reports if report.error]
    if bad and (not skip_bad_files or len(bad) == len(reports)):
        found, expected, cure = bad[0].error or ("", "", "")
        more = f" (and {len(bad) - 1} more archives)" if len(bad) > 1 else ""
        if len(bad) < len(reports):
            cure += " What the other archives gave is kept; --skip-bad-files goes on without it."
        raise BadInput(bad[0].path + more, found, expected, cure.strip())
    damaged = [report for report in reports if report.damage]
    if strict and damaged:
        offset, reason, detail = damaged[0].damage[0]
        raise BadInput(
            f"{damaged[0].path}, offset {offset}",
            f"{reason} ({detail})",
            "no damage, with --strict",
            f"{len(damaged)} of {len(reports)} archives are damaged.",
        )


def totals(reports: Sequence[ArchiveReport]) -> dict[str, int]:
    """Counters of all archives together."""
    total: Counter[str] = Counter()
    for report in reports:
        add_counters(total, report.counters)
    return dict(sorted(total.items()))


def canonicalize(
    links: Paths,
    captures: Paths,
    output: Path,
    uris: Path,
    launcher: Launcher,
    *,
    folds: Paths = (),
    keep_www: bool = False,
) -> StepResult:
    """Links and captures to canonical links, and to the spellings of each key; folds: of
    select_links, whose keys give way to those that they fold into."""
    args = ["--keep-www"] if keep_www else []
    with workplace(output, launcher) as there:
        canonical, spelled = there.tmp / "canonical_links", there.tmp / "uris"
        inputs = [*links, *captures]
        outcome = launch(Canonicalize, inputs, canonical, there, args, {"uris": spelled})
        if folds:
            found, whole = (canonical, spelled), outcome
            canonical, spelled = there.tmp / "folded_links", there.tmp / "folded_uris"
            outcome = fold_keys_job.run(*found, folds, canonical, spelled, there)
            outcome.notes = whole.notes
            outcome.counters = Counter({**whole.counters, **outcome.counters})
        require_usable(", ".join(map(str, inputs)), outcome.rows["uris"], outcome.counters)
        deliver(canonical, output, ORDER["canonical_links"])
        deliver(spelled, uris, ORDER["uris"])
    return canonicalized(outcome)


def canonicalized(outcome: Outcome) -> StepResult:
    """What is told of canonical links, with examples of URIs without a key."""
    result = result_of(outcome, "canonical_links")
    dropped = [note.value.decode("utf-8", "replace") for note in outcome.notes.get("dropped", ())]
    result.examples = sorted(dropped)[:MAX_EXAMPLES]
    return result


def assign_ids(
    canonical_links: Paths,
    uris: Paths,
    output: Path,
    map_output: Path,
    launcher: Launcher,
    *,
    nodes: str = "linked",
) -> StepResult:
    """Ids for keys. Raises BadInput where no key gets one: a crawl without links has no ranks."""
    inputs = [str(where) for where in (*canonical_links, *(uris if nodes == "all" else ()))]
    with workplace(output, launcher) as there:
        found, mapped = there.tmp / "input_links", there.tmp / "map"
        outcome = assign_ids_job.run(inputs, found, mapped, there, nodes=nodes)
        require_nodes(outcome, inputs, nodes)
        deliver(found, output, ORDER["input_links"])
        deliver(mapped, map_output, ORDER["map"])
    return result_of(outcome, "input_links")


def require_nodes(outcome: Outcome, inputs: Paths, nodes: str) -> None:
    """Raise BadInput where assign_ids gave no id."""
    if not outcome.rows["map"]:
        raise BadInput(
            ", ".join(map(str, inputs)),
            "no links at all, so no page gets an id",
            "at least one link" + (" or capture" if nodes == "all" else ""),
            "Look at what extract-links counted; --nodes all ranks pages without links too.",
        )


def gen_graph(input_links: Paths, maps: Paths, output: Path, launcher: Launcher) -> StepResult:
    """Links with ids to graph lines; maps add the nodes that no link points to."""
    with workplace(output, launcher) as there:
        found = there.tmp / "graph"
        outcome = launch(GenGraph, [*input_links, *maps], found, there)
        if not outcome.counters["nodes"]:
            raise BadInput(
                ", ".join(map(str, input_links)), "no links", "at least one line with an id"
            )
        deliver(found, output, ORDER["graph"])
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
            deliver(scores_in(folder, stop, rounds), output, ORDER["ranks"])
            raise
        deliver(scores_in(folder, stop, rounds), output, ORDER["ranks"])
    return rounds


def join_scores(
    ranks: Paths,
    maps: Paths,
    uris: str | Path,
    output: Path,
    launcher: Launcher,
    *,
    digits: int = DIGITS,
) -> StepResult:
    """Scores joined with keys and URIs, best first; Parquet when the output's name says so."""
    parquet = output.suffix == ".parquet"
    with workplace(output, launcher) as there:
        found = there.tmp / "scores"
        outcome = join_scores_job.run(
            [str(where) for where in (*ranks, *maps)],
            str(uris),
            found,
            there,
            digits=digits,
            columns="all" if parquet else "three",
        )
        if parquet:
            write_parquet(found, output, digits, sum(part["scores"] for part in outcome.sums))
        else:
            deliver(found, output, by_score(digits))
    return result_of(outcome, "scores")


def result_of(outcome: Outcome, main: str) -> StepResult:
    rows = {(main if name == "main" else name): count for name, count in outcome.rows.items()}
    return StepResult(rows, dict(sorted(outcome.counters.items())))
