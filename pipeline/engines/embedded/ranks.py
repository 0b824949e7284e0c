"""page-rank of the embedded engine: a ranking of a Csr to ranks/, resumed after any interruption.

ranks/: scores.npy float64[N], dummy.npy float64[1], weights.npy float64[N] of a method that was
given some, and what further columns of float64[N] the method has, by their names. While it works,
every INTERVAL seconds at most, and when no more rounds are allowed, a checkpoint holds the state of
the method, the entries of its rounds and what they belong to. With the same method, inputs, graph,
threads and kind of stop, ranking continues from it, to the very same result.
Memory: NODE_BYTES a node, with what is mapped; a checkpoint costs 8 bytes a node more while it is
written.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from crawlrank.pipeline.data.arrays import save
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.memory import LOOPS, require_memory
from crawlrank.pipeline.data.scores_file import DUMMY, SCORES, WEIGHTS
from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.ranking.inputs import LINK_WEIGHT, TOPIC
from crawlrank.pipeline.ranking.options import Round
from crawlrank.pipeline.ranking.solution import Problem, Solution, State

NODE_BYTES = 44  # three columns of scores, offsets and outdegrees, and a checkpoint
LINK_BYTES = 28  # more with weighted links: hosts twice, what their weights sum to, and a count
EDGE_BYTES = 8  # more for each edge with links of a topic: its weight
INTERVAL = 10.0
PIECE = 1 << 24


def rank(
    ranking: Ranking,
    csr: Csr,
    output: Path,
    *,
    budget: int,
    threads: int = 1,
    checkpoint: Path | None = None,
    on_round: Callable[[Round, list[Round]], object] = lambda entry, rounds: None,
    interval: float = INTERVAL,
) -> list[Round]:
    """Rank a graph into a new folder `output`; returns the entries of all rounds.

    budget: bytes of memory. checkpoint: a file that may exist; the caller removes it once the
    output is in place; None keeps none. interval: seconds between two. on_round: not called for
    rounds that were done before an interruption. The inputs of the ranking are those of a Problem.
    Raises NotConverged with the scores in `output`, and JobFailed as the method does.
    """
    method, stop, inputs = ranking.method, ranking.stop, ranking.inputs
    fixed = LOOPS + (EDGE_BYTES * csr.edges if TOPIC in inputs else 0)
    require_memory("page-rank", csr.nodes, _node_bytes(inputs), budget, fixed=fixed)
    fingerprint = _fingerprint(ranking, csr, threads)
    saved = time.monotonic()

    def keep(entry: Round, rounds: list[Round], state: Callable[[], State]) -> None:
        nonlocal saved
        due = stop.exhausted(rounds) or time.monotonic() - saved >= interval
        if checkpoint and due:
            write_checkpoint(checkpoint, fingerprint, state())
            saved = time.monotonic()
        on_round(entry, rounds)

    before = read_checkpoint(checkpoint, fingerprint) if checkpoint else None
    problem = Problem(csr, stop, threads, budget, inputs, state=before, on_round=keep)
    solution = method.scoring.solve(problem)
    _write(solution, inputs.get("weights"), output)
    if not stop.reached(solution.rounds):
        raise stop.not_converged(solution.rounds, method.title)
    return solution.rounds


def _node_bytes(inputs: Mapping[str, Any]) -> int:
    return NODE_BYTES + (LINK_BYTES if LINK_WEIGHT.name in inputs else 0)


def _write(solution: Solution, weights: Floats | None, output: Path) -> None:
    output.mkdir(parents=True)
    columns = {SCORES: solution.scores, DUMMY: np.array([solution.dummy])}
    columns |= {f"{name}.npy": column for name, column in solution.more.items()}
    columns |= {} if weights is None else {WEIGHTS: weights}
    for name, column in columns.items():
        save(output / name, column)


def write_checkpoint(path: Path, fingerprint: dict[str, Any], state: State) -> None:
    """Replace the checkpoint, at once."""
    note = json.dumps({"of": fingerprint, "rounds": state.rounds}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        np.savez(file, vector=state.vector, dummy=state.dummy, told=np.frombuffer(note, "u1"))
    new.replace(path)


def read_checkpoint(path: Path, fingerprint: dict[str, Any]) -> State | None:
    """The state to continue from; None without one, and if it is damaged or of something else."""
    try:
        with ZipFile(path) as archive:
            note = json.loads(_member(archive, "told").tobytes())
            if note["of"] != fingerprint:
                return None
            vector, dummy = _member(archive, "vector"), _member(archive, "dummy")
            return State(vector, float(dummy), note["rounds"])
    except Exception:  # noqa: BLE001 (zipfile and numpy raise anything; ranking begins anew)
        return None


def _member(archive: ZipFile, name: str) -> Any:
    """An array of the file. Raises where its checksum, which is looked at after its last byte,
    is another: numpy stops earlier when a flipped bit made the array shorter."""
    with archive.open(f"{name}.npy") as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):
            raise ValueError(f"more than the array {name}")
    return array


def _fingerprint(ranking: Ranking, csr: Csr, threads: int) -> dict[str, Any]:
    """What a state belongs to. Any number of threads makes the same plain rounds."""
    stop = ranking.stop
    sweeps = stop.iterations is None
    return {
        "method": ranking.method.name,
        **{name: _digest(value) for name, value in ranking.inputs.items()},
        "kind": "sweeps" if sweeps else "plain",
        "tolerance": stop.tolerance if sweeps else None,
        "threads": threads if sweeps else None,
        "nodes": csr.nodes,
        "edges": csr.edges,
        "offsets": _checksum(csr.offsets),
        "outdegrees": _checksum(csr.outdegrees),
    }


def _digest(value: Any) -> Any:
    """What tells the values of an input apart: a number or a word itself, the checksum of an array,
    and the digest of each field of a dataclass."""
    if isinstance(value, np.ndarray):
        return _checksum(value)
    if is_dataclass(value):
        return [_digest(getattr(value, field.name)) for field in fields(value)]
    return value


def _checksum(array: Any) -> int:
    checksum = 0
    for begin in range(0, len(array), PIECE):
        checksum = zlib.crc32(np.ascontiguousarray(array[begin : begin + PIECE]).data, checksum)
    return checksum
