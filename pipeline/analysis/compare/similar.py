"""The error for a page that a work folder lacks, with URIs of it that are similar: of the page's
host, or of hosts with a similar name."""

from __future__ import annotations

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.workfolder.results.finished import Finished

SHOWN = 3
EDITS = 3  # letters by which a host may differ

OF_HOST = f"""
    SELECT arg_max(uri, captures) FROM {{spelled}} WHERE key >= $low AND key < $high
    GROUP BY key ORDER BY jaro_winkler_similarity(key, $key) DESC, key LIMIT {SHOWN}
"""
OF_OTHERS = f"""
    SELECT min(uri) FROM (SELECT split_part(key, ')', 1) AS host, uri FROM {{spelled}})
    WHERE levenshtein(host, $host) <= {EDITS} OR starts_with(host, $host || ',')
       OR starts_with($host, host || ',')
    GROUP BY host ORDER BY levenshtein(host, $host), host LIMIT {SHOWN}
"""


def unknown_page(finished: Finished, uri: str, key: str) -> BadInput:
    similar = similar_uris(finished, key)
    cure = f"Did you mean {' or '.join(similar)}?" if similar else "No host has a similar name."
    return BadInput(str(finished.work), f"no page with the key {key}", f"the page of {uri}", cure)


def similar_uris(finished: Finished, key: str) -> list[str]:
    """The most similar first. Keys of a host follow each other, so few other keys are read."""
    host = key.partition(")")[0]
    # keys of the host begin with it and `)`; the character after `)` is `*`
    rows = finished.rows(OF_HOST, low=f"{host})", high=f"{host}*", key=key)
    return [uri for (uri,) in rows or finished.rows(OF_OTHERS, host=host)]
