"""PageRank to a certificate by packed rounds: pack the graph once, iterate, unpack the scores.

One job makes partitions of the graph lines (jobs/pack_graph.py), each round is one job on them
(jobs/packed_round.py), and the last job writes graph lines again (jobs/unpack_ranks.py). Between
rounds the driver adds the reports of the partitions, and plans how tasks make the next vector
(acceleration.py).

The folder has `structure` and, of the last round with an entry, its states `round-K`. In both is a
NOTE with what the driver knows of them. With the note and the list of rounds, ranking continues
after the last round with the same results.

Partitions and their groups are ranges of ids with about equal shares of the graph's text. The
length of a node's line grows with its edges, so equal shares of the text are about equal shares
of nodes and edges. Pieces of the text at equal distances give the ranges; the driver reads nothing
else of the graph.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.kernel.formats.order import labels
from crawlrank.jobs.kernel.formats.reading import read_lines, sized_parts
from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation
from crawlrank.jobs.kernel.rank.packed_graph import Plan, plan_from
from crawlrank.jobs.kernel.rank.packing import Where, from_text
from crawlrank.jobs.kernel.rank.plain_round import RoundSums
from crawlrank.jobs.kernel.storage.opening import PathOrUrl, absolute, open_binary
from crawlrank.jobs.kernel.storage.stores import join, remove, staged, write
from crawlrank.jobs.mapreduce.job import PackedJob
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import MappedInputs, Outcome
from crawlrank.jobs.pack_graph import PackGraph
from crawlrank.jobs.packed_round import PackedRound
from crawlrank.jobs.page_rank import PageRank
from crawlrank.jobs.unpack_ranks import UnpackRanks
from crawlrank.pipeline.engines.text.job_rounds import JobRounds
from crawlrank.pipeline.ranking.acceleration import Groups, Products, Steering
from crawlrank.pipeline.ranking.certificate import check_start, round_entry
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.solution import left_for_dummy

STRUCTURE, RANKS = "structure", "ranks"
NOTE = "_plan.json"
PartitionReports = list[dict[str, Any]]  # in the order of the partitions


@dataclass(frozen=True)
class Structure:
    """The structure of all partitions together. sizes: of each group, its nodes, or the sum of
    their weights."""

    nodes: int
    edges: int
    sizes: list[float]


@dataclass
class PackedRounds(JobRounds):
    """Packed rounds, to a tolerance. partitions: at most; by default those of the launcher, or
    according to the size of the graph. The dataset is `ranks` in the folder, also where
    NotConverged is raised."""

    equation: Equation = RECIPE
    teleport: Path | None = None
    partitions: int | None = None
    structure: Structure = field(init=False)
    plan: Plan = field(init=False)
    steering: Steering = field(init=False)

    def begin(self) -> None:
        if not (self.rounds and self.resume(len(self.rounds))):
            self.rounds = []
            self.pack()

    def turn(self) -> Round:
        number = len(self.rounds) + 1
        sums = self.round(number)
        entry = round_entry(number, sums, 0.0)
        del entry["next_shift"]  # of plain rounds
        return {**entry, "partitions": len(self.plan.structure), "dummy": sums.dummy_new}

    def settle(self) -> PathOrUrl:
        plan = replace(
            self._plan_for_tasks(f"round-{len(self.rounds)}"), dummy=self.rounds[-1]["dummy"]
        )
        with staged(self.at(RANKS)) as folder:
            self._launch(UnpackRanks, folder, plan)
        return self.at(RANKS)

    def _launch(self, job: type[PackedJob], output: PathOrUrl, plan: Plan) -> Outcome:
        """Run a job, PackGraph on the graph, others on the partitions."""
        with self.launcher.scratch(job.__name__) as tmp:
            args = ["--plan", str(plan.write(tmp / "plan.json"))]
            args += ["--reducers", str(self.launcher.at_most(len(plan.labels)))]
            if job is not PackGraph:
                partitions = self._listed(tmp / "partitions.txt")
                return launch(job, [partitions], output, self.launcher, args)
            args += ["--teleport", str(self.teleport)] if self.teleport else []
            origin = MappedInputs(PageRank, [], [self.graph])
            return launch(job, [self.graph], output, self.launcher, args, origin=origin)

    def _listed(self, path: Path) -> Path:
        """A file of partition numbers, one line a task."""
        numbers = sorted(self.plan.structure)
        shares = np.array_split(numbers, self.launcher.at_most(len(numbers)))
        path.write_text("".join(f"{' '.join(map(str, share))}\n" for share in shares))
        return path

    def pack(self) -> None:
        partitions = self.partitions or self.launcher.partitions
        plan = plan_of(self.graph, self.launcher, partitions)
        with staged(self.at(STRUCTURE)) as folder:
            self._begin(plan, _reports(self._launch(PackGraph, folder, plan)))
            _write_note(folder, asdict(self.structure))

    def _begin(self, plan: Plan, reports: PartitionReports) -> None:
        """Plan the first round."""
        held = [part for part in reports if part["nodes"]]
        nodes, edges = (sum(part[name] for part in held) for name in ("nodes", "edges"))
        scores = math.fsum(part["scores"] for part in held)
        check_start(self.graph, nodes, scores, [d for part in reports for d in part["dummies"]])
        sizes = np.zeros(plan.ranges.groups)
        for part in held:
            sizes[part["steering"]["first_group"] :][: len(part["groups"])] += part["groups"]
        sections = _sections(held)
        span = max(part["edges"] for part in held) + len(plan.labels)
        self.structure = Structure(nodes, edges, sizes.tolist())
        self.steering = self._steering()
        factors = self.steering.factors(self._groups(held))
        self.plan = replace(
            plan, structure=sections, state=sections, span=span, factors=factors,
            weighted=self.teleport is not None,
        )  # fmt: skip

    def _steering(self) -> Steering:
        return Steering(np.array(self.structure.sizes, float), self.equation)

    def resume(self, number: int) -> bool:
        """Continue after a round; False where its notes are not there or damaged."""
        structure, note = _read_note(self.at(STRUCTURE)), _read_note(self.at(f"round-{number}"))
        if structure is None or note is None:
            return False
        try:
            self.structure, self.plan = Structure(**structure), plan_from(note["plan"])
            self.steering = self._steering().restored(note["steering"])
        except (ValueError, KeyError, TypeError):
            return False
        remove(self.at(f"round-{number - 1}"))
        return True

    def _plan_for_tasks(self, states: str) -> Plan:
        """The plan with parts by their paths or URLs."""
        return replace(
            self.plan,
            tolerance=self.stop.tolerance,
            damping=self.equation.damping,
            structure=self._absolute(STRUCTURE, self.plan.structure),
            state=self._absolute(states, self.plan.state),
        )

    def _absolute(self, dataset: str, sections: dict[int, Where]) -> dict[int, Where]:
        folder = absolute(self.at(dataset))
        return {n: w._replace(part=str(join(folder, w.part))) for n, w in sections.items()}

    def round(self, number: int) -> RoundSums:
        """One round; its note, with the plan of the next one, appears with its states."""
        before = f"round-{number - 1}" if number > 1 else STRUCTURE
        with staged(self.at(f"round-{number}")) as folder:
            outcome = self._launch(PackedRound, folder, self._plan_for_tasks(before))
            reports = _reports(outcome)
            sums = self._sums(reports)
            gammas, factors = list[float](), list[float]()
            if len(self.plan.labels) > 1:
                groups = self._groups(reports)
                gammas, factors = self.steering.next(sums.residual_l1, _products(reports), groups)
            state = _sections(reports)
            self.plan = replace(self.plan, state=state, gammas=gammas, factors=factors)
            note = {"plan": asdict(self.plan), "steering": self.steering.saved()}
            _write_note(folder, note)
        return sums

    def _sums(self, reports: PartitionReports) -> RoundSums:
        sums, nodes, partitions = RoundSums(), self.structure.nodes, len(self.plan.structure)
        for part in reports:
            sums.merge(RoundSums(**part["sums"]))
        if sums.nodes != nodes or len(reports) != partitions:
            raise JobFailed(
                f"PageRank lost partitions in a round: {len(reports)} of {partitions}, "
                f"with {sums.nodes} of {nodes} nodes, are left"
            )
        sums.dummies = 1
        sums.dummy_old, sums.dummy_new = (
            left_for_dummy(nodes, total) for total in (sums.old_l1, sums.new_l1)
        )
        return sums

    def _groups(self, reports: PartitionReports) -> Groups:
        count = len(self.structure.sizes)
        flows, weights = np.zeros((count, count)), np.zeros(count)
        for part in reports:
            steering = part["steering"]
            first = steering["first_group"]
            own = len(steering["weights"])
            rows = from_text(steering["flows"].encode())["flows"].reshape(own, count)
            flows[first : first + own] += rows
            weights[first : first + own] += steering["weights"]
        return Groups(flows, weights)


def _products(reports: PartitionReports) -> Products:
    grams = [np.array(part["steering"]["gram"], float) for part in reports]
    rights = [np.array(part["steering"]["right"], float) for part in reports]
    return Products(sum(grams[1:], grams[0]), sum(rights[1:], rights[0]))


def _reports(outcome: Outcome) -> PartitionReports:
    """The report of each partition, with the part that has its sections."""
    reports = [{**json.loads(n.value), "part": n.part} for n in outcome.notes.get("plan", ())]
    return sorted(reports, key=lambda report: int(report["partition"]))


def _sections(reports: PartitionReports) -> dict[int, Where]:
    return {part["partition"]: Where(part["part"], part["sections"]) for part in reports}


def _write_note(folder: PathOrUrl, note: dict[str, Any]) -> None:
    write(join(folder, NOTE), json.dumps(note).encode())


def _read_note(folder: PathOrUrl) -> dict[str, Any] | None:
    """None where it is not there or damaged."""
    try:
        with open_binary(join(folder, NOTE)) as stream:
            return dict(json.loads(stream.read()))
    except (OSError, ValueError, TypeError):
        return None


PARTITION_BYTES = 16_000_000  # of text: some 2 million edges
# More than FEW partitions grow with the graph, as each pair of them exchanges a block in a round;
# LARGEST is packed in 0.6 GB (docs/scaling.md)
FEW, LARGEST = 64, 96_000_000
INFLATED = 5  # times its compressed size, a graph's text
GROUPS, MOST_GROUPS = 16, 1024  # of a partition, of all
SAMPLES = 24  # pieces of text for each group
MOST_SAMPLES = 8192
PIECE_BYTES = 8192
AT_ONCE = 16  # parts
COMPRESSED = (".gz", ".parquet", ".bz2", ".zst", ".lz4")


class TextSample(NamedTuple):
    """Ids, and the bytes of text that each stands for."""

    ids: npt.NDArray[np.int64]
    bytes: npt.NDArray[np.int64]


def plan_of(graph: PathOrUrl, launcher: Launcher, partitions: int | None = None) -> Plan:
    """The ranges of a graph. partitions: at most; by default according to its size."""
    sizes = sized_parts(graph)
    wanted = partitions or usual_partitions(text_bytes(sizes))
    points: list[int] = []
    group_points: list[int] = []
    if wanted > 1:
        groups = min(wanted * GROUPS, MOST_GROUPS)
        sample = _sample(sizes, min(SAMPLES * groups, MOST_SAMPLES))
        points, group_points = _cuts(sample, wanted), _cuts(sample, groups)
    reducers = launcher.at_most(len(points) + 1)
    named = [label.decode() for label in labels(len(points) + 1, reducers)]
    return Plan(points, group_points, named)


def text_bytes(sizes: list[tuple[PathOrUrl, int]]) -> int:
    """The bytes of a graph, about, by the sizes of its parts."""
    return sum(count * (INFLATED if _compressed(part) else 1) for part, count in sizes)


def usual_partitions(size: int) -> int:
    """The number of partitions of a graph with `size` bytes of text."""
    growing = math.sqrt(size * PARTITION_BYTES / FEW)
    return max(1, round(size / max(PARTITION_BYTES, min(LARGEST, growing))))


def _compressed(part: PathOrUrl) -> bool:
    return str(part).endswith(COMPRESSED)


def _cuts(sample: TextSample, ranges: int) -> list[int]:
    """The first ids of all ranges but the first; fewer where one id has more than its share."""
    order = np.argsort(sample.ids, kind="stable")
    ids, before = sample.ids[order], np.cumsum(sample.bytes[order])
    if not len(ids):
        return []
    shares = before[-1] * (np.arange(1, ranges) / ranges)
    points = np.unique(ids[np.searchsorted(before, shares)])
    return [int(point) for point in points if point > ids[0]]


def _sample(sizes: list[tuple[PathOrUrl, int]], count: int) -> TextSample:
    """About `count` pieces of the text, at equal distances; the whole of compressed parts."""
    step = max(PIECE_BYTES, sum(size for _, size in sizes) // count)
    threads = max(1, min(AT_ONCE, len(sizes)))
    with ThreadPool(threads) as pool:  # a store takes its time for each piece, but no processor's
        rows = list(chain.from_iterable(pool.imap(lambda p: list(_rows(*p, step)), sizes)))
    ids, lengths = zip(*rows, strict=True) if rows else ((), ())
    return TextSample(np.array(ids, np.int64), np.array(lengths, np.int64))


def _rows(part: PathOrUrl, size: int, step: int) -> Iterator[tuple[int, int]]:
    """(id, bytes of its line) of some lines of a part."""
    if _compressed(part):
        for _, _, line in read_lines(str(part)):
            yield from _row(line)
        return
    with open_binary(part) as stream:
        for begin in range(0, size, step):
            stream.seek(begin)
            lines = stream.read(PIECE_BYTES).split(b"\n")
            for line in lines[1 if begin else 0 :]:
                yield from _row(line)


def _row(line: bytes) -> Iterator[tuple[int, int]]:
    """(id, bytes) of a line; nothing of dummy's, nor of a bad line, which the job will report."""
    node, tab, _ = line.replace(b" ", b"\t", 1).partition(b"\t")
    if tab and node.isdigit() and len(node) <= 18:
        yield int(node), len(line) + 1
