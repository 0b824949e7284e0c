"""URIs that may have been meant by one that a work folder does not have: of its host, or of hosts
that are spelled almost like it."""

from __future__ import annotations

from pipeline.workfolder.results.finished import Finished

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


def similar_uris(finished: Finished, key: str) -> list[str]:
    """The likeliest first. Keys of a host follow each other, so few of the others are read."""
    host = key.partition(")")[0]
    # keys of the host begin with it and `)`, behind which `*` is next
    found = finished.rows(OF_HOST, low=f"{host})", high=f"{host}*", key=key)
    if not found:
        found = finished.rows(OF_OTHERS, host=host)
    return [row[0] for row in found]
