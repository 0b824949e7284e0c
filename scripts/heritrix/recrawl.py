"""The way of an archivist, step by step: crawl, rank, load, crawl again in that order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from crawlrank.pipeline.precedence.beans import ANNOTATOR
from heritrix.job import Job, Plan, write_job
from heritrix.made_site import Site
from heritrix.running import load_precedences, run_job

RANKING = 300  # seconds

#: the chain at whose end Heritrix notes in crawl.log what precedence it gave to a URI
NOTED = {"dispositionProcessors": ["precedenceAnnotator"]}

#: else the target of each seed that redirects becomes a seed too, and is fetched once more
SETTINGS = {"candidates.seedsRedirectNewSeeds": "false"}


def first_crawl(home: Path, folder: Path, site: Site) -> Job:
    """The whole site, from the front page of its first host."""
    job = write_job(home, folder, Plan([f"{site.hosts[0]}/"], scope(site)))
    run_job(home, job)
    return job


def scope(site: Site) -> list[str]:
    return [f"+{host}/" for host in site.hosts]


def rank(archives: Sequence[Path], work: Path, *options: str) -> Path:
    """`crawlrank run`; returns the precedence file, which has the beans beside it."""
    command = [sys.executable, "-m", "crawlrank", "run", *map(str, archives), "--work", str(work)]
    subprocess.run([*command, "--quiet", *options], check=True, timeout=RANKING)
    return work / "precedence.txt"


def recrawl(
    home: Path,
    folder: Path,
    site: Site,
    seeds: Sequence[str],
    precedence: Path | None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Job:
    """A crawl from these seeds, in the order of the file where there is one; notes precedences."""
    fragment = precedence and precedence.with_name("crawler-beans-fragment.xml")
    plan = Plan(seeds, scope(site), {**SETTINGS, **settings}, fragment, ANNOTATOR, NOTED)
    job = write_job(home, folder, plan)
    if precedence:
        load_precedences(home, precedence, job)
    run_job(home, job)
    return job


def read_precedences(file: Path) -> Mapping[str, int]:
    """Precedence by URI."""
    lines = (line.rsplit(" ", 1) for line in file.read_text("ascii").splitlines())
    return {uri: int(precedence) for uri, precedence in lines}
