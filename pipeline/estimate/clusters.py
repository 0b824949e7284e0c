"""What a run takes on a cluster, from rates of one core of this machine.

Nothing here is measured on a cluster of several nodes: these are the assumptions that the costs of
docs/emr.md and docs/scaling.md rest upon, too (scripts/costs).
"""

from __future__ import annotations

from typing import NamedTuple

from crawlrank.pipeline.estimate.growth import Bracket, summed

CORE_OF_A_VCPU = 0.6  # two are one core's threads
HADOOP = 2.0  # all that a job costs by what its Python costs: JVMs, pipes, sorting, copying
STEP = 1.5 / 60  # hours that a job takes without any data
OTHER_STEPS = 12  # jobs of a run that are no rounds
ROUNDS = 38  # packed ones, to a certified 1e-9: 25 to 1e-6 by docs/benchmarks.md, and half more
NODE = 16  # vCPUs of an m5.4xlarge
OPIC = 24, 200  # bytes of memory an edge and a node, of validation on the driver's machine
UNSURE = Bracket(0.5, 1.0, 2.0)  # of all of this


class ClusterNeeds(NamedTuple):
    """node_hours: of nodes of 16 vCPUs, while jobs work. jobs, starting: how many there are, and
    the hours on the clock that they take to start, however many nodes."""

    node_hours: Bracket
    jobs: int
    starting: float


def cluster_needs(core_seconds: Bracket, iterations: int | None) -> ClusterNeeds:
    """core_seconds: of Python, on this machine. iterations: plain rounds, if they are counted."""
    jobs = OTHER_STEPS + (iterations or ROUNDS)
    hours = core_seconds * (HADOOP / 3600 / (NODE * CORE_OF_A_VCPU)) * UNSURE
    return ClusterNeeds(hours, jobs, jobs * STEP)


def jobs_memory(edges: Bracket, nodes: Bracket) -> Bracket:
    """Bytes of the machine that starts jobs, for validation by OPIC."""
    return summed([edges * OPIC[0], nodes * OPIC[1]])
