"""crawlrank from Python: its commands as functions.

    import crawlrank

    crawlrank.run("crawl/*.warc.gz", work="work/crawl")
    table = crawlrank.scores("work/crawl")

A function is the command of its name: the same arguments, options and defaults. An option `--nodes
all` is `nodes="all"`, a flag is True, and an option that may be given several times takes a list.
Results are what the command writes as JSON, or a table of pyarrow. `command` is for all others.

Each call runs in a process of its own. So a run may be interrupted or run out of memory without
harm to its caller. Progress goes to standard error, unless quiet=True.

This file travels to clusters with the jobs. It imports nothing until a function is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawlrank.commands import (
        CommandFailed,
        agree,
        command,
        diff,
        estimate,
        explain,
        export_precedence,
        hosts,
        inspect,
        plan,
        rank,
        report,
        run,
        scores,
    )
    from crawlrank.jobs.kernel.errors import BadInput, CrawlrankError
    from crawlrank.pipeline.library.ranking_result import RankingResult
    from crawlrank.pipeline.library.rankings import (
        degree,
        hits,
        opic,
        opic_hits,
        pagerank,
        personalized,
        trustrank,
    )

#: module -> the names that it has for `import crawlrank`
_HOMES = {
    "crawlrank.commands": (
        *("CommandFailed", "agree", "command", "diff", "estimate", "explain", "export_precedence"),
        *("hosts", "inspect", "plan", "rank", "report", "run", "scores"),
    ),
    "crawlrank.jobs.kernel.errors": ("BadInput", "CrawlrankError"),
    "crawlrank.pipeline.library.ranking_result": ("RankingResult",),
    "crawlrank.pipeline.library.rankings": (
        *("degree", "hits", "opic", "opic_hits", "pagerank", "personalized", "trustrank"),
    ),
}
__all__ = [
    "BadInput", "CommandFailed", "CrawlrankError", "RankingResult",
    "agree", "command", "degree", "diff", "estimate", "explain", "export_precedence",
    "hits", "hosts", "inspect", "opic", "opic_hits", "pagerank", "personalized",
    "plan", "rank", "report", "run", "scores", "trustrank",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
