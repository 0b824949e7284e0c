"""The recrawl of the made site in several ways, with what each comes to, and two pictures.

Prints a line for each crawl: the URIs whose order counts; those with the precedence of the file, as
Heritrix noted; those fetched after a later class of their host; pairs in order within hosts, from
host to host and in all; Kendall's tau-b. Leaves without.svg and with.svg in the folder.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawlrank.pipeline.precedence.beans import ANNOTATOR, PAGES
from heritrix.distribution import heritrix_home
from heritrix.job import Job, Plan, write_job
from heritrix.made_site import Site
from heritrix.recrawl import NOTED, first_crawl, rank, scope
from heritrix.running import run_job
from heritrix.serving import serving
from heritrix.site_parts import make_site

PARTS = ("within_hosts", "across_hosts", "all")
#: crawl -> settings of its job, options of recrawl
CRAWLS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "recrawl": ({}, ()),
    "recrawl, 10 threads": ({"crawlController.maxToeThreads": "10"}, ()),
    "recrawl --top 100": ({}, ("--top", "100")),
    "recrawl --seeds-only, one seed": ({}, ("--seeds-only",)),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="heritrix", description=__doc__)
    parser.add_argument("folder", type=Path, help="for the jobs and the work folder; new")
    parser.add_argument("--bins", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the made site")
    options = parser.parse_args()
    options.folder.mkdir(parents=True)
    with serving(lambda hosts: make_site(hosts, seed=options.seed)) as served:
        loop(options.folder, served.site, options.bins)


def loop(folder: Path, site: Site, bins: int) -> None:
    home, jobs = heritrix_home(), folder / "jobs"
    first = first_crawl(home, jobs / "first", site)
    work = rank(first.archives, folder / "work", "--bins", str(bins)).parent
    print(
        f"{'crawl':32}{'URIs':>6}{'noted':>7}{'late':>6}{'within':>9}{'across':>9}{'all':>9}{'tau-b':>8}"
    )
    show("first crawl, from one seed", audit(work, first))
    made = {}
    for number, (name, (settings, options)) in enumerate(CRAWLS.items()):
        job = write_job(
            home, jobs / f"job-{number}", planned([f"{site.hosts[0]}/"], site, settings)
        )
        crawlrank("recrawl", "--job", job.folder, "--work", work, "--heritrix", home, *options)
        run_job(home, job)
        made[name] = job
        show(name, audit(work, job))
    pages = (made["recrawl"].folder / "crawlrank" / "1" / PAGES).read_text().splitlines()
    seeds = [line.split("\t")[1] for line in pages]
    random.Random(1).shuffle(seeds)  # best first, they alone would make the order within hosts
    without = write_job(home, jobs / "without", planned(seeds, site, {}))
    run_job(home, without)
    show("its pages as seeds, shuffled", audit(work, without))
    for name, job in {"without": without, "with": made["recrawl"]}.items():
        audit(work, job, "--plot", str(folder / f"{name}.svg"))


def planned(seeds: Sequence[str], site: Site, settings: dict[str, str]) -> Plan:
    return Plan(seeds, scope(site), settings, None, ANNOTATOR, NOTED)


def crawlrank(*words: object) -> str:
    command = [sys.executable, "-m", "crawlrank", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def audit(work: Path, job: Job, *options: str) -> dict[str, Any]:
    file = work / "precedence.txt"
    text = crawlrank("audit", file, job.crawl_log, "--json", "-", *options)
    results: dict[str, Any] = json.loads(text)
    return results


def show(name: str, results: dict[str, Any]) -> None:
    noted, order = results["annotations"] or {"right": "-", "late": "-"}, results["order"]
    shares = "".join(f"{order[part]['kept']:9.1%}" for part in PARTS)
    count = results["counts"]["ordered"]
    tau = order["all"]["tau_b"]
    print(f"{name:32}{count:6}{noted['right']:>7}{noted['late']:>6}{shares}{tau:8.3f}")


if __name__ == "__main__":
    main()
