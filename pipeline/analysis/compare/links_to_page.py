"""How many links to a page were counted, how many of them count for its score, and why the others
do not.

A link counts once for each page that has it, whatever the spellings and however often the page was
captured; never for the page itself; and only if that page has a rank. Reads all links once, as they
are not sorted by their targets.
"""

from __future__ import annotations

from dataclasses import dataclass

from crawlrank.jobs.kernel.formats.rows import LINK_HOPS
from crawlrank.pipeline.workfolder.results.finished import Finished

#: by the key of the source: the links from there, and whether it has an id
_OF_SOURCES = """
    WITH target AS (SELECT DISTINCT uri FROM {spelled} WHERE key = $key),
    source AS (
        SELECT l.source AS uri, count(*) AS links FROM {kept} l
        WHERE l.target IN (SELECT uri FROM target) AND list_contains($hops, l.hop)
        GROUP BY l.source
    ),
    spelling AS (SELECT uri, min(key) AS key FROM {spelled}
        WHERE uri IN (SELECT uri FROM source) GROUP BY uri),
    page AS (SELECT spelling.key AS key, sum(links) AS links FROM source
        LEFT JOIN spelling USING (uri) GROUP BY spelling.key)
    SELECT coalesce(sum(links), 0)::BIGINT,
        coalesce(sum(links) FILTER (page.key = $key), 0)::BIGINT,
        coalesce(sum(links) FILTER (page.key IS DISTINCT FROM $key AND m.id IS NULL), 0)::BIGINT,
        (count(*) FILTER (page.key <> $key AND m.id IS NOT NULL))::BIGINT
    FROM page LEFT JOIN {mapped} m ON m.key = page.key
"""


@dataclass(frozen=True)
class LinksToPage:
    """counted: links of archives to any spelling of the page. own: of these, the page's. unranked:
    those of pages without an id. repeated: those of a page whose link counts already. counting:
    the others, which give to the score."""

    counted: int
    own: int
    unranked: int
    repeated: int
    counting: int


def links_to_page(finished: Finished, key: str) -> LinksToPage | None:
    """None where that would take more than the folder has: links at a URL, links of imported text,
    and pages that stand for others."""
    folds = finished.parameters.get("--fold", "none") != "none"
    if folds or finished.folders.data or finished.manifest.imported:
        return None
    rows = finished.rows(_OF_SOURCES, key=key, hops=list(LINK_HOPS))
    counted, own, unranked, counting = map(int, rows[0])
    repeated = counted - own - unranked - counting
    return LinksToPage(counted, own, unranked, repeated, counting)
