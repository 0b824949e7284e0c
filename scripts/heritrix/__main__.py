"""The whole loop on the made site, step by step, with what comes out of each."""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from scipy.stats import kendalltau

from heritrix.distribution import heritrix_home
from heritrix.job import Job
from heritrix.log import pages
from heritrix.made_site import Site
from heritrix.recrawl import first_crawl, rank, read_precedences, recrawl
from heritrix.running import look_into
from heritrix.serving import serving
from heritrix.site_parts import make_site


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
    home = heritrix_home()
    site.write(folder)
    first = first_crawl(home, folder / "first", site)
    file = rank(first.archives, folder / "work", "--bins", str(bins))
    listed = read_precedences(file)
    captured = [fetch.uri for fetch in pages(first.crawl_log)]
    print(f"first crawl: {len(captured)} URIs captured; {len(listed)} lines in {file.name}")
    seeds = [uri for uri in listed if uri.startswith(tuple(site.hosts))]
    random.Random(1).shuffle(seeds)
    second = recrawl(home, folder / "second", site, seeds, file)
    rows = look_into(home, "LookUp.java", str(second.state), text="\n".join(captured))
    found = sum(value == str(listed[uri]) for uri, _, value in rows[1:])
    print(f"Heritrix finds {found} of {len(captured)} captured URIs in its store of {rows[0][0]}")
    one = [f"{site.hosts[0]}/"]
    threads = {"crawlController.maxToeThreads": "25"}
    jobs = {
        "first crawl, from one seed": first,
        "all listed as seeds, no file": recrawl(home, folder / "without", site, seeds, None),
        "all listed as seeds": second,
        "the same, 25 threads": recrawl(home, folder / "threads", site, seeds, file, threads),
        "from one seed": recrawl(home, folder / "found", site, one, file),
    }
    print(f"{'crawl':30}{'pages':>6}{'tau-b':>8}{'descents':>10}")
    for name, job in jobs.items():
        print(f"{name:30}{row(order(job, listed, bins + 1))}")


def order(job: Job, listed: Mapping[str, int], unlisted: int) -> list[int]:
    """Precedences of the pages in the order in which they were fetched."""
    return [listed.get(fetch.uri, unlisted) for fetch in pages(job.crawl_log)]


def row(precedences: Sequence[int]) -> str:
    """Pages; Kendall's tau-b of place and precedence; how often a page comes right after one of
    a later class."""
    tau = kendalltau(range(len(precedences)), precedences).statistic
    descents = sum(after < before for before, after in pairwise(precedences))
    return f"{len(precedences):6}{tau:8.3f}{descents:10}"


if __name__ == "__main__":
    main()
