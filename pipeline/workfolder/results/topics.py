"""What of a finished work folder is of a topic: its links by their words, its pages by the links to
them and by their titles.

A page is of the topic by the sum over the hosts that have links to it of what the words of the best
of these weigh, and by what its own latest title weighs, where the run kept titles. So a host counts
once, however many of its pages repeat a menu. Links of a page to itself do not count. Where the run
kept the words around links, a link weighs the mean of what its own words weigh, and what they weigh
with those around it.
"""

from __future__ import annotations

from string import Formatter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.ranking.topic import TopicLinks
from crawlrank.pipeline.ranking.topic_words import TopicWords
from crawlrank.pipeline.workfolder.results.finished import Finished

UNIT = 1024  # parts of a weight: sums of such weights are exact
BATCH = 1 << 16  # texts
_LINKS = """
    WITH pages AS (SELECT DISTINCT s.uri AS uri, s.key AS key, m.id AS id
                   FROM {spelled} s JOIN {mapped} m USING (key)),
    named AS ({named})
    SELECT s.id AS source, t.id AS target, max(weight) AS weight,
           any_value(split_part(s.key, ')', 1)) AS host
    FROM named n JOIN pages s ON n.source = s.uri JOIN pages t ON n.target = t.uri
    GROUP BY s.id, t.id ORDER BY t.id, s.id
"""
_BY_WORDS = """
    SELECT DISTINCT w.source AS source, w.target AS target, t.weight AS weight
    FROM {worded} w JOIN {topic} t ON w.words = t.text
"""
_BY_WORDS_AROUND = """
    SELECT DISTINCT w.source AS source, w.target AS target,
           (coalesce(t.weight, 0) + a.weight) / 2 AS weight
    FROM {worded} w JOIN {topic} a ON w.around = a.text LEFT JOIN {topic} t ON w.words = t.text
"""
_BY_HOSTS = """
    SELECT target AS id, sum(weight) AS weight FROM
    (SELECT target, host, max(weight) AS weight FROM {links} GROUP BY target, host) GROUP BY target
"""
_BY_TITLES = """
    WITH titled AS (
        SELECT m.id AS id, v.title AS title FROM {visited} v JOIN {spelled} s ON v.uri = s.uri
        JOIN {mapped} m USING (key) WHERE v.title IS NOT NULL
        QUALIFY v.timestamp IS NOT DISTINCT FROM max(v.timestamp) OVER (PARTITION BY m.id)
    )
    SELECT id, max(weight) AS weight FROM titled JOIN {topic} t ON title = t.text GROUP BY id
"""


def topic_of(finished: Finished, words: TopicWords) -> tuple[Floats, TopicLinks]:
    """float64[N], how much each page is of the topic, and the links that are. Raises BadInput where
    the run kept no words of links, and where none of them is of the topic."""
    if not finished.has_anchors:
        cure = "Run it again with --anchor-text."
        what = "the words of links were not kept"
        raise BadInput(str(finished.work), what, "a run with --anchor-text", cure)
    topic, linked = (f"{finished.name}_{name}" for name in ("topic", "linked"))
    with finished.reading():
        finished.db.register(topic, _texts(finished, words))
        by = _BY_WORDS_AROUND if finished.has_words_around else _BY_WORDS
        links = _table(finished, _LINKS, named=_named(finished, by, topic=topic))
        links = links.filter(pc.not_equal(links["source"], links["target"]))
        finished.db.register(linked, links)
        of_pages = [_table(finished, _BY_HOSTS, links=linked)]
        if finished.has_titles:
            of_pages.append(_table(finished, _BY_TITLES, topic=topic))
        ((nodes,),) = finished.rows("SELECT count(*) FROM {mapped}")
    pages = np.zeros(nodes)
    for table in of_pages:
        pages[table["id"].to_numpy()] += table["weight"].to_numpy()
    if not pages.any():
        what = f"none of {count_of(len(words.phrases), 'word or phrase', 'words and phrases')}"
        cure = "See `crawlrank export --format anchors`; a run with --nodes all scores more pages."
        raise BadInput("--words", what, "words of links between pages that have a score", cure)
    source, target = (links[name].to_numpy().astype(np.int64) for name in ("source", "target"))
    return pages, TopicLinks(source, target, links["weight"].to_numpy())


def _texts(finished: Finished, words: TopicWords) -> pa.Table:
    """The texts that are of the topic, each with its weight, in parts of UNIT."""
    query = "SELECT DISTINCT words AS text FROM {worded}"
    if finished.has_words_around:
        query += " UNION SELECT around FROM {worded}"
    if finished.has_titles:
        query += " UNION SELECT title FROM {visited} WHERE title IS NOT NULL"
    kept, weights = list[str](), list[float]()
    for batch in finished.db.sql(_named(finished, query)).to_arrow_reader(BATCH):
        for text in batch["text"].to_pylist():
            if weight := words.weight(text):
                kept.append(text)
                weights.append(max(1, round(weight * UNIT)) / UNIT)
    columns = {"text": pa.array(kept, pa.string()), "weight": pa.array(weights, pa.float64())}
    return pa.table(columns)


def _table(finished: Finished, query: str, **tables: str) -> pa.Table:
    """tables: names of what is no view in the query, or queries."""
    return finished.db.sql(_named(finished, query, **tables)).to_arrow_table()


def _named(finished: Finished, query: str, **tables: str) -> str:
    names = {name for _, name, _, _ in Formatter().parse(query) if name}
    return query.format(**{name: tables.get(name) or finished.view(name) for name in names})
