#!/usr/bin/env python3
"""What a crawl costs on EMR, from rates measured on one machine and assumptions said here.

    scripts/costs/emr_costs.py [--tb 1] [--rounds 25 | --iterations 10] [--workers 6] [--measure]

--iterations counts plain rounds, the recipe's; packed ones are what `run` does without it.

--measure takes the rates of the jobs from this machine (half a minute) in place of those below.
Nothing here has been checked against a bill of AWS: rates and prices are for replacing.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crawlrank.pipeline.estimate.projection import CORE_OF_A_VCPU, HADOOP, OTHER_STEPS, STEP

# measured: docs/benchmarks.md, extraction, keys among it; and --measure, 300,000 links, one core
EXTRACTED = 8.3e6  # bytes of .warc.gz a core and second
STEPS = {
    "canonicalize": 18.8, "assign-ids": 24.2, "gen-graph": 8.5, "join-scores": 6.5,
    "export-precedence": 11.5,
}  # fmt: skip
PLAIN = 3.6  # microseconds of a core for a link, a round; as all of these
PACKING, PACKED = 3.4, 0.07  # bench_rounds.py, inline: before and after all packed rounds, each one

# assumed of the crawl
PAGES_A_TB = 30e6  # pages of 33 kB, gzipped
LINKS_A_PAGE = 60  # that are kept
BYTES_A_LINK = 91 + 76 + 81 + 20  # links, canonical_links, input_links, the rest; as measured

# assumed of the cluster, beside pipeline/estimate/projection.py
VCPUS = 8  # of an m5.2xlarge
START = 12 / 60  # hours until the cluster is ready

# US dollars, us-east-1, as assumed in November 2026: EC2 and EMR an hour, EBS 128 GB of a node
WORKER, WORKER_EMR = 0.384, 0.096  # m5.2xlarge
MASTER, MASTER_EMR = 0.192, 0.048  # m5.xlarge
ROUNDS = 25  # packed ones, to a certified 1e-6; to 1e-9 half more
SPOT = 0.40  # of the price on demand
DISK = 128 * 0.10 / 730
STORED = 0.023 / 730  # S3, a GB an hour


@dataclass(frozen=True)
class Plan:
    """tb: 10^12 bytes of .warc.gz. rounds: packed ones, to a certified 1e-6; iterations: plain ones
    in their place. workers: nodes that run tasks, on_demand of them (HDFS is on these) and the rest
    on spot."""

    tb: float = 1
    rounds: int = ROUNDS
    iterations: int = 0
    workers: int = 6
    on_demand: int = 2

    @property
    def links(self) -> float:
        return self.tb * PAGES_A_TB * LINKS_A_PAGE

    def core_hours(self) -> dict[str, float]:
        """The core hours of Python, by step."""
        hours = {"extract-links": self.tb * 1e12 / EXTRACTED / 3600}
        hours |= {name: self.links * rate / 3.6e9 for name, rate in STEPS.items()}
        rates = {
            "packing, unpacking": PACKING,
            f"{self.rounds} packed rounds": PACKED * self.rounds,
        }
        if self.iterations:
            rates = {f"{self.iterations} plain rounds": PLAIN * self.iterations}
        return hours | {name: self.links * rate / 3.6e9 for name, rate in rates.items()}

    def steps(self) -> int:
        return OTHER_STEPS + (self.iterations or self.rounds)

    def hours(self) -> float:
        """From the request to the end."""
        cores = self.workers * VCPUS * CORE_OF_A_VCPU
        return START + self.steps() * STEP + sum(self.core_hours().values()) * HADOOP / cores

    def dollars(self) -> dict[str, float]:
        hours, spot = self.hours(), self.workers - self.on_demand
        stored = self.links * BYTES_A_LINK / 1e9
        return {
            "EC2": hours * (MASTER + WORKER * (self.on_demand + SPOT * spot)),
            "EMR": hours * (MASTER_EMR + WORKER_EMR * self.workers),
            "EBS": hours * DISK * (self.workers + 1),
            "S3, a week": 7 * 24 * STORED * stored,
        }


def table(plan: Plan) -> str:
    """The table as Markdown."""
    cores = plan.workers * VCPUS * CORE_OF_A_VCPU
    rows = [
        f"{plan.tb:g} TB of `.warc.gz`: {plan.tb * PAGES_A_TB:,.0f} pages, {plan.links:,.0f} links,"
        f" {plan.links * BYTES_A_LINK / 1e9:,.0f} GB of datasets; {plan.workers} x m5.2xlarge,"
        f" {plan.on_demand} of them on demand, one m5.xlarge.",
        "",
        "| | core hours | hours of this cluster |",
        "|---|---|---|",
    ]
    for name, hours in plan.core_hours().items():
        rows.append(f"| {name} | {hours:.1f} | {hours * HADOOP / cores:.1f} |")
    start = START + plan.steps() * STEP
    rows.append(f"| start, and of {plan.steps()} steps | | {start:.1f} |")
    rows.append(f"| all | {sum(plan.core_hours().values()):.1f} | {plan.hours():.1f} |")
    rows += ["", "| | US dollars |", "|---|---|"]
    dollars = plan.dollars()
    rows += [f"| {name} | {cost:.2f} |" for name, cost in dollars.items()]
    rows.append(f"| all | {sum(dollars.values()):.2f} |")
    rows.append(f"| a TB | {sum(dollars.values()) / plan.tb:.2f} |")
    return "\n".join(rows) + "\n"


def measured(links: int = 300_000, pages: int = 20_000) -> tuple[dict[str, float], float]:
    """STEPS and PLAIN on this machine, in this process."""
    from crawlrank.jobs.mapreduce.launcher import Launcher
    from crawlrank.pipeline.engines.text import steps
    from crawlrank.pipeline.engines.text.job_export import write_lines
    from crawlrank.pipeline.precedence.options import PrecedenceOptions
    from crawlrank.pipeline.ranking.options import Stop

    rates: dict[str, float] = {}

    def timed(name: str, step: Callable[[], object]) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF)
        step()
        after = resource.getrusage(resource.RUSAGE_SELF)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rates[name] = used / links * 1e6

    with tempfile.TemporaryDirectory() as folder:
        tmp = Path(folder)
        launcher = Launcher("inline", tmp)
        _write_links(tmp / "links", links, pages)
        keys, uris, named, ids = (tmp / name for name in ("keys", "uris", "named", "ids"))
        timed("canonicalize", lambda: steps.canonicalize([tmp / "links"], [], keys, uris, launcher))
        timed("assign-ids", lambda: steps.assign_ids([keys], [], named, ids, launcher))
        timed("gen-graph", lambda: steps.gen_graph([named], [], tmp / "graph", launcher))
        stop, ranks = Stop(iterations=2), tmp / "ranks"
        timed("", lambda: steps.page_rank(tmp / "graph", ranks, launcher, stop, lambda *_: None))
        scores, lines, errors = tmp / "scores", tmp / "lines", PrecedenceOptions(eta=1e-6)
        timed("join-scores", lambda: steps.join_scores([ranks], [ids], uris, scores, launcher))
        timed("export-precedence", lambda: write_lines(scores, uris, lines, launcher, errors))
    return rates, rates.pop("") / 2


def _write_links(path: Path, links: int, pages: int) -> None:
    """Links as a crawl's: few pages have most of those that come in."""
    draw = random.Random(1)
    hosts = [draw.randrange(pages // 50) for _ in range(pages)]
    uris = [f"http://h{host}.example.org/dir{n % 37}/page-{n}.html" for n, host in enumerate(hosts)]
    with path.open("w") as file:
        for _ in range(links):
            target, source = int(pages * draw.random() ** 3), draw.randrange(pages)
            file.write(f"{uris[target]} {uris[source]} L\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, kind in (("tb", float), ("rounds", int), ("iterations", int), ("workers", int)):
        parser.add_argument(f"--{name}", type=kind, default=getattr(Plan, name))
    parser.add_argument("--measure", action="store_true", help="rates of this machine")
    given = vars(parser.parse_args())
    if given.pop("measure"):
        global PLAIN
        rates, PLAIN = measured()
        STEPS.update(rates)
        told = ", ".join(
            f"{name} {rate:.1f}" for name, rate in {**STEPS, "plain round": PLAIN}.items()
        )
        print(f"Measured here, microseconds of a core for a link: {told}.\n")
    print(table(Plan(**given)), end="")


if __name__ == "__main__":
    main()
