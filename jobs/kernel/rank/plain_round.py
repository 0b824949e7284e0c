"""One plain round of PageRank on graph lines, and what a round tells about its error.

    x'_i = base_i + damping * sum over edges j->i of x_j / outdegree_j      (dummy likewise)

Below, base and damping are 0.15 and 0.85, as in the recipe; equation.py has others. base_i is base
times the weight of i, how often a reader starts anew there; all weights are 1 in the recipe.

Dangling nodes point to `dummy`, and `dummy` to itself, so no dangling mass has to be collected and
the sum of all scores, dummy's included, stays N + 1. Sums are correctly rounded (math.fsum), so
the new scores do not depend on the order or the grouping in which contributions arrive.

The residual of the vector that enters the round, r = x' - x over the N nodes, bounds its distance
from the fixed point x* (DESIGN, formulas): |x - x*|_1 <= |r|_1 / 0.15, hence for the new vector
|x' - x*|_1 <= 0.85 |r|_1 / 0.15; per node |x_i - x*_i| <= eta x*_i with eta = max|r_i| / 0.15,
which stays true for the new vector (see `spread` where some base_i are 0).

Probabilities p = x / |x|_1 are those of a surfer who starts anew by t = w / N, w the weights of the
nodes, from dangling nodes too: p* = G p*, and G moves vectors of sum 0 closer by the damping. As
G p - p = (r - s t) / |x|_1, with s = sum r, |p - p*|_1 <= |r - s t|_1 / (0.15 |x|_1) of the vector
that enters. That of the new one, with m = s / |x'|_1, is p' = (1 - m) G p + m t, so that
|p' - p*|_1 <= |1 - m| 0.85 |p - p*|_1 + |m| |t - p*|_1, and the last factor is at most 2.

Rounding. With u = 2^-53, a new score is wrong by at most 5 u of itself: u each for the quotients,
their sum, its product with 0.85 and the last sum, and less than u for 0.85 and 0.15 not being
doubles. The L1 bound has to cover that in r and, 0.15/0.85 times, in x'; the bound per node in r
and in x', also where max|r_i| is that of a node of the least score, 0.15; the bound about the mean
in r and in mean(r). So every |r_i| is taken 10 u x'_i larger than it was computed. What sums and
quotients of the bounds themselves round by, at most once a node each, is added at the end. No bound
is ever 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace

from crawlrank.jobs.kernel.rank.equation import RECIPE, Equation

UNIT = 2.0**-53  # rounding to nearest is wrong by at most this, relative
DOUBT = 10 * UNIT  # of a residual, relative to the new score


def exact_parts(values: Iterable[float]) -> list[float]:
    """Few doubles whose exact sum is that of `values`: the correctly rounded sum, then its rest.

    Adding the parts of several groups with math.fsum therefore gives, bit for bit, what adding
    all values at once gives. Values are finite and at least 0.
    """
    rest = list(values)
    parts = []
    while part := math.fsum(rest):
        parts.append(part)
        rest.append(-part)
    return parts or [0.0]


def new_score(
    contributions: Iterable[float], equation: Equation = RECIPE, weight: float = 1.0
) -> float:
    """The score of a node from the contributions x_j / outdegree_j that reach it."""
    return equation.base * weight + equation.damping * math.fsum(contributions)


def spread(share: float, least: float, total: float, damping: float) -> float:
    """A bound of |x_i - x*_i| / x*_i for all i, of scores x with the residual r, some base_i 0.

    share: s = max |r_i| / x_i, infinite unless r_i is 0 for all x_i of 0: such x_i are exact.
    least: the smallest x_i above 0. total: |x|_1. With M = (I - damping A)^-1, |x - x*| <= M |r|
    <= s M x. As damping A x <= (1 + s) x, and as no entry of damping^k A^k x is above damping^k
    |x|_1, M x is for every k at most (k + 1) (1 + s)^k x + damping^(k+1) / (1 - damping) |x|_1.
    """
    if not share < 1:
        return math.inf
    far = math.ceil(math.log(total / (1 - damping) / least) / -math.log(damping))
    grown = far * math.log1p(share)
    if grown > 700:  # e^grown is no double
        return math.inf
    bound = share * ((far + 1) * math.exp(grown) + 1)
    return bound / (1 - bound) if bound < 1 else math.inf


@dataclass
class RoundSums:
    """Sums over the nodes that one reducer wrote; those of all reducers merge to the round's.

    shift: the constant c of `shifted`. It and damping are the same in all reducers of a round.
    """

    nodes: int = 0
    edges: int = 0
    dangling: int = 0
    old_l1: float = 0.0  # |x|_1 of the vector that enters
    new_l1: float = 0.0  # |x'|_1
    residual_sum: float = 0.0  # sum of r
    residual_l1: float = 0.0  # |r|_1, with the doubt about each r_i, as in the next two
    residual_max: float = 0.0  # max |r_i|
    relative_max: float = 0.0  # max |r_i| / base_i, infinite where a base_i is 0 and r_i is not
    share_max: float = 0.0  # max |r_i| / x_i
    least: float = math.inf  # the smallest x_i above 0
    shift: float = 0.0
    shifted_l1: float = 0.0  # |r - c w|_1, w the weights
    dangling_new: float = 0.0  # sum of x' over dangling nodes
    dummy_old: float = 0.0
    dummy_new: float = 0.0
    dummies: int = 0
    damping: float = RECIPE.damping

    def merge(self, other: RoundSums) -> None:
        """Add the sums of another reducer of the same round."""
        for entry in fields(self):
            own, theirs = getattr(self, entry.name), getattr(other, entry.name)
            if entry.name.endswith("_max"):
                value = max(own, theirs)
            elif entry.name == "least":
                value = min(own, theirs)
            else:
                value = theirs if entry.name in ("shift", "damping") else own + theirs
            setattr(self, entry.name, value)

    def as_dict(self) -> dict[str, float]:
        return asdict(self)

    @property
    def mass(self) -> float:
        """Sum of all new scores, dummy's included; N + 1 as long as nothing is lost."""
        return self.new_l1 + self.dummy_new

    @property
    def mass_error(self) -> float:
        """How far the mass is from N + 1, relative."""
        return abs(self.mass - (self.nodes + 1)) / (self.nodes + 1)

    @property
    def certificate(self) -> float:
        """Bound of |x' - x*|_1 / |x'|_1, for the vector that leaves the round."""
        bound = self.damping * self.residual_l1 / (self._base * self.new_l1)
        return bound * (1 + self._rounding)

    @property
    def eta(self) -> float:
        """Every score of the new vector is within a factor 1 +- eta of the exact one."""
        bound = self.relative_max
        if math.isinf(bound):  # one of the vector that enters is one of the new one: x' >= 0.85 A x
            bound = spread(self.share_max, self.least, self.old_l1, self.damping)
        return bound * (1 + self._rounding)

    @property
    def _base(self) -> float:
        return Equation(self.damping).base

    @property
    def _rounding(self) -> float:
        """What a bound made of two of the sums can be too small by, relative."""
        return UNIT * (2 * self.nodes + 16)

    @property
    def probability_certificate(self) -> float:
        """Bound of |p' - p*|_1 of the vector that leaves the round, see above.

        The sum was taken about the shift c known before the round, not about the mean of r;
        |r - mean w|_1 <= |r - c w|_1 + N |mean - c| keeps the bound true whatever c was.
        """
        mean = self.residual_sum / self.nodes
        doubt = self._rounding * self.residual_l1  # of r, and of the sum of r, which cancels
        deviation = self.shifted_l1 + self.nodes * abs(mean - self.shift) + doubt
        entering = deviation / (self._base * self.old_l1)
        moved = (abs(self.residual_sum) + doubt) / self.new_l1
        bound = (1 + moved) * self.damping * entering + 2 * moved
        return min(bound * (1 + self._rounding), 2 * self.certificate)

    def next_shift(self) -> float:
        """The mean residual of the next round, known now: what the nodes gain, dummy loses."""
        next_dummy = self._base + self.damping * (self.dangling_new + self.dummy_new)
        return (self.dummy_new - next_dummy) / self.nodes


