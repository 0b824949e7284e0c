"""page-rank of the embedded engine: a Csr to ranks/, going on after any interruption.

ranks/: scores.npy float64[N], dummy.npy float64[1]. While it works, at most every INTERVAL seconds,
and when no more rounds are allowed, a checkpoint holds the vector, the entries of its rounds and
what they are of; with the same graph, threads and kind of stop, ranking goes on from it, after an
interruption to the very same result. Memory: NODE_BYTES a node, with what is mapped: see sweeps.py
and plain.py; a checkpoint costs 8 bytes a node more while it is written.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from pipeline.contract import EMBEDDED, Round, Stop
from pipeline.data.csr import Csr
from pipeline.data.growing import save
from pipeline.data.memory import LOOPS, require_memory
from pipeline.data.scores_file import DUMMY, SCORES
from pipeline.engines.embedded.pagerank.state import OnRound, Ranked, State

NODE_BYTES = 44  # three columns of scores, offsets and outdegrees, and a checkpoint
INTERVAL = 10.0  # seconds between checkpoints
PIECE = 1 << 24


def rank(
    csr: Csr,
    stop: Stop,
    threads: int,
    budget: int,
    state: State | None = None,
    on_round: OnRound = lambda entry, rounds, state: None,
) -> Ranked:
    """Scores by plain rounds, if `stop` counts them, else by sweeps to its tolerance.

    budget: bytes of memory. The last round's certificate tells whether the tolerance was reached.
    Raises JobFailed when a plain round loses mass.
    """
    # compiled loops: numba takes a second to import
    from pipeline.data.team import team_of
    from pipeline.engines.embedded.pagerank.plain import rank_by_rounds
    from pipeline.engines.embedded.pagerank.sweeps import rank_by_sweeps

    stop = stop.on(EMBEDDED)
    with team_of(csr, threads) as team:
        if stop.iterations is not None:
            return rank_by_rounds(team, stop, state, on_round)
        return rank_by_sweeps(team, stop, budget, state, on_round)


def page_rank(
    csr: Csr,
    output: Path,
    stop: Stop,
    *,
    budget: int,
    threads: int = 1,
    checkpoint: Path | None = None,
    on_round: Callable[[Round, list[Round]], object] = lambda entry, rounds: None,
) -> list[Round]:
    """Rank a graph into a new folder `output`; returns the entries of all rounds.

    budget: bytes of memory. checkpoint: a file that may or may not be there; it stays, for the
    caller to remove once the output is in place; None keeps none. Rounds done before an
    interruption are told again only by being in the list. Raises NotConverged with the scores
    in `output`, JobFailed as `rank`.
    """
    require_memory("page-rank", csr.nodes, NODE_BYTES, budget, fixed=LOOPS)
    stop = stop.on(EMBEDDED)
    of = _fingerprint(csr, stop, threads)
    saved = time.monotonic()

    def keep(entry: Round, rounds: list[Round], state: Callable[[], State]) -> None:
        nonlocal saved
        due = stop.exhausted(rounds) or time.monotonic() - saved >= INTERVAL
        if checkpoint and due:
            write_checkpoint(checkpoint, of, state())
            saved = time.monotonic()
        on_round(entry, rounds)

    before = read_checkpoint(checkpoint, of) if checkpoint else None
    if before and not _fits(before, csr, stop):
        before = None
    ranked = rank(csr, stop, threads, budget, before, keep)
    output.mkdir(parents=True)
    save(output / SCORES, ranked.scores)
    save(output / DUMMY, np.array([ranked.dummy]))
    if not stop.reached(ranked.rounds):
        raise stop.not_converged(ranked.rounds)
    return ranked.rounds


def write_checkpoint(path: Path, of: dict[str, Any], state: State) -> None:
    """Replace the checkpoint, at once."""
    told = json.dumps({"of": of, "rounds": state.rounds}).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        np.savez(file, vector=state.vector, dummy=state.dummy, told=np.frombuffer(told, "u1"))
    new.replace(path)


def read_checkpoint(path: Path, of: dict[str, Any]) -> State | None:
    """The state to go on from; None without one, and where it is damaged or of something else."""
    try:
        with ZipFile(path) as archive:
            told = json.loads(_member(archive, "told").tobytes())
            if told["of"] != of:
                return None
            vector, dummy = _member(archive, "vector"), _member(archive, "dummy")
            return State(vector, float(dummy), told["rounds"])
    except Exception:  # noqa: BLE001 (zipfile and numpy raise anything; ranking begins anew)
        return None


def _member(archive: ZipFile, name: str) -> Any:
    """An array of the file. Raises where its checksum, which is looked at behind its last byte,
    is another: numpy stops earlier when a flipped bit made the array shorter."""
    with archive.open(f"{name}.npy") as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):
            raise ValueError(f"more than the array {name}")
    return array


def _fits(state: State, csr: Csr, stop: Stop) -> bool:
    """Whether the vector is one of the graph: of all nodes, or of those with edges out."""
    plain = stop.iterations is not None
    rows = csr.nodes if plain else int(np.count_nonzero(csr.outdegrees))
    vector = state.vector
    return vector.shape == (rows,) and vector.dtype == np.float64


def _fingerprint(csr: Csr, stop: Stop, threads: int) -> dict[str, Any]:
    """What a state belongs to. Any number of threads makes the same plain rounds."""
    sweeps = stop.iterations is None
    return {
        "kind": "sweeps" if sweeps else "plain",
        "tolerance": stop.tolerance if sweeps else None,
        "threads": threads if sweeps else None,
        "nodes": csr.nodes,
        "edges": csr.edges,
        "offsets": _checksum(csr.offsets),
        "outdegrees": _checksum(csr.outdegrees),
    }


def _checksum(array: Any) -> int:
    found = 0
    for begin in range(0, len(array), PIECE):
        found = zlib.crc32(np.ascontiguousarray(array[begin : begin + PIECE]).data, found)
    return found
