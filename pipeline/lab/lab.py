"""The laboratory of Adaptive OPIC: runs the experiments, and writes tables, figures and a report.

Source: Abiteboul, Preda, Cobena, Adaptive On-Line Page Importance Computation, WWW 2003, figures 2
to 6. Equal arguments give equal tables and figures; the report also has the speed of the run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.pipeline.analysis.pictures import drawing
from crawlrank.pipeline.data.datasets import replacing
from crawlrank.pipeline.data.workers import Died, Tell, answers
from crawlrank.pipeline.lab.claims import (
    FIGURES,
    POLICY_FIGURES,
    WINDOW_FIGURES,
    LabResults,
    write_tables,
)
from crawlrank.pipeline.lab.experiments import (
    LabGraphs,
    MeasureRow,
    WindowRow,
    compare_definitions,
    compare_incomes,
    compare_orders,
    compare_partitions,
    compare_policies,
    compare_windows,
)
from crawlrank.pipeline.lab.report import draw, report
from crawlrank.pipeline.lab.webs import NONE_PREFERRED, CrawlPreferences, crawled_web

REPORT = "report.md"


def run_lab(
    output: Path,
    figures: Sequence[int] = FIGURES,
    nodes: int = LabGraphs.nodes,
    exponent: float = LabGraphs.exponent,
    seeds: Sequence[int] = (1,),
    processes: int | None = None,
    poisson: float | None = None,
    work: Path | None = None,
    partitions: int | None = None,
    discovery: float = 1.0,
    preferences: CrawlPreferences = NONE_PREFERRED,
) -> list[Path]:
    """Write figure-N.png and .svg, CSV files and report.md into the folder; their paths.

    nodes: at least 2. exponent: above 1. poisson: mean of indegrees by Poisson's law,
    above 0, instead of the power law. work: a finished run, for its graph instead of random webs.
    seeds: one web for each. partitions: machines that share the pages in an experiment of its own,
    at most 128; none leaves it out. discovery, preferences: of the crawler whose policies are
    compared; preferences need a work folder. processes: at most (default: one for each core), of
    some 400 MB each with 100,000 nodes.
    Raises NoMatplotlib, BadInput, and JobFailed where a process dies.
    """
    with drawing():  # before hours of work, in case there is no matplotlib
        graphs = _graphs(nodes, exponent, poisson, work, preferences)
        graphs = replace(graphs, discovery=discovery)
        results = LabResults(graphs, tuple(dict.fromkeys(seeds)), tuple(sorted(set(figures))))
        _measure(results, processes or os.cpu_count() or 1)
        for seed in results.seeds if partitions else ():
            results.partitions += compare_partitions(graphs, seed, partitions or 1)
        output.mkdir(parents=True, exist_ok=True)
        paths = [*write_tables(results, output), *draw(results, output)]
    with replacing(output / REPORT) as temporary:
        temporary.write_text(report(results))
    return [*paths, output / REPORT]


def _graphs(
    nodes: int,
    exponent: float,
    poisson: float | None,
    work: Path | None,
    preferences: CrawlPreferences,
) -> LabGraphs:
    if poisson is not None and not 0 < poisson < nodes:
        raise BadInput("aopic-lab", f"a mean indegree of {poisson}", "one above 0, below the nodes")
    if work is None:
        return LabGraphs(nodes, exponent, poisson)
    crawl = crawled_web(work, preferences)
    return LabGraphs(crawl.nodes, crawl=crawl, where=work.name)


def _measure(results: LabResults, processes: int) -> None:
    if set(POLICY_FIGURES) & set(results.figures):
        for seed in results.seeds:  # by itself, for the sake of its speed
            rows, speeds = compare_policies(results.graphs, seed)
            results.policies += rows
            results.speeds = results.speeds or speeds
            results.reasons += compare_incomes(results.graphs, seed)
            results.definitions += compare_definitions(results.graphs, seed)
    if set(WINDOW_FIGURES) & set(results.figures):
        for seed in results.seeds:
            results.reasons += compare_orders(results.graphs, seed)
    tasks = [(results.graphs, seed, rate) for seed in results.seeds for rate in results.rates]
    answered = {}
    for task, answer in answers(_windows, tasks, processes):
        if isinstance(answer, Died):
            raise JobFailed(f"aopic-lab: a process died ({answer.how})")
        answered[task] = answer
    for task in tasks:
        rows_of_windows, measures = answered[task]
        results.windows += rows_of_windows
        results.measures += measures if task[2] == 0 else []


def _windows(
    task: tuple[LabGraphs, int, float], tell: Tell
) -> tuple[list[WindowRow], list[MeasureRow]]:
    return compare_windows(*task)
