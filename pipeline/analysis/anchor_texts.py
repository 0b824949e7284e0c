"""The words by which links name a page: their texts, counted by the pages and hosts that use them.

Links of the page itself do not count, nor how often a page or its captures repeat a text. Reads all
words of links once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.analysis.table_files import write_table
from crawlrank.pipeline.workfolder.results.finished import Finished
from crawlrank.pipeline.workfolder.results.opened import open_finished, temporary_database

BUDGET = 1 << 29  # bytes of memory
BATCH = 1 << 16  # rows
_COUNTED = """
    WITH target AS (SELECT DISTINCT key, uri FROM {spelled} WHERE key IN (SELECT unnest($keys))),
    said AS (
        SELECT DISTINCT t.key AS page, w.words, w.source
        FROM {worded} w JOIN target t ON w.target = t.uri
    ),
    sources AS (
        SELECT DISTINCT uri, key, split_part(key, ')', 1) AS host
        FROM {spelled} WHERE uri IN (SELECT source FROM said)
    ),
    counted AS (
        SELECT page, words, count(DISTINCT key) AS pages, count(DISTINCT host) AS hosts
        FROM said JOIN sources ON source = uri WHERE key <> page GROUP BY page, words
    )
    SELECT page, words, pages, hosts, count(*) OVER (PARTITION BY page) FROM counted
    QUALIFY row_number() OVER (PARTITION BY page ORDER BY hosts DESC, pages DESC, words) <= $top
    ORDER BY page, hosts DESC, pages DESC, words
"""


#: as the web graph of Archives Unleashed has it (aut 1.2), and more
_LISTED = """
    SELECT nullif(timestamp, '-') AS crawl_date, source AS src, target AS dest,
    words AS anchor{more} FROM {worded} ORDER BY source, timestamp, target, words
"""
ANCHOR_ENDINGS = ("csv", "jsonl", "parquet")


@dataclass(frozen=True)
class AnchorText:
    """A text of links to a page. pages, hosts: how many have such a link."""

    words: str
    pages: int
    hosts: int

    @property
    def by(self) -> str:
        return f"{count_of(self.pages, 'page')} of {count_of(self.hosts, 'host')}"


@dataclass
class AnchorTexts:
    """The texts that most hosts use, then most pages. count: of all."""

    texts: list[AnchorText] = field(default_factory=list)
    count: int = 0


def anchor_texts(finished: Finished, keys: Sequence[str], top: int) -> dict[str, AnchorTexts]:
    """The first texts of pages, by key; {} of a run that kept no words of links."""
    if not (keys and finished.has_anchors):
        return {}
    named = {key: AnchorTexts() for key in keys}
    for key, words, pages, hosts, count in finished.rows(_COUNTED, keys=list(keys), top=top):
        named[key].texts.append(AnchorText(words, pages, hosts))
        named[key].count = count
    return named


def write_anchors(work: Path, output: Path) -> int:
    """Write the words of all links of a work folder, with the columns of Archives Unleashed, and
    the words around them where the run kept them; how many. Raises BadInput where it kept none."""
    with temporary_database(BUDGET) as (db, near):
        finished = open_finished(work, db, near, "run")
        if not finished.has_anchors:
            raise BadInput(
                str(work), "the words of links were not kept", "a run with --anchor-text",
                "Run it again with --anchor-text.",
            )  # fmt: skip
        ((count,),) = finished.rows("SELECT count(*) FROM {worded}")
        with finished.reading():
            more = ", around" if finished.has_words_around else ""
            query = _LISTED.format(worded=finished.view("worded"), more=more)
            write_table(db.sql(query).to_arrow_reader(BATCH), output, ANCHOR_ENDINGS)
        return int(count)
