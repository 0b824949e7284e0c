"""HITS as rounds of jobs: each pass is two of HitsHalf, from equal authorities.

As many passes as wanted give the same scores, bit for bit, as those of ranking/hits/method.py. To a
tolerance, rounds are of two kinds. C is the matrix that a pass applies to hubs, u the hubs with the
length 1, theta = u^T C u.

**Passes** continue until the residual |C u - theta u| is small. A pass never turns u away from the
best vector, so what the residual proves of u holds after the next pass, too.

**Probes** bound lambda_2, the second eigenvalue of C, once: it is at most the largest one of P C P
with P = I - u u^T (Courant, Fischer). k steps of the power method from a random vector estimate
that as xi, and the probability of lambda > xi / (1 - eps) is at most min(0.824, 0.354 / sqrt(eps
(k - 1))) sqrt(n) (1 - eps)^(k - 1/2) (Kuczynski, Wozniakowski 1992, for the power method). That
probability is CHANCE here. The sine of the angle between u and the best vector is then at most
residual / (theta - lambda_2), as in ranking/hits/lanczos.py.

A round is two jobs, and the shuffle of each has all lines. Where lambda_2 is close to the largest
eigenvalue, hundreds of rounds are needed.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from crawlrank.jobs.hits import AUTHORITIES, HUBS, HitsHalf, HitsRanks, TurnLinks
from crawlrank.jobs.kernel.rank.hits import HalfSums, merged
from crawlrank.jobs.kernel.rank.plain_round import UNIT
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join, remove, staged
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.outcome import MappedInputs
from crawlrank.jobs.page_rank import PageRank
from crawlrank.pipeline.engines.text.job_rounds import JobRounds
from crawlrank.pipeline.ranking.hits.lanczos import CHANCE, ENDED
from crawlrank.pipeline.ranking.hits.method import of_probabilities, without_gap, without_links
from crawlrank.pipeline.ranking.options import Round

TURNED, RANKS, HUBS_OF_RANKS = "turned", "ranks", "hubs"
STATE = "hits"  # of a round's entry
DOUBT = 64 * UNIT  # of what a pass computes, relative
HOPED = 0.1  # gap, relative, that the residual is made small enough for before probes begin
KNOWN = 0.5  # of the gap, which a bound has to prove: more would save few passes
EQUAL = 1e-6  # relative distance of eigenvalues that no residual is waited for


@dataclass(frozen=True)
class Passed:
    """What the driver knows after a round. authority_length, hub_length: of the sums in the lines.
    residual: of the hubs before the last pass, relative to `proven`, which is their theta; 1
    before it is known. known: a bound of lambda_2. along, probe_length: of the probes, see
    jobs/hits.py. steps, low: of the power method. probed: whether authorities have given way to the
    sums of a probe."""

    authority_length: float = 1.0
    hub_length: float = 1.0
    theta: float = 0.0
    proven: float = 0.0
    residual: float = 1.0
    mass: float = 0.0
    known: float | None = None
    along: float = 0.0
    probe_length: float = 1.0
    steps: int = 0
    low: float = 0.0
    probed: bool = False

    def args(self) -> list[str]:
        lengths = {
            "--authority-length": self.authority_length, "--hub-length": self.hub_length,
            "--probe-length": self.probe_length, "--along": self.along,
        }  # fmt: skip
        # one word: argparse takes "-1e-05" for an option
        return [f"{name}={number!r}" for name, number in lengths.items()]


@dataclass
class HitsRounds(JobRounds):
    """Rounds of HITS: passes and probes. The datasets `ranks` and `hubs` in the folder have the
    scores, also where NotConverged is raised. relevance: a file of equation.py. Raises BadInput for
    a graph without links that count, and one whose largest singular values are equal."""

    title = "HITS"
    relevance: Path | None = None
    passed: Passed = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.passed = Passed(**self.rounds[-1][STATE]) if self.rounds else Passed()

    @property
    def state(self) -> PathOrUrl:
        return super().state or self.at(TURNED)

    def begin(self) -> None:
        if not self.rounds:
            with staged(self.state) as stage:
                origin = MappedInputs(PageRank, [], [self.graph])
                launch(TurnLinks, [self.graph], stage, self.launcher, origin=origin)

    def turn(self) -> Round:
        return self.probe() if self.wants_probe else self.complete_pass()

    @property
    def wants_probe(self) -> bool:
        if self.stop.iterations is not None or self.passed.known is not None:
            return False
        return bool(self.passed.steps) or self.passed.residual <= HOPED * self.stop.tolerance

    def _half(self, lines: PathOrUrl, output: PathOrUrl, half: str, *args: str) -> HalfSums:
        args = ("--half", half, *self.passed.args(), *args)
        if self.relevance:
            args = (*args, "--relevance", str(self.relevance))
        with staged(output) as stage:
            return merged(launch(HitsHalf, [lines], stage, self.launcher, args).sums)

    def _next(self) -> PathOrUrl:
        return self.round_at(len(self.rounds) + 1)

    def complete_pass(self) -> Round:
        """A pass: hubs of authorities, then authorities of hubs."""
        with self.launcher.workplace("hubs") as tmp:
            grows = self.passed.theta / self.passed.authority_length
            before, lines = self._with_authorities(tmp), join(tmp, "lines")
            hubs = self._half(before, lines, HUBS, f"--grows={grows!r}")
            if not hubs.length:
                raise without_links()
            along = hubs.along / hubs.length
            self.passed = replace(
                self.passed, hub_length=hubs.length, along=along, proven=self.passed.theta,
                residual=math.sqrt(hubs.away) / grows if grows else 1.0,
                probe_length=math.sqrt(max(hubs.probes - along * along, 0.0)) or 1.0,
            )  # fmt: skip
            return self._entry(self._authorities(lines, self._next()))

    def _authorities(self, lines: PathOrUrl, output: PathOrUrl) -> HalfSums:
        sums = self._half(lines, output, AUTHORITIES)
        if not sums.length or not sums.weighed:
            raise without_links()
        self.passed = replace(
            self.passed, authority_length=sums.length, theta=sums.weighed,
            mass=sums.total / sums.length, probed=False,
        )  # fmt: skip
        return sums

    def _with_authorities(self, tmp: PathOrUrl) -> PathOrUrl:
        """The current lines, or others with the same hubs and their authorities."""
        if not self.passed.probed:
            return self.state
        lines = join(tmp, "restored")
        self._authorities(self.state, lines)
        return lines

    def probe(self) -> Round:
        """A step of the power method on what is orthogonal to the hubs."""
        with self.launcher.workplace("probe") as tmp:
            there = join(tmp, "there")
            self._half(self.state, there, AUTHORITIES, "--probe")
            sums = self._half(there, self._next(), HUBS, "--probe", "--authority-length=1.0")
            self._step(sums)
            return self._entry(sums)

    def _step(self, sums: HalfSums) -> None:
        passed, rows = self.passed, sums.nodes - sums.dangling
        theta, steps = passed.theta, passed.steps + 1
        low = max(passed.low, sums.old / sums.probes if sums.probes else 0.0)
        if low >= theta * (1 - EQUAL):
            raise without_gap(theta, low)
        rest = math.sqrt(max(sums.length**2 - sums.along**2, 0.0))
        eps = spare(steps, rows)
        high = low / (1 - eps) * (1 + DOUBT) if eps < 1 else math.inf
        if rest <= ENDED * theta or rows <= 1:  # the probes had a part of all eigenvectors
            high = low + rows * ENDED * theta
        enough = self._error(high, sums) <= self.stop.tolerance
        gap = passed.proven * (1 - passed.residual) - high
        taken = enough or gap > max(0.0, KNOWN * (passed.proven - low))
        self.passed = replace(
            passed, steps=steps, low=low, along=sums.along, probe_length=rest or 1.0,
            known=high if taken else None, probed=True,
        )  # fmt: skip

    def _error(self, second: float | None, sums: HalfSums) -> float:
        """A bound of |a - a*|. second: of lambda_2."""
        passed, worst = self.passed, math.sqrt(2)
        if second is None or not second < passed.proven:
            return worst
        sine = (passed.residual + DOUBT) * passed.proven / (passed.proven - second)
        if not self.relevance:
            return min(worst, worst * sine)
        largest = math.sqrt(sums.in_max * sums.out_max)  # singular value of the links, at most
        return min(worst, 2 * largest * sine / passed.authority_length)

    def _entry(self, sums: HalfSums) -> Round:
        passed = self.passed
        error = self._error(passed.known, sums)
        return {
            "round": len(self.rounds) + 1, "nodes": sums.nodes, "edges": sums.edges,
            "dangling": sums.dangling, "mass": passed.mass,
            "residual_l1": passed.residual, "residual_max": passed.residual, "certificate": error,
            "eta": math.inf, "absolute": error,
            "probability_certificate": of_probabilities(error, sums.nodes, passed.mass),
            STATE: asdict(passed),
        }  # fmt: skip

    def settle(self) -> PathOrUrl:
        """The scores and the hubs of the last round as datasets of their own."""
        ranks, hubs = self.at(RANKS), self.at(HUBS_OF_RANKS)
        for folder in (ranks, hubs):
            remove(folder)  # of a killed run
        with self.launcher.workplace("settled") as tmp:
            lines, args = self._with_authorities(tmp), self.passed.args()[:2]
            launch(HitsRanks, [lines], ranks, self.launcher, args, {"hubs": hubs})
        return ranks


def spare(steps: int, rows: int, chance: float = CHANCE) -> float:
    """eps: lambda > xi / (1 - eps) has at most the probability `chance`. Falls with the steps."""
    if steps < 2:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        eps = (low + high) / 2
        first = min(0.824, 0.354 / math.sqrt(eps * (steps - 1)))
        probability = first * math.sqrt(rows) * (1 - eps) ** (steps - 0.5)
        low, high = (low, eps) if probability <= chance else (eps, high)
    return high
