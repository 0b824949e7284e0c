"""The precedence file of scores at a URL, by jobs there: the driver holds some rows a class, and
writes the lines one after another.

Without jobs (pipeline/precedence/export.py) it would fetch all spellings, and sort them here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from pathlib import Path

from crawlrank.jobs.export_precedence import (
    ORDERS,
    WEIGHT_BYTES,
    ExportForms,
    ExportLines,
    ExportNodes,
    ExportOrder,
    first_of,
)
from crawlrank.jobs.kernel.formats.order import split_points
from crawlrank.jobs.kernel.formats.reading import sized_parts
from crawlrank.jobs.kernel.formats.side_lines import part_rows, to_json
from crawlrank.jobs.kernel.rank.cutting import (
    LEAST,
    MOST,
    PLACE,
    CutNodes,
    Cuts,
    NodeCounts,
    ScoreErrors,
    boundaries,
)
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.job import write_points
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.pipeline.data.datasets import write_output
from crawlrank.pipeline.precedence.caveats import LinkCounts
from crawlrank.pipeline.precedence.export import ClassSummary, PrecedenceSummary, finish
from crawlrank.pipeline.precedence.lines import by_frequency
from crawlrank.pipeline.precedence.options import PrecedenceOptions

PIECE = 1 << 20  # bytes of lines that are written at a time
JOBS = 4


def suits_jobs(
    scores: PathOrUrl, uris: PathOrUrl, launcher: Launcher, options: PrecedenceOptions
) -> bool:
    """Whether jobs take less time than this machine. Classes with ties together need all scores in
    one place."""
    if not launcher.data or options.ties == "together":
        return False
    return launcher.text_size([scores, uris]) >= JOBS * launcher.small


def export_by_jobs(
    scores: PathOrUrl,
    uris: PathOrUrl,
    lines: PathOrUrl,
    output: Path,
    launcher: Launcher,
    options: PrecedenceOptions,
    links: LinkCounts | None = None,
) -> PrecedenceSummary:
    """Write the dataset `lines` at its URL, and the file `output` with the same lines, with what is
    beside it. Raises BadInput, JobFailed."""
    exported = write_lines(scores, uris, lines, launcher, options)
    summary = _summary(exported, options)
    write_output(_pieces(lines), output)
    finish(summary, output, options, links)
    return summary


@dataclass
class Exported:
    """cut_over_captured: whether classes were cut over captured nodes: some were captured. nodes:
    counts of them. counters: of lines, spellings and hosts. examples: of rejected spellings."""

    cut_over_captured: bool
    nodes: CutNodes
    counters: dict[str, int]
    examples: list[str] = field(default_factory=list)


def write_lines(
    scores: PathOrUrl,
    uris: PathOrUrl,
    output: PathOrUrl,
    launcher: Launcher,
    options: PrecedenceOptions,
) -> Exported:
    """Write the lines to the new folder `output`. Raises BadInput, JobFailed."""
    errors = ScoreErrors(options.digits, options.eta or 0.0, options.absolute)
    weighed = ["--weighed"] if options.ties == "links" else []
    reducers = launcher.reducers([scores, uris])
    args = ["--reducers", str(reducers)]
    with launcher.workplace("export") as tmp, launcher.scratch("plan") as plan:
        nodes, ordered, formed = (join(tmp, name) for name in ("nodes", "ordered", "formed"))
        args += ["--digits", str(errors.digits)]
        joined = launch(ExportNodes, [scores, uris], nodes, launcher, [*args, *weighed])
        over = options.classes_over == "captured" and joined.counters["nodes_captured"] > 0
        write_points(points := plan / "points.json", _points(joined, over, errors, reducers))
        args += ["--eta", repr(errors.eta), "--absolute", repr(errors.absolute)]
        of_order = [*args, "--plan", str(points), *["--captured"] * over]
        counts = launch(ExportOrder, [nodes], ordered, launcher, of_order)
        equal_bytes = errors.width + WEIGHT_BYTES * len(weighed)
        cuts = Cuts(options.bins, over, equal_bytes, **_cuts(ordered, counts, options.bins, errors))
        only = options.spellings == "captured" and joined.counters["captured"] > 0
        forming = {"cuts": asdict(cuts), "only_captured": only, "aliases": options.aliases}
        (plan / "cuts.json").write_bytes(to_json(forming))
        of_forms = [*args, "--plan", str(plan / "cuts.json")]
        written = launch(ExportForms, [nodes], formed, launcher, of_forms)
        positions = [note.value for note in written.notes.get("plan", ())]
        write_points(points, split_points(positions, reducers))
        sort = ["--reducers", str(reducers), "--plan", str(points)]
        launch(ExportLines, [formed], output, launcher, sort)
    return _exported(over, written, {**joined.counters, **written.counters})


def _points(joined: Outcome, over: bool, errors: ScoreErrors, reducers: int) -> list[bytes]:
    """Split points of all orders, for which the sample of one has to do."""
    samples = [note.value.split(b"\t") for note in joined.notes.get("plan", ())]
    letters = ORDERS if errors.any else ORDERS[-1:]
    positions = [position for captured, position in samples if captured == b"1" or not over]
    every = [letter + position for letter in letters for position in positions]
    return split_points(every, reducers)


def _cuts(
    ordered: PathOrUrl, counts: Outcome, bins: int, errors: ScoreErrors
) -> dict[str, list[str]]:
    """The rows at the boundaries of classes, as Cuts has them."""
    rows = {note.part: int(note.value) for note in counts.notes.get("plan", ())}
    letters = ORDERS if errors.any else ORDERS[-1:]
    nodes = sum(rows.values()) // len(letters)
    ends = boundaries(nodes, bins)
    further = [end + 1 for end in ends if end < nodes]
    numbers = {
        (letter, end): letters.index(letter) * nodes + end - 1
        for letter in letters
        for end in (*ends, *further)
    }
    rows_read = _rows_at(ordered, rows, sorted(set(numbers.values())))

    def at(letter: bytes, ends: list[int]) -> list[str]:
        """Without the letter."""
        if letter not in letters:
            return []
        return [rows_read[numbers[letter, end]][1:].decode() for end in ends]

    return {
        "places": at(PLACE, ends), "least": at(LEAST, ends), "most": at(MOST, ends),
        "further": at(MOST, further),
    }  # fmt: skip


def _rows_at(dataset: PathOrUrl, rows: dict[str, int], numbers: Sequence[int]) -> dict[int, bytes]:
    """The rows of these numbers, from 0, ascending. rows: how many each part has. Parts without any
    of them are not read."""
    rows_read, left = dict[int, bytes](), list(numbers)
    parts = sized_parts(dataset)
    ends = accumulate(rows.get(str(part).rpartition("/")[2], 0) for part, _ in parts)
    begin = 0
    for (part, _), end in zip(parts, ends, strict=True):
        if left and left[0] < end:
            with closing(part_rows(part)) as lines:
                for number, line in enumerate(lines, begin):
                    if not left or left[0] >= end:
                        break
                    if number == left[0]:
                        rows_read[left.pop(0)] = line.rstrip(b"\n")
        begin = end
    return rows_read


def _exported(over: bool, written: Outcome, counters: dict[str, int]) -> Exported:
    nodes, examples = CutNodes(), set[str]()
    for each in written.sums:
        nodes.add(CutNodes.of_json(each))
        examples.update(each["examples"])
    return Exported(over, nodes, counters, first_of(examples))


def _pieces(lines: PathOrUrl) -> Iterator[bytes]:
    piece, size = list[bytes](), 0
    for part, _ in sized_parts(lines):
        with closing(part_rows(part)) as rows:
            for line in rows:
                piece.append(line)
                size += len(line)
                if size >= PIECE:
                    yield b"".join(piece)
                    piece, size = [], 0
    yield b"".join(piece)


def _summary(exported: Exported, options: PrecedenceOptions) -> PrecedenceSummary:
    counters, nodes = exported.counters, exported.nodes
    by_key = nodes.by_key
    summary = PrecedenceSummary(
        options.bins, options.unlisted_precedence,
        "captured" if exported.cut_over_captured else "all",
        eta=options.eta, absolute=options.absolute, digits=options.digits,
    )  # fmt: skip
    summary.nodes, summary.nodes_captured = counters["nodes"], counters["nodes_captured"]
    summary.nodes_not_captured = summary.nodes - summary.nodes_captured
    if summary.eta is not None:
        summary.nodes_near_a_boundary = nodes.near
        summary.nodes_near_a_boundary_by_score = nodes.near - by_key.near
    summary.nodes_without_score = nodes.unscored
    summary.nodes_placed_by_key_alone = by_key.nodes
    over = exported.cut_over_captured
    summary.nodes_cut_over_placed_by_key_alone = by_key.captured if over else by_key.nodes
    summary.nodes_cut_over = summary.nodes_captured if over else summary.nodes
    _describe_lines(exported, summary)
    for precedence in range(1, options.bins + 1):
        counts = nodes.classes.get(str(precedence), NodeCounts())
        uris = counters.get(f"lines {precedence}", 0)
        entry = ClassSummary(precedence, uris, counts.nodes, counts.captured)
        if counts.nodes:
            entry.score_highest, entry.score_lowest = counts.highest, counts.lowest
        summary.classes.append(entry)
    return summary


def _describe_lines(exported: Exported, summary: PrecedenceSummary) -> None:
    counters = exported.counters
    summary.uris = sum(n for name, n in counters.items() if name.startswith("lines "))
    summary.alias_lines = counters.get("aliases", 0)
    summary.duplicates_removed = counters.get("formed", 0) - (summary.uris - summary.alias_lines)
    summary.captured_uris_without_score = counters.get("captured_unscored", 0)
    summary.spellings_rewritten = counters.get("rewritten", 0)
    rejected = "rejected "
    summary.rejected_by_reason = by_frequency(
        {name.removeprefix(rejected): n for name, n in counters.items() if rejected in name}
    )
    summary.spellings_rejected = sum(summary.rejected_by_reason.values())
    summary.rejected_examples = exported.examples
    summary.hosts_captured = counters.get("hosts", 0)
    summary.hosts_captured_by_one_scheme = counters.get("hosts_one_scheme", 0)
    summary.hosts_captured_with_or_without_www_alone = counters.get("hosts_one_www", 0)
