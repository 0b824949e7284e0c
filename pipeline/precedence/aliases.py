"""Aliases of URIs: the same with the other scheme, and with or without `www.` before the host.

A line counts for one spelling only. A site that a crawl met as http has no line for https, under
which it may be met next time. So each page may have lines for its aliases, with its class; what is
listed anyhow keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.keys.heritrix_form import MAX_LENGTH
from crawlrank.pipeline.precedence.options import Alias

#: no port, which would be another one; a name of two labels or more, and no address
_SCHEME = r"^http(?P<s>s?)://(?P<rest>[^/:@\[]+/.*)$"
_NAME = r"^(?P<scheme>https?://)(?P<www>www\.)?(?P<host>[^/:@\[]+\.[^/:@\[0-9][^/:@\[]*)(?P<rest>[:/].*)$"
#: of each captured host, `www.` or not, what it was met as
_HOSTS = """
SELECT count(*), count(*) FILTER (http <> https), count(*) FILTER (www <> bare) FROM
(SELECT bool_or(form LIKE 'http:%') AS http, bool_or(form LIKE 'https:%') AS https,
 bool_or(split_part(form, '/', 3) LIKE 'www.%') AS www,
 bool_or(split_part(form, '/', 3) NOT LIKE 'www.%') AS bare FROM spelled
 GROUP BY regexp_replace(split_part(split_part(form, '/', 3), ':', 1), '^www[.]', ''))
"""


@dataclass(frozen=True)
class CapturedHosts:
    """hosts: those captured, with and without www the same. one_scheme: met by http or by https
    alone. one_www: met with www alone, or without it alone."""

    hosts: int
    one_scheme: int
    one_www: int


def aliases(uris: pa.StringArray, kinds: Sequence[Alias]) -> Iterator[pa.StringArray]:
    """Columns of aliases, null where a URI has none: a column for each kind, and for both."""
    columns = [uris]
    for kind in kinds:
        made = [
            _other_scheme(column) if kind == "scheme" else _other_www(column) for column in columns
        ]
        yield from (_short(column) for column in made)
        columns += made


def count_hosts(db: duckdb.DuckDBPyConnection) -> CapturedHosts:
    """Reads the view `spelled`: the column form, of captured URIs."""
    (counts,) = db.execute(_HOSTS).fetchall()
    return CapturedHosts(*counts)


def _other_scheme(uris: pa.StringArray) -> pa.StringArray:
    fields = pc.extract_regex(uris, _SCHEME)
    other = pc.if_else(pc.equal(fields.field("s"), "s"), "http://", "https://")
    return _joined(fields, other, fields.field("rest"))


def _other_www(uris: pa.StringArray) -> pa.StringArray:
    fields = pc.extract_regex(uris, _NAME)
    # `www.example` is no name of a site without its www.
    added = pc.if_else(pc.starts_with(fields.field("host"), "www."), None, "www.")
    other = pc.if_else(pc.equal(fields.field("www"), "www."), "", added)
    return _joined(
        fields, fields.field("scheme"), other, fields.field("host"), fields.field("rest")
    )


def _joined(fields: pa.StructArray, *pieces: pa.StringArray) -> pa.StringArray:
    return pc.if_else(fields.is_valid(), pc.binary_join_element_wise(*pieces, ""), None)


def _short(uris: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.less_equal(pc.binary_length(uris), MAX_LENGTH), uris, None)
