"""How many examples hypothesis draws: CRAWLRANK_EXAMPLES at most, where it is set."""

from __future__ import annotations

import os

MOST = int(os.environ.get("CRAWLRANK_EXAMPLES", "0"))


def examples(count: int) -> int:
    return min(count, MOST or count)
