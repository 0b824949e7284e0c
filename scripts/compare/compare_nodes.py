"""What `--nodes all` does to a ranking, against `--nodes linked`, on archives or with Heritrix.

    PYTHONPATH=scripts python scripts/compare/compare_nodes.py ARCHIVE…
    PYTHONPATH=scripts python scripts/compare/compare_nodes.py --heritrix FOLDER

prints figures of both rules, a column each; or crawls a made site, ranks it and crawls it again.

Of the captured HTML pages (status 2xx) a pair is *ordered* when scores that differ put its pages
into different classes, and *by key* when their classes differ and their scores do not. Of a recrawl
from one seed the figure is the textbook PageRank (networkx, of the site's true links) of what was
fetched in the first quarter and the first half: another program than the one that made the order.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import networkx as nx

RULES = ("linked", "all")
PAGES = """
    SELECT DISTINCT u.key, u.uri, s.score FROM '{work}/uris/uris.parquet' u
    LEFT JOIN '{work}/scores/scores.parquet' s USING (key)
    WHERE u.uri IN (SELECT uri FROM '{work}/captures/*.parquet'
                    WHERE status BETWEEN 200 AND 299 AND media_type LIKE '%html%')
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archives", nargs="*")
    parser.add_argument("--heritrix", type=Path, metavar="FOLDER", help="new, for jobs and ranks")
    options = parser.parse_args()
    if options.heritrix:
        recrawled(options.heritrix)
        return
    with tempfile.TemporaryDirectory(prefix="compare-nodes-") as tmp:
        works = {rule: ranked(options.archives, Path(tmp, rule), rule) for rule in RULES}
        columns = {rule: figures(work) for rule, work in works.items()}
        for name in columns["all"]:
            print(f"{name:42}", *(f"{columns[rule][name]:>12}" for rule in RULES))
        for name, value in changes(*(classes(work) for work in works.values())).items():
            print(f"{name:42} {value:>12}")


def ranked(archives: Sequence[str], work: Path, rule: str) -> Path:
    command = [sys.executable, "-m", "crawlrank", "run", *archives, "--work", str(work)]
    subprocess.run([*command, "--nodes", rule, "--quiet", "--no-validate"], check=True)
    return work


def figures(work: Path) -> dict[str, Any]:
    """The figures of one work folder."""
    summary = json.loads((work / "precedence.summary.json").read_text())
    counters = json.loads((work / "manifest.json").read_text())["steps"]["gen-graph"]["counters"]
    over, tied = summary["nodes_cut_over"], summary["nodes_cut_over_placed_by_key_alone"]
    listed = [entry["uris"] for entry in summary["classes"]]
    found = classes(work)
    pairs, by_score, by_key = ordered((score, number) for number, score in found.values())
    return {
        "nodes": summary["nodes"],
        "captured nodes": over,
        "of these placed by key alone": f"{tied / over:.1%}",
        "edges": counters["edges"],
        "links of pages without rank": counters["dropped.links-from-source-without-id"],
        "largest class, of the URIs": f"{max(listed) / summary['uris']:.1%}",
        "captured HTML pages": len(found),
        "pairs of them ordered": f"{by_score / pairs:.1%}",
        "pairs of them by key": f"{by_key / pairs:.1%}",
        "caveats": "+".join(str(entry["kind"])[:5] for entry in summary["caveats"]) or "-",
    }


def classes(work: Path) -> dict[str, tuple[int, float]]:
    """Captured HTML pages by URI: class, and score to 8 digits, that of the last ones without."""
    lines = (line.rsplit(" ", 1) for line in (work / "precedence.txt").read_text().splitlines())
    precedence = {uri: int(number) for uri, number in lines}
    rows = duckdb.execute(PAGES.format(work=work)).fetchall()
    return {
        uri: (precedence[uri], float(f"{score or 0:.7e}"))
        for _, uri, score in rows
        if uri in precedence
    }


def ordered(pages: Iterable[tuple[float, int]]) -> tuple[int, int, int]:
    """Pairs, those in different classes by their scores, and those by their keys."""
    groups = Counter(pages)
    by_class, by_score = Counter[int](), Counter[float]()
    for (score, number), count in groups.items():
        by_class[number] += count
        by_score[score] += count
    total = sum(groups.values())
    same_class, same_score, same_both = (
        sum(count * (count - 1) // 2 for count in each.values())
        for each in (by_class, by_score, groups)
    )
    pairs, by_key = total * (total - 1) // 2, same_score - same_both
    return pairs, pairs - same_class - by_key, by_key


def changes(linked: dict[str, tuple[int, float]], every: dict[str, tuple[int, float]]) -> Any:
    """From one rule to the other, of the pages that have a rank by both."""
    both = [uri for uri in linked if linked[uri][1] and uri in every]
    moved = sum(linked[uri][0] != every[uri][0] for uri in both)
    far = sum(abs(linked[uri][0] - every[uri][0]) > 1 for uri in both)
    best = [
        set(sorted(both, key=lambda uri: (-side[uri][1], uri))[: max(1, len(both) // 10)])
        for side in (linked, every)
    ]
    return {
        "HTML pages ranked by both": len(both),
        "in another class": f"{moved / len(both):.1%}",
        "more than one class away": f"{far / len(both):.1%}",
        "best tenth in common": f"{len(best[0] & best[1]) / len(best[0]):.1%}",
    }


def recrawled(folder: Path) -> None:
    """The loop of docs/recrawl.md, once with each rule."""
    from heritrix.distribution import heritrix_home
    from heritrix.log import pages
    from heritrix.recrawl import first_crawl, rank, read_precedences, recrawl
    from heritrix.serving import serving
    from heritrix.site_parts import make_site

    folder.mkdir(parents=True)
    home = heritrix_home()
    with serving(lambda hosts: make_site(hosts, seed=1)) as served:
        site = served.site
        first = first_crawl(home, folder / "first", site)
        graph = nx.DiGraph((link.source, link.target) for link in site.links if link.hop in "LR")
        worth = nx.pagerank(graph)
        print(f"{'recrawl from one seed':24}{'pages':>6}{'quarter':>10}{'half':>8}{'descents':>10}")
        for rule in RULES:
            file = rank(first.archives, folder / rule, "--bins", "20", "--nodes", rule)
            listed = read_precedences(file)
            job = recrawl(home, folder / f"job-{rule}", site, [f"{site.hosts[0]}/"], file)
            fetched = [fetch.uri for fetch in pages(job.crawl_log)]
            values = [worth.get(uri, 0.0) for uri in fetched]
            shares = (sum(values[: len(values) // part]) / sum(values) for part in (4, 2))
            steps = pairwise(listed.get(uri, 21) for uri in fetched)
            descents = sum(after < before for before, after in steps)
            quarter, half = shares
            print(f"{rule:24}{len(fetched):6}{quarter:10.2%}{half:8.2%}{descents:10}")


if __name__ == "__main__":
    main()
