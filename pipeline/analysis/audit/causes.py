"""Why a URI that was fetched is not listed: the likely cause, from URIs that are.

First come entries that load and meet no crawl as they stand: were they mended, they would list the
URI. Then spellings: with one thing left out of account, in the order of SPELLINGS, the URI is the
same as one that is listed; with all of them, the cause is `several`. What is left is a new page.

All of it is joins of strings in DuckDB; only URIs that are the same with all things left out of
account are looked at one cause after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

import duckdb

from pipeline.analysis.audit.joining import ORDERED

EXAMPLES = 5
SESSION = "jsessionid|phpsessid|aspsessionid[a-z]*|sessionid|session_id|sid|cfid|cftoken"

MEANINGS = {
    "case": "a listed URI has other capitals",
    "missing slash": "a listed URI lacks, or has, the slash at the end",
    "fragment": "a listed URI ends with a #fragment",
    "port": "a listed URI has another port, or the default one",
    "www": "a listed URI has, or lacks, www.",
    "scheme": "a listed URI is http for https, or the reverse",
    "session id": "a listed URI has another session id, or none",
    "escape": "a listed URI escapes other characters, or in other digits",
    "form": "a listed URI is not in Heritrix's form",
    "minus one": "listed as -1, which with the base of 1 counts as not listed",
    "several": "a listed URI differs in several of these",
    "new page": "no listed URI is like it",
}


def _unescaped(column: str) -> str:
    """Escapes of printable characters undone, others in lower-case digits, where there are any."""
    text = f"lower({column})"
    for code in range(0x21, 0x7F):
        if (character := chr(code).lower()) != "%":
            quoted = character.replace("'", "''")
            text = f"replace({text}, '%{code:02x}', '{quoted}')"
    return f"CASE WHEN contains({column}, '%') THEN {text} ELSE lower({column}) END"


def _hidden(column: str) -> str:
    """Escapes as one sign, capitals of them apart from other capitals."""
    return f"regexp_replace({column}, '%[0-9A-Fa-f]{{2}}', '%', 'g') || ' ' || lower({column})"


def _sessionless(column: str) -> str:
    without = rf"regexp_replace({column}, '([?&;])({SESSION})=[^&;?#/]*', '\1', 'gi')"
    return rf"regexp_replace(regexp_replace({without}, '([?&;])[&;?]+', '\1', 'g'), '[?&;]+$', '')"


def _slashless(column: str) -> str:
    return rf"regexp_replace({column}, '/+(\?|$)', '\1')"


def _without_www(column: str) -> str:
    return rf"regexp_replace({column}, '^([a-zA-Z]*://)www[0-9]*\.', '\1')"


def _without_port(column: str) -> str:
    return rf"regexp_replace({column}, '^([a-zA-Z]*://[^/?]*):[0-9]+', '\1')"


def _schemeless(column: str) -> str:
    return f"regexp_replace({column}, '^https?:', '')"


_LAX = (_slashless, _sessionless, _without_port, _without_www, _unescaped)
LOOSE = reduce(lambda text, step: step(f"({text})"), reversed(_LAX), "uri")
LOOSE = f"regexp_replace({LOOSE}, '^https?:', '')"

#: cause -> what two URIs have in common if that is the only difference
SPELLINGS = (
    ("escape", _hidden("uri")),
    ("case", "lower(uri)"),
    ("missing slash", _slashless("uri")),
    ("www", _without_www("uri")),
    ("scheme", _schemeless("uri")),
    ("port", _without_port("uri")),
    ("session id", _sessionless("uri")),
    ("escape", f"{_unescaped('uri')} || regexp_replace(uri, '%..|[^A-Z]', '', 'g')"),
    ("several", LOOSE),
)


@dataclass
class Cause:
    """uris: fetched but unlisted for it. spelled: those of which another spelling is listed in
    Heritrix's form. by_hop: uris by last hop. examples: (fetched, listed or '')."""

    uris: int = 0
    spelled: int = 0
    by_hop: dict[str, int] = field(default_factory=dict)
    examples: list[tuple[str, str]] = field(default_factory=list)


def find_causes(db: duckdb.DuckDBPyConnection) -> dict[str, Cause]:
    """The causes that there are, the most frequent first. Reads `seen`, `listed`, `mended`."""
    db.execute(
        "CREATE TABLE unlisted AS SELECT uri, hop, CASE WHEN listed THEN 'minus one'"
        " ELSE mended.cause END AS cause FROM seen LEFT JOIN mended USING (uri)"
        f" WHERE {ORDERED} AND class IS NULL"
    )
    _compare(db)
    db.execute(
        "CREATE TABLE explained AS SELECT unlisted.uri, hop,"
        " coalesce(unlisted.cause, spelled.cause, 'new page') AS cause,"
        " coalesce(other, '') AS other"
        " FROM unlisted LEFT JOIN spelled USING (uri)"
    )
    found = _counted(db)
    for name in ("unlisted", "spelled", "alike", "explained"):
        db.execute(f"DROP TABLE {name}")
    return found


def count_respelled(db: duckdb.DuckDBPyConnection) -> int:
    """Listed URIs that are not in the log while another spelling of them was answered."""
    found = db.execute(
        f"SELECT count(*) FROM (SELECT {LOOSE} AS same FROM listed ANTI JOIN seen USING (uri)"
        f" WHERE class IS NOT NULL) WHERE same IN (SELECT {LOOSE} FROM seen WHERE answered)"
    ).fetchone()
    return int(found[0]) if found else 0


def _compare(db: duckdb.DuckDBPyConnection) -> None:
    """Make `spelled`: uri, cause, other: a listed URI. `alike`: listed URIs that are like some."""
    db.execute(
        f"CREATE TABLE loose AS SELECT uri, {LOOSE} AS same FROM unlisted WHERE cause IS NULL"
    )
    db.execute(
        f"CREATE TABLE alike AS SELECT uri, same FROM (SELECT uri, {LOOSE} AS same FROM listed)"
        " WHERE same IN (SELECT same FROM loose)"
    )
    db.execute("DELETE FROM loose WHERE same NOT IN (SELECT same FROM alike)")
    db.execute("CREATE TABLE spelled (uri VARCHAR, cause VARCHAR, other VARCHAR)")
    for cause, same in SPELLINGS:
        db.execute(
            "INSERT INTO spelled SELECT one.uri, $cause, other.uri FROM"
            f" (SELECT uri, {same} AS same FROM loose ANTI JOIN spelled USING (uri)) AS one JOIN"
            f" (SELECT min(uri) AS uri, {same} AS same FROM alike GROUP BY ALL) AS other"
            " USING (same)",
            {"cause": cause},
        )
    db.execute("DROP TABLE loose")


def _counted(db: duckdb.DuckDBPyConnection) -> dict[str, Cause]:
    found: dict[str, Cause] = {}
    rows = db.execute(
        "SELECT cause, hop, count(*), count(*) FILTER (other <> '') FROM explained"
        " GROUP BY cause, hop ORDER BY cause, hop"
    ).fetchall()
    for name, hop, uris, spelled in rows:
        cause = found.setdefault(name, Cause())
        cause.uris += uris
        cause.spelled += spelled
        cause.by_hop[chr(hop)] = uris
    for name, cause in found.items():
        cause.examples = db.execute(
            "SELECT uri, other FROM explained WHERE cause = $name ORDER BY uri LIMIT $most",
            {"name": name, "most": EXAMPLES},
        ).fetchall()
    return dict(sorted(found.items(), key=lambda item: (-item[1].uris, item[0])))
