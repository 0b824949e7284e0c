"""PageRank to a certificate by packed rounds: pack the graph once, iterate, unpack the scores.

One job makes partitions of the graph lines (jobs/pack_graph.py), each round is one job on them
(jobs/packed_round.py), the last writes graph lines again (jobs/unpack_ranks.py). Between rounds the
driver adds what the partitions told, and says how the next vector is to be made (acceleration.py).

In the folder: `structure`, and of the last round that was entered its states, `round-K`; in both a
NOTE with what the driver knows of them. With the entry in the list of rounds, ranking goes on
behind it as if nothing had happened.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from jobs.kernel.errors import JobFailed
from jobs.kernel.rank.packed_plan import Plan, plan_from
from jobs.kernel.rank.packing import Where, from_text
from jobs.kernel.rank.plain_round import RoundSums
from jobs.kernel.storage.opening import Place, absolute, is_url, open_binary
from jobs.kernel.storage.stores import join, remove, write
from jobs.mapreduce.bad_lines import Source
from jobs.mapreduce.launch import input_paths, launch
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.outcome import Outcome
from jobs.mapreduce.packed_job import PackedJob
from jobs.pack_graph import PackGraph
from jobs.packed_round import PackedRound
from jobs.page_rank import PageRank
from jobs.unpack_ranks import UnpackRanks
from pipeline.contract import OnRound, Round, Stop
from pipeline.engines.text.packed_ranges import plan_of
from pipeline.ranking.acceleration import Groups, Products, Steering
from pipeline.ranking.round_checks import check_start, round_entry

STRUCTURE, RANKS = "structure", "ranks"
NOTE = "_plan.json"
Told = list[dict[str, Any]]


@dataclass(frozen=True)
class Structure:
    """What packing told of all partitions together: nodes, edges, and the nodes of each group."""

    nodes: int
    edges: int
    sizes: list[int]


def rank_packed(
    graph: Place,
    folder: Place,
    launcher: Launcher,
    stop: Stop,
    rounds: list[Round] | None = None,
    on_round: OnRound = lambda entry, rounds: True,
    partitions: int | None = None,
) -> tuple[Place, list[Round]]:
    """As rounds.rank, to a tolerance. partitions: at most; by default as the size of the
    graph asks for. The dataset is `ranks` in the folder, also where NotConverged is raised."""
    stop, rounds = stop.on(launcher.runner), list(rounds or ())
    work = _Work(graph, folder, launcher, stop.bound)
    if not (rounds and work.resume(len(rounds))):
        rounds = []
        work.pack(partitions)
    replaced = [work.at(f"round-{len(rounds)}")] if rounds else []
    while not stop.over(rounds):
        started, number = time.monotonic(), len(rounds) + 1
        sums = work.round(number)
        entry = round_entry(number, sums, time.monotonic() - started)
        del entry["next_shift"]  # of plain rounds
        entry |= {"partitions": len(work.plan.structure), "dummy": sums.dummy_new}
        rounds.append(entry)
        if on_round(entry, rounds):
            while replaced:
                remove(replaced.pop())
        replaced.append(work.at(f"round-{number}"))
    ranks = work.unpack(len(rounds), rounds[-1]["dummy"])
    if not stop.reached(rounds):
        raise stop.not_converged(rounds)
    return ranks, rounds


class _Work:
    """The jobs, and what goes from one to the next."""

    structure: Structure
    plan: Plan
    steering: Steering

    def __init__(self, graph: Place, folder: Place, launcher: Launcher, tolerance: float) -> None:
        self.graph, self.folder, self.launcher = graph, folder, launcher
        self.tolerance = tolerance

    def at(self, name: str) -> Place:
        return join(self.folder, name)

    def _launch(
        self, job: type[PackedJob], output: str, plan: Plan, graph: Source | None = None
    ) -> tuple[Outcome, Place]:
        """Run a job, on the partitions or on the graph that is told from where; what it told, and
        where its dataset is until it is named `output`."""
        made = self.at(output if is_url(self.folder) else f".{output}.part")
        remove(made)
        with self.launcher.scratch(job.__name__) as tmp:
            args = ["--plan", str(plan.write(tmp / "plan.json"))]
            args += ["--reducers", str(min(len(plan.labels), self.launcher.ranges))]
            inputs = [self.graph] if graph else [self._listed(tmp / "partitions.txt")]
            return launch(job, inputs, made, self.launcher, args, None, graph), made

    def _listed(self, path: Path) -> Path:
        """Partitions in a file, those of a task in each line."""
        numbers = sorted(self.plan.structure)
        shares = np.array_split(numbers, min(len(numbers), self.launcher.ranges))
        path.write_text("".join(f"{' '.join(map(str, share))}\n" for share in shares))
        return path

    def _place(self, made: Place, output: str) -> None:
        """Name a dataset; at a URL it is there already."""
        if not is_url(made):
            remove(self.at(output))
            Path(made).replace(self.at(output))

    def pack(self, partitions: int | None) -> None:
        plan = plan_of(self.graph, self.launcher, partitions)
        paths = [] if is_url(self.graph) else input_paths(PageRank, [self.graph])
        outcome, made = self._launch(PackGraph, STRUCTURE, plan, Source(PageRank, [], paths))
        told = _told(outcome)
        held = [part for part in told if part["nodes"]]
        nodes, edges = (sum(part[name] for part in held) for name in ("nodes", "edges"))
        scores = math.fsum(part["scores"] for part in held)
        check_start(self.graph, nodes, scores, [d for part in told for d in part["dummies"]])
        sizes = np.zeros(plan.ranges.groups, np.int64)
        for part in held:
            sizes[part["steering"]["first_group"] :][: len(part["groups"])] += part["groups"]
        places = {part["partition"]: Where(*part["place"]) for part in held}
        span = max(part["edges"] for part in held) + len(plan.labels)
        self.structure = Structure(nodes, edges, sizes.tolist())
        self.steering = self._steering()
        factors = self.steering.factors(self._groups(held))
        self.plan = replace(plan, structure=places, state=places, span=span, factors=factors)
        _write(join(made, NOTE), asdict(self.structure))
        self._place(made, STRUCTURE)

    def _steering(self) -> Steering:
        return Steering(np.array(self.structure.sizes, float))

    def resume(self, number: int) -> bool:
        """Go on behind a round, if all that it left is there."""
        structure = _read(join(self.at(STRUCTURE), NOTE))
        told = _read(join(self.at(f"round-{number}"), NOTE))
        if structure is None or told is None:
            return False
        try:
            self.structure, self.plan = Structure(**structure), plan_from(told["plan"])
            self.steering = self._steering().restored(told["steering"])
        except (ValueError, KeyError, TypeError):  # damaged: ranking begins anew
            return False
        remove(self.at(f"round-{number - 1}"))
        return True

    def _told_to(self, states: str) -> Plan:
        """The plan as tasks need it: parts by their places."""
        return replace(
            self.plan,
            tolerance=self.tolerance,
            structure=self._placed(STRUCTURE, self.plan.structure),
            state=self._placed(states, self.plan.state),
        )

    def _placed(self, dataset: str, wheres: dict[int, Where]) -> dict[int, Where]:
        folder = absolute(self.at(dataset))
        return {n: w._replace(part=str(join(folder, w.part))) for n, w in wheres.items()}

    def round(self, number: int) -> RoundSums:
        """One round; what the next one is told is in place when it is."""
        before, output = (f"round-{number - 1}" if number > 1 else STRUCTURE), f"round-{number}"
        outcome, made = self._launch(PackedRound, output, self._told_to(before))
        told = _told(outcome)
        sums = self._sums(told)
        gammas, factors = list[float](), list[float]()
        if len(self.plan.labels) > 1:
            groups = self._groups(told)
            gammas, factors = self.steering.next(sums.residual_l1, _products(told), groups)
        state = {part["partition"]: Where(*part["place"]) for part in told}
        self.plan = replace(self.plan, state=state, gammas=gammas, factors=factors)
        note = {"plan": asdict(self.plan), "steering": self.steering.saved()}
        _write(join(made, NOTE), note)
        self._place(made, output)
        return sums

    def _sums(self, told: Told) -> RoundSums:
        sums, nodes = RoundSums(), self.structure.nodes
        for part in told:
            sums.merge(RoundSums(**part["sums"]))
        if sums.nodes != nodes or len(told) != len(self.plan.structure):
            raise JobFailed(
                f"PageRank lost partitions in a round: {len(told)} of {len(self.plan.structure)}, "
                f"with {sums.nodes} of {nodes} nodes, are left"
            )
        sums.dummies = 1
        sums.dummy_old, sums.dummy_new = nodes + 1 - sums.old_l1, nodes + 1 - sums.new_l1
        return sums

    def _groups(self, told: Told) -> Groups:
        count = len(self.structure.sizes)
        flows, weights = np.zeros((count, count)), np.zeros(count)
        for part in told:
            steering = part["steering"]
            first = steering["first_group"]
            own = len(steering["weights"])
            rows = from_text(steering["flows"].encode())["flows"].reshape(own, count)
            flows[first : first + own] += rows
            weights[first : first + own] += steering["weights"]
        return Groups(flows, weights)

    def unpack(self, number: int, dummy: float) -> Place:
        states = f"round-{number}"
        plan = replace(self._told_to(states), dummy=dummy)
        _, made = self._launch(UnpackRanks, RANKS, plan)
        self._place(made, RANKS)
        return self.at(RANKS)


def _products(told: Told) -> Products:
    """Of all partitions, in their order."""
    grams = [np.array(part["steering"]["gram"], float) for part in told]
    rights = [np.array(part["steering"]["right"], float) for part in told]
    return Products(sum(grams[1:], grams[0]), sum(rights[1:], rights[0]))


def _told(outcome: Outcome) -> Told:
    """What each partition told, by its number, with the place of its sections."""
    told = []
    for note in outcome.notes.get("plan", ()):
        part = json.loads(note.value)
        if "sections" in part:
            part["place"] = [note.part, part["sections"]]
        told.append(part)
    return sorted(told, key=lambda part: int(part["partition"]))


def _write(file: Place, told: dict[str, Any]) -> None:
    data = json.dumps(told).encode()
    if is_url(file):
        write(file, data)
    else:
        Path(file).write_bytes(data)


def _read(file: Place) -> dict[str, Any] | None:
    """None where there is none that can be read."""
    try:
        with open_binary(file) as stream:
            return dict(json.loads(stream.read()))
    except (OSError, ValueError, TypeError):
        return None
