"""How many examples are drawn: CRAWLRANK_EXAMPLES is the share of those that a test names.

`make test` draws a tenth, `make test-slow` all of them. They are the same in each run.
"""

from __future__ import annotations

import os

import numpy as np

SHARE = float(os.environ.get("CRAWLRANK_EXAMPLES", "0.1"))


def examples(count: int) -> int:
    """The share of a number of examples, or of other things that are drawn; at least 2."""
    return max(2, round(count * SHARE))


#: of ids of nodes: `make test` compiles the loops for two of them
ID_TYPES: tuple[type, ...] = (np.uint32, np.int64, np.uint64, np.int32)
if SHARE < 1:
    ID_TYPES = ID_TYPES[:2]
