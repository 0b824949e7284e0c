"""The step select-links, for sites that were crawled several times: the captures whose links count,
and the pages that fold into others."""

from __future__ import annotations

from collections import Counter

from crawlrank.jobs import fold_chains
from crawlrank.jobs import select_links as select_links_job
from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.stores import join
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.select_links import TIMES
from crawlrank.pipeline.data.datasets import ORDER
from crawlrank.pipeline.engines.text.steps import Locations, delivering
from crawlrank.pipeline.steps import StepResult


def select_links(
    links: Locations,
    captures: Locations,
    output: PathOrUrl | None,
    folds: PathOrUrl,
    launcher: Launcher,
    rules: CaptureRules,
    *,
    www: Www = "strip",
    timed: bool = False,
) -> StepResult:
    """Write the links that count of the captures of each page, and the keys that fold into others.

    links, captures: of extract_links with its options timestamps and canonical. output: only with
    rules.latest; otherwise all links count. timed: raise BadInput where captures have times and no
    link has one, as after an extraction without that option.
    """
    outputs = {folds: ORDER["folds"], **({output: ORDER["selected"]} if output else {})}
    with (
        delivering(launcher, outputs) as (near, (folded, *selected)),
        near.workplace("candidates") as tmp,
    ):
        links_output = selected[0] if selected else join(tmp, "selected")  # not written then
        outcome, folders = select_links_job.run(
            links, captures, links_output, join(tmp, "candidates"), near, rules, www=www
        )
        dated, undated, of_captures = (outcome.counters.pop(name, 0) for name in TIMES)
        if timed and undated and of_captures and not dated:
            raise _without_times(links)
        fold_outcome = fold_chains.run(folders, folded, near, rules.circle_target)
    rows = {"selected": outcome.rows["main"]} if output else {}
    counters = Counter({**outcome.counters, **fold_outcome.counters})
    return StepResult({**rows, "folds": fold_outcome.rows["main"]}, dict(sorted(counters.items())))


def _without_times(links: Locations) -> BadInput:
    return BadInput(
        ", ".join(map(str, links)),
        "no link has a timestamp",
        "`target source hop timestamp`",
        "Make links and captures with `crawlrank step extract-links --timestamps --canonical`.",
    )
