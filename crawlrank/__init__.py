"""crawlrank from Python: rankings of graphs, links of archives, runs, and their results.

    import crawlrank

    crawlrank.pagerank(([0, 1, 2], [1, 2, 0])).scores     # any graph
    crawlrank.run("crawl/*.warc.gz", work="work/crawl")   # as the command `crawlrank run`
    table = crawlrank.open("work/crawl").scores()         # a table of pyarrow

All functions work in the process of their caller and print nothing. Their errors are exceptions,
each with the `exit_code` of the command. docs/library.md describes them.

This file travels to clusters with the jobs. It imports nothing until a name is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crawlrank.jobs.kernel.errors import (
        BadInput,
        CrawlrankError,
        JobFailed,
        NotConverged,
        Shortage,
    )
    from crawlrank.pipeline.library.calling import ProgressEvent, WrongUsage
    from crawlrank.pipeline.library.command_functions import (
        agree,
        diff,
        estimate,
        export,
        hosts,
        inspect,
        plan,
        rank,
        report,
        run,
    )
    from crawlrank.pipeline.library.extraction import (
        ExtractedAnchor,
        ExtractedCapture,
        ExtractedLink,
        Extraction,
        extract,
    )
    from crawlrank.pipeline.library.opened_work import OpenedWork, open
    from crawlrank.pipeline.library.rankings import (
        RankingResult,
        degree,
        harmonic,
        hits,
        opic,
        opic_hits,
        pagerank,
        personalized,
        trustrank,
    )

#: module -> the names that it has for `import crawlrank`
_HOMES = {
    "crawlrank.jobs.kernel.errors": (
        *("BadInput", "CrawlrankError", "JobFailed", "NotConverged", "Shortage"),
    ),
    "crawlrank.pipeline.library.calling": ("ProgressEvent", "WrongUsage"),
    "crawlrank.pipeline.library.command_functions": (
        *("agree", "diff", "estimate", "export", "hosts", "inspect", "plan", "rank"),
        *("report", "run"),
    ),
    "crawlrank.pipeline.library.extraction": (
        *("ExtractedAnchor", "ExtractedCapture", "ExtractedLink", "Extraction", "extract"),
    ),
    "crawlrank.pipeline.library.opened_work": ("OpenedWork", "open"),
    "crawlrank.pipeline.library.rankings": (
        *(
            "RankingResult",
            "degree",
            "harmonic",
            "hits",
            "opic",
            "opic_hits",
            "pagerank",
            "personalized",
            "trustrank",
        ),
    ),
}
__all__ = [
    "BadInput", "CrawlrankError", "ExtractedAnchor", "ExtractedCapture", "ExtractedLink",
    "Extraction", "JobFailed", "NotConverged", "OpenedWork", "ProgressEvent", "RankingResult",
    "Shortage", "WrongUsage", "agree", "degree", "diff", "estimate", "export", "extract",
    "harmonic", "hits", "hosts", "inspect", "open", "opic", "opic_hits", "pagerank",
    "personalized", "plan", "rank", "report", "run", "trustrank",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
