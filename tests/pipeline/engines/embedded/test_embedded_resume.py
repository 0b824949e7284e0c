"""page-rank of the embedded engine: continuing after an interruption, and what is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.graphs import csr_of, cycle, exact_scores, saved, untimed, web_like

from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.pipeline.data.csr import Csr
from crawlrank.pipeline.data.scores_file import DUMMY, SCORES
from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.engines.embedded import ranks
from crawlrank.pipeline.engines.embedded.ranks import rank
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Round, Stop
from crawlrank.pipeline.ranking.pagerank.method import solve
from crawlrank.pipeline.ranking.pagerank.terms import WeightedLinks
from crawlrank.pipeline.ranking.solution import Problem, State

PAGERANK = METHODS["pagerank"]
MUCH = 1 << 40
WEB = web_like(2000, seed=3)


class Killed(Exception):
    pass


SWEEPS, ROUNDS = Stop(tolerance=1e-12), Stop(iterations=12)


@pytest.mark.parametrize(
    ("stop", "budgets"),
    [(SWEEPS, (MUCH, MUCH)), (SWEEPS, (0, 0)), (ROUNDS, (MUCH, 0)), (ROUNDS, (0, MUCH))],
    ids=str,
)
@pytest.mark.parametrize("method", ["pagerank", "personalized"])
def test_going_on_gives_the_same_bits(
    tmp_path: Path, stop: Stop, budgets: tuple[int, int], method: str
) -> None:
    csr = saved(csr_of(WEB), tmp_path / "graph")
    weights = np.arange(WEB.nodes) % 7.0 if METHODS[method].takes else None
    problem = Problem(csr, stop, 2, budgets[0], {"weights": weights})
    whole = METHODS[method].scoring.solve(problem)
    place, told = tmp_path / "checkpoint", 0

    def interrupted(entry: Round, rounds: list[Round]) -> None:
        nonlocal told
        told += 1
        if told % 3 == 0:
            raise Killed

    def attempt(number: int) -> list[Round]:
        budget = budgets[number % 2]
        return rank(
            Ranking(METHODS[method], stop, {"weights": weights}),
            csr,
            tmp_path / "ranks",
            threads=2,
            budget=budget,
            checkpoint=place,
            on_round=interrupted,
            interval=0.0,
        )

    attempts = 0
    while True:
        try:
            rounds = attempt(attempts)
            break
        except Killed:
            attempts += 1
            assert not (tmp_path / "ranks").exists()
    assert attempts >= 2
    assert told == len(whole.rounds)  # no round was done twice
    assert untimed(rounds) == untimed(whole.rounds)
    assert np.load(tmp_path / "ranks" / SCORES).tolist() == whole.scores.tolist()
    assert np.load(tmp_path / "ranks" / DUMMY).tolist() == [whole.dummy]


def run(csr: Csr, folder: Path, stop: Stop, threads: int = 2, budget: int = MUCH) -> list[Round]:
    place = folder / "checkpoint"
    output = folder / f"ranks-{len(list(folder.iterdir()))}"
    return rank(
        Ranking(PAGERANK, stop), csr, output, threads=threads, budget=budget, checkpoint=place,
        interval=0.0,
    )  # fmt: skip


def test_the_checkpoint_of_a_finished_run_is_enough(tmp_path: Path) -> None:
    first = run(csr_of(WEB), tmp_path, Stop(tolerance=1e-9))
    assert run(csr_of(WEB), tmp_path, Stop(tolerance=1e-9)) == first  # seconds too: none was done
    made = [np.load(path / SCORES) for path in sorted(tmp_path.glob("ranks-*"))]
    assert made[0].tolist() == made[1].tolist()


@pytest.mark.parametrize("stop", [Stop(iterations=2), Stop(tolerance=1e-3)], ids=str)
def test_a_checkpoint_of_something_else_is_left_alone(tmp_path: Path, stop: Stop) -> None:
    run(csr_of(WEB), tmp_path, Stop(tolerance=1e-9))
    run(csr_of(web_like(2000, seed=4)), tmp_path, stop)
    made = np.load(max(tmp_path.glob("ranks-*")) / SCORES)
    other = solve(Problem(csr_of(web_like(2000, seed=4)), stop, 2, MUCH))
    assert made.tolist() == other.scores.tolist()


@pytest.mark.parametrize("budgets", [(0, MUCH), (MUCH, 0)])
def test_a_state_of_other_rows_is_left_alone(budgets: tuple[int, int]) -> None:
    """Rows in memory and rows on disk have vectors of other meanings."""
    graph, states = csr_of(cycle(50)), []  # no twins, so that the vectors are equally long

    def keep(entry: Round, rounds: list[Round], state: Callable[[], State]) -> None:
        states.append(state())

    solve(Problem(graph, SWEEPS, 2, budgets[0], on_round=keep))
    whole = solve(Problem(graph, SWEEPS, 2, budgets[1]))
    got = solve(Problem(graph, SWEEPS, 2, budgets[1], state=states[0]))
    assert states[0].vector.shape == (50,)
    assert untimed(got.rounds) == untimed(whole.rounds)


def test_too_few_sweeps_keep_their_scores(tmp_path: Path) -> None:
    with pytest.raises(NotConverged, match=r"after 3 rounds .*--max-rounds"):
        run(csr_of(WEB), tmp_path, Stop(tolerance=1e-9, max_rounds=3))
    kept = np.load(tmp_path / "ranks-0" / SCORES)
    told = solve(Problem(csr_of(WEB), Stop(tolerance=1e-9, max_rounds=3), 2, MUCH)).rounds[-1]
    assert told["certificate"] > 1e-9
    exact = exact_scores(WEB)
    assert np.abs(kept - exact).sum() / kept.sum() <= told["certificate"]


def test_states_are_as_they_were_saved(tmp_path: Path) -> None:
    of = {"kind": "plain"}
    state = State(np.array([0.1, 1 / 3]), 0.7, [{"round": 1, "certificate": 0.1 + 0.2}])
    ranks.write_checkpoint(tmp_path / "checkpoint", of, state)
    found = ranks.read_checkpoint(tmp_path / "checkpoint", of)
    assert found is not None
    assert (found.vector.tolist(), found.dummy) == (state.vector.tolist(), 0.7)
    assert found.rounds == state.rounds
    assert ranks.read_checkpoint(tmp_path / "checkpoint", {"kind": "sweeps"}) is None
    assert ranks.read_checkpoint(tmp_path / "none", of) is None


@pytest.mark.slow
def test_a_checkpoint_of_other_weights_of_links_is_left_alone(tmp_path: Path) -> None:
    hosts = np.arange(WEB.nodes) // 9
    made = []
    for number, weights in enumerate([(1.0, 2.0), (2.0, 1.0), (1.0, 2.0)]):
        links = WeightedLinks(*weights, hosts)
        output, place = tmp_path / str(number), tmp_path / "checkpoint"
        ranking = Ranking(PAGERANK, Stop(tolerance=1e-9), {"links": links})
        rank(ranking, csr_of(WEB), output, budget=MUCH, checkpoint=place, interval=0.0)  # fmt: skip
        made.append(np.load(output / SCORES))
    assert made[0].tolist() == made[2].tolist()
    assert np.abs(made[0] - made[1]).max() > 1e-3
