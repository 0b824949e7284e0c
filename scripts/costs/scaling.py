#!/usr/bin/env python3
"""What a crawl of a billion pages would take on EMR, from rates measured on one machine.

    scripts/costs/scaling.py FOLDER [--pages 1e9] [--links 20e9] [--page]

FOLDER has jobs.json and rounds.json, as bench_jobs.py and bench_rounds.py write them. --page puts
the tables into docs/scaling.md. What is assumed and not measured stands below, and on that page.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from emr_costs import EXTRACTED, PAGES_A_TB

from crawlrank.pipeline.data.memory import TEXT_BYTES
from crawlrank.pipeline.engines.text.packed_ranking import usual_partitions
from crawlrank.pipeline.estimate.projection import CORE_OF_A_VCPU, HADOOP, NODE, STEP

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
DRIVER = 100e6  # bytes a second that the driver fetches and writes
REQUEST = 0.05  # seconds until a store answers
FINGERPRINTS = 8  # archives that the driver looks at at a time, by three requests each
ARCHIVE = 1e9  # bytes
NODES_A_PAGE = 3  # pages that were only linked to, too
ROUNDS = 25  # packed ones, to a certified 1e-6; to 1e-9 half more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=float, default=1e9)
    parser.add_argument("--links", type=float, default=20e9)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    jobs, rounds = (
        json.loads((options.folder / f"{name}.json").read_text()) for name in ("jobs", "rounds")
    )
    tables = {
        "steps": steps(jobs, rounds, options.pages, options.links),
        "limits": limits(jobs, rounds, options.pages, options.links),
    }
    print("\n".join(tables.values()))
    if options.page:
        page = PAGE.read_text()
        for name, table in tables.items():
            mark = f"<!-- {name} -->\n"
            rest, found, behind = page.partition(mark)
            page = f"{rest}{found}{table}<!-- end -->{behind.partition('<!-- end -->')[2]}"
        PAGE.write_text(page)


def steps(jobs: dict[str, Any], rounds: dict[str, Any], pages: float, links: float) -> str:
    """Bytes and hours of each job, as Markdown."""
    archived = pages / PAGES_A_TB * 1e12
    extracted = next(job for job in jobs["jobs"] if job["job"] == "extract_links")
    written = extracted["written"] / extracted["links"] * links
    rows = [("extract_links", archived, 0.0, written, archived / EXTRACTED)]
    for job in jobs["jobs"]:
        if job["job"] not in ("extract_links", "page_rank"):
            sizes = [job[name] / jobs["links"] * links for name in ("read", "shuffled", "written")]
            rows.append((job["job"], *sizes, job["seconds"] / jobs["links"] * links))
    packed = rounds["speed"]["packed"]
    sent = packed["bytes"] / rounds["speed"]["edges"] * links
    inline = rounds["speed"]["inline"]
    around, one = inline["around"] / rounds["speed"]["edges"] * links, links / inline["rate"]
    rows.append(("packing, unpacking", 0.0, 0.0, 0.0, around))
    rows.append((f"{ROUNDS} packed rounds", 0.0, ROUNDS * sent, 0.0, ROUNDS * one))
    lines = [
        "| job | TB read | TB shuffled | TB written | hours of a core, Python | node-hours |\n",
        "|---|---|---|---|---|---|\n",
    ]
    total = 0.0
    for name, *sizes, seconds in rows:
        node_hours = seconds * HADOOP / 3600 / (NODE * CORE_OF_A_VCPU)
        total += node_hours
        cells = [f"{size / 1e12:.2f}" if size else "" for size in sizes]
        cells += [f"{seconds / 3600:,.0f}", f"{node_hours:,.0f}"]
        lines.append(f"| {' | '.join([name, *cells])} |\n")
    lines.append(f"| all | | | | | {total:,.0f} |\n")
    starting = (len(rows) + ROUNDS) * STEP
    count = len(rows) - 1 + ROUNDS
    lines.append(f"| start of {count} jobs, hours on the clock | | | | | {starting:.1f} |\n")
    return "".join(lines)


def limits(jobs: dict[str, Any], rounds: dict[str, Any], pages: float, links: float) -> str:
    """What would break first, as Markdown."""
    graph = next(job for job in jobs["jobs"] if job["job"] == "gen_graph")
    partitions = usual_partitions(round(graph["written"] / jobs["links"] * links))
    one, many = (
        next(row for row in rounds["memory"] if row["partitions"] == count) for count in (1, 64)
    )
    edges = rounds["speed"]["edges"]
    an_edge = (one["pack_graph"] - many["pack_graph"]) * 1e6 / (edges * (1 - 1 / 64))
    packing = many["pack_graph"] * 1e6 + an_edge * links / partitions
    nodes = pages * NODES_A_PAGE
    sorted_job = next(job for job in jobs["jobs"] if job["job"] == "join_scores sort")
    lines = next(job for job in jobs["jobs"] if job["job"] == "export_precedence lines")
    brought = (sorted_job["written"] + lines["written"]) / jobs["links"] * links
    archives = pages / PAGES_A_TB * 1e12 / ARCHIVE
    opic = TEXT_BYTES[0] * links + TEXT_BYTES[1] * nodes
    return _limits_table(partitions, opic, brought, packing, archives)


def _limits_table(
    partitions: int, opic: float, brought: float, packing: float, archives: float
) -> str:
    rows = [
        ("what", "how much", "what to do"),
        (
            "validation by OPIC, memory of the driver's machine", f"{opic / 1e9:,.0f} GB",
            "`--no-validate`; validate a crawl of one host in ten",
        ),
        (
            "scores and lines of the precedence file that the driver fetches",
            f"{brought / 1e12:.1f} TB, {brought / DRIVER / 3600:.0f} hours at 100 MB/s",
            "a driver in the same region with that much disk",
        ),
        (
            f"memory of the task that packs one of the {partitions:,} partitions",
            f"{packing / 1e9:.1f} GB", "tasks that have 2 GB",
        ),
        (
            "packed blocks of a round, at most: one for each pair of partitions",
            f"{partitions**2:,}",
            "most pairs have none; larger partitions, `LARGEST` in packed_ranking.py",
        ),
        (
            "archives that the driver looks at before the first job",
            f"{archives:,.0f} of 1 GB, {archives * 3 * REQUEST / FINGERPRINTS / 3600:.1f} hours",
            "run it near the store",
        ),
    ]  # fmt: skip
    head, *body = [f"| {' | '.join(row)} |\n" for row in rows]
    return head + "|---|---|---|\n" + "".join(body)


if __name__ == "__main__":
    main()
