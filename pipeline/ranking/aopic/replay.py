"""The order in which a crawl read its pages, for Simulation.replay.

Of captures or of lines of a crawl.log: when each was fetched, and the page that it is of. A page
that was fetched several times is read as often.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.graph import Positions, Targets


def reads_by_time(pages: Positions, times: npt.NDArray[Any]) -> Targets:
    """The pages by the time of their fetches, earliest first, those of equal time in their order.

    pages: int64[F], -1 for a fetch of what is no page of the graph, which is left out. times: [F],
    of any type that sorts, such as datetime64; a fetch at NaT or NaN is left out, too. Raises
    BadInput where they are not as many.
    """
    if pages.shape != times.shape:
        what = f"{len(times)} of {len(pages)} fetches"
        raise BadInput("times", what, "a time for each fetch")
    known = (pages >= 0) & (times == times)  # NaT and NaN equal nothing
    order = np.argsort(times[known], kind="stable")
    return cast(Targets, pages[known][order])
