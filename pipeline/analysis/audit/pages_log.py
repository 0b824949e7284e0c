"""The log of the script with which `crawlrank recrawl` begins a crawl (schedule_pages.groovy).

A line for each page that was not scheduled as its line says, then the counts by outcome. Outcomes
of WRONG end the crawl at its beginning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from crawlrank.jobs.kernel.errors import count_of

PAGES_LOG = "crawlrank-pages.log"  # beside crawl.log
WRONG = ("other-precedence", "other-level", "other-order-of-queues", "never-fetched")
_COUNTS = re.compile(rb"^# ([a-z-]+): ([0-9]{1,18})\r?$", re.MULTILINE)


def outcomes_beside(log: Path) -> Counter[str]:
    """How many pages had each outcome; none where the script did not run."""
    path = log.with_name(PAGES_LOG)
    data = path.read_bytes() if path.is_file() else b""
    return Counter({name.decode(): int(count) for name, count in _COUNTS.findall(data)})


def why_ended(outcomes: Mapping[str, int]) -> str | None:
    """Of a crawl that the script has ended."""
    wrong = {name: count for name in WRONG if (count := outcomes.get(name, 0))}
    if not wrong:
        return None
    pages = count_of(sum(wrong.values()), "page")
    return (
        f"The script of `crawlrank recrawl` ended the crawl at its beginning, as {pages} would not"
        f" be fetched in the order of the file ({', '.join(wrong)}): {PAGES_LOG} beside the log"
        " lists them. A sheet or an override of the job sets a policy, or another file was loaded"
        " since. Remove it, then give `crawlrank recrawl` again."
    )
