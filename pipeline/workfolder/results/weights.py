"""The pages that users name, by URI or by key, in a finished work folder, and weights by page.

A URI has the key that the run makes of it. A page that folds into another one gives its weight to
that one. Weights of several lines for one page add up, in the order of the lines, so both engines
give the same sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats.rows import MAX_EXAMPLES
from crawlrank.jobs.kernel.keys.keys import key_function, www_rule
from crawlrank.pipeline.data.graph import Floats, Positions
from crawlrank.pipeline.ranking.inputs import WeightLine
from crawlrank.pipeline.workfolder.results.finished import Finished

if TYPE_CHECKING:
    from crawlrank.pipeline.workfolder.results.finished import Finished


class NotAURI(ValueError):
    """The text is neither a URI nor a key."""


def _has_host(uri: str) -> bool:
    try:
        return bool(urlsplit(uri).hostname)
    except ValueError:  # of brackets that do not fit
        return False


def key_maker(finished: Finished) -> Callable[[str], str]:
    """A function from a URI to the key that the run makes of it, and from a key to the key itself.
    It raises NotAURI for all else."""
    of_uri = key_function(www_rule(finished.parameters))

    def key_of(page: str) -> str:
        if not page.lower().startswith(("http://", "https://")):
            if ")" in page or not finished.has_uris:
                return page
            raise NotAURI(f"{page!r} is no URI: write it with http:// or https://, or give a key")
        if not _has_host(page):
            raise NotAURI(f"{page!r} is no URI: its host is missing or cannot be read")
        key = of_uri(page.encode("utf-8", "replace"))
        if key is None:
            raise NotAURI(f"{page!r} is a URI of which surt makes no key, so it is never a page")
        return key.decode()

    return key_of


#: the node of each page by its number; -1 without one
NODES_OF_KEYS = """
    SELECT w.at AS at, coalesce(m.id, -1)::BIGINT AS id FROM {wanted} w
    LEFT JOIN {folded} f ON f.key = w.key
    LEFT JOIN {mapped} m ON m.key = coalesce(f.target_key, w.key)
"""


class WeightReport(NamedTuple):
    """known, unknown: how many lines are of a page that has a score, and of none. Of the unknown
    ones the first MAX_EXAMPLES are listed."""

    known: int
    unknown: int
    unknown_lines: list[WeightLine]


def weights_of(
    lines: Sequence[WeightLine], finished: Finished, *, default: float = 0.0
) -> tuple[Floats, WeightReport]:
    """float64[N] by id, and what became of the lines. default: the weight of pages without a line.

    Raises BadInput where no line is of a page of the folder, and where all that are weigh 0 and so
    does the default.
    """
    ids, nodes = nodes_of([line.page for line in lines], finished)
    known = ids >= 0
    if not known.any():
        example = f", such as {lines[0].page}" if lines else ""
        what = f"none of {count_of(len(lines), 'page')} of the list{example}"
        cure = "Write them as URIs with http:// or https://, or as keys."
        raise BadInput(str(finished.work), what, "pages that have a score", cure)
    given = np.array([line.weight for line in lines], np.float64)[known]
    weights = np.full(nodes, default)
    weights[ids[known]] = np.bincount(ids[known], given, nodes)[ids[known]]
    if not weights.any():
        what = f"the weight 0 for all pages of the list that it has ({len(given):,})"
        raise BadInput(str(finished.work), what, "one above 0", "Add a page that the crawl has.")
    unknown = [lines[at] for at in np.flatnonzero(~known)[:MAX_EXAMPLES].tolist()]
    return weights, WeightReport(len(given), len(lines) - len(given), unknown)


def nodes_of(pages: Sequence[str], finished: Finished) -> tuple[Positions, int]:
    """The id of the node of each page, a URI or a key, -1 without one; and how many nodes the
    folder has. One query for all pages."""
    keys = _keys(pages, finished)
    wanted = f"{finished.name}_wanted"
    table = pa.table({"at": np.arange(len(keys)), "key": pa.array(keys, pa.string())})
    finished.db.register(wanted, table)
    try:
        with finished.reading():
            mapped, folded = finished.view("mapped"), finished.view("folded")
            query = NODES_OF_KEYS.format(wanted=wanted, mapped=mapped, folded=folded)
            rows = finished.db.sql(query).fetchnumpy()
            counted = finished.db.sql(f"SELECT count(*) AS nodes FROM {mapped}").fetchnumpy()
    finally:
        finished.db.unregister(wanted)
    nodes = int(counted["nodes"][0])
    ids = np.full(len(keys), -1, np.int64)
    ids[rows["at"]] = rows["id"]
    return ids, nodes


def _keys(pages: Sequence[str], finished: Finished) -> list[str | None]:
    """The keys of the pages; None for what is neither a URI nor a key."""
    key_of, keys = key_maker(finished), list[str | None]()
    for page in pages:
        try:
            keys.append(key_of(page))
        except NotAURI:
            keys.append(None)
    return keys