@dataclass
class RoundTally:
    """Collects the values of one reducer and sums them at the end, each sum correctly rounded."""

    shift: float
    equation: Equation = RECIPE
    _sums: RoundSums = field(default_factory=RoundSums)
    _block: list[tuple[float, float, bool, float]] = field(default_factory=list)

    BLOCK = 4096

    def add(self, old: float, new: float, outdegree: int, weight: float = 1.0) -> None:
        """A node: its score before and after the round, its edges out (0 when dangling), and how
        often a reader starts anew there."""
        self._sums.edges += outdegree
        self._block.append((old, new, outdegree == 0, weight))
        if len(self._block) >= self.BLOCK:
            self._fold()

    def add_dummy(self, old: float, new: float) -> None:
        self._merge(RoundSums(dummies=1, dummy_old=old, dummy_new=new))

    def _merge(self, sums: RoundSums) -> None:
        self._sums.merge(replace(sums, shift=self.shift, damping=self.equation.damping))

    def _fold(self) -> None:
        block, self._block = self._block, []
        residuals = [new - old for old, new, _, _ in block]
        doubts = [DOUBT * new for _, new, _, _ in block]
        bounds = [abs(r) + doubt for r, doubt in zip(residuals, doubts, strict=True)]
        bases = [self.equation.base * weight for *_, weight in block]
        old_scores = [old for old, *_ in block]
        shifted = [r - self.shift * w for r, (*_, w) in zip(residuals, block, strict=True)]
        self._merge(
            RoundSums(
                nodes=len(block),
                dangling=sum(dangles for _, _, dangles, _ in block),
                old_l1=math.fsum(old_scores),
                new_l1=math.fsum(new for _, new, _, _ in block),
                residual_sum=math.fsum(residuals),
                residual_l1=math.fsum(bounds),
                residual_max=max(bounds, default=0.0),
                relative_max=_largest_share(bounds, bases),
                share_max=_largest_share(bounds, old_scores),
                least=min((old for old in old_scores if old > 0), default=math.inf),
                shifted_l1=math.fsum([*map(abs, shifted), *doubts]),
                dangling_new=math.fsum(new for _, new, dangles, _ in block if dangles),
            )
        )

    def sums(self) -> RoundSums:
        self._fold()
        return self._sums


def _largest_share(bounds: Iterable[float], of: Iterable[float]) -> float:
    """The largest quotient, infinite where something above 0 is divided by 0."""
    pairs = [(bound, whole) for bound, whole in zip(bounds, of, strict=True) if bound > 0]
    return max((bound / whole if whole else math.inf for bound, whole in pairs), default=0.0)
