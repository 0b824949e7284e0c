"""The step between extraction and keys where a site was crawled several times: whose links count,
and which pages fold into others."""

from __future__ import annotations

from collections import Counter

from jobs import fold_chains
from jobs import select_links as select_links_job
from jobs.kernel.captures.choosing import Rules
from jobs.kernel.errors import BadInput
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.stores import join
from jobs.mapreduce.launcher import Launcher
from jobs.stages.select_links.decide import TIMES
from pipeline.contract import StepResult
from pipeline.data.datasets import ORDER
from pipeline.engines.text.steps import Places, delivering


def select_links(
    links: Places,
    captures: Places,
    output: Place | None,
    folds: Place,
    launcher: Launcher,
    rules: Rules,
    *,
    keep_www: bool = False,
    timed: bool = False,
) -> StepResult:
    """Of several captures of each page the links that count, and the keys that fold into others.

    links, captures: of extract_links with its options timestamps and canonical. output: with
    rules.latest only; all links count otherwise. Raises BadInput with timed, where captures have
    times and no link has one: an extraction without that option.
    """
    outputs = {folds: ORDER["folds"], **({output: ORDER["selected"]} if output else {})}
    with (
        delivering(launcher, outputs) as (there, (folded, *selected)),
        there.workplace("candidates") as tmp,
    ):
        links_output = selected[0] if selected else join(tmp, "selected")  # unused there
        outcome, folders = select_links_job.run(
            links, captures, links_output, join(tmp, "candidates"), there, rules, keep_www=keep_www
        )
        dated, undated, of_captures = (outcome.counters.pop(name, 0) for name in TIMES)
        if timed and undated and of_captures and not dated:
            raise _without_times(links)
        ended = fold_chains.run(folders, folded, there)
    rows = {"selected": outcome.rows["main"]} if output else {}
    counters = Counter({**outcome.counters, **ended.counters})
    return StepResult({**rows, "folds": ended.rows["main"]}, dict(sorted(counters.items())))


def _without_times(links: Places) -> BadInput:
    return BadInput(
        ", ".join(map(str, links)),
        "no link tells when it was found",
        "`target source hop timestamp`",
        "Make links and captures with `crawlrank extract-links --timestamps --canonical`.",
    )
