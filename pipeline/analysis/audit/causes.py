"""Why a URI that was fetched is not listed: the likely cause, by comparison with listed URIs.

First come entries that load but that no crawl looks up as they are: mended, they would list the
URI. Then spellings: if one difference of SPELLINGS is ignored, in their order, the URI equals a
listed one; if all have to be ignored, the cause is `several`. What is left is a new page.

All of it is joins of strings in DuckDB. Only URIs that equal a listed one with all differences
ignored are compared cause by cause.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import duckdb

from crawlrank.pipeline.analysis.audit.joining import ORDERED

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
    """Escapes of printable characters undone, the others with lower-case digits."""
    text = f"lower({column})"
    for code in range(0x21, 0x7F):
        if (character := chr(code).lower()) != "%":
            quoted = character.replace("'", "''")
            text = f"replace({text}, '%{code:02x}', '{quoted}')"
    return f"CASE WHEN contains({column}, '%') THEN {text} ELSE lower({column}) END"


def _escapes_apart(column: str) -> str:
    """Without escapes, and in lower case: both are equal if only capitals in escapes differ."""
    return f"regexp_replace({column}, '%[0-9A-Fa-f]{{2}}', '%', 'g') || ' ' || lower({column})"


def _without_session(column: str) -> str:
    without = rf"regexp_replace({column}, '([?&;])({SESSION})=[^&;?#/]*', '\1', 'gi')"
    return rf"regexp_replace(regexp_replace({without}, '([?&;])[&;?]+', '\1', 'g'), '[?&;]+$', '')"


#: difference -> a regular expression for it, and what is left of it
_PATTERNS = {
    "missing slash": (r"/+(\?|$)", r"\1"),
    "www": (r"^([a-zA-Z]*://)www[0-9]*\.", r"\1"),
    "scheme": ("^https?:", ""),
    "port": (r"^([a-zA-Z]*://[^/?]*):[0-9]+", r"\1"),
}


def _without(difference: str, column: str) -> str:
    pattern, left = _PATTERNS[difference]
    return f"regexp_replace({column}, '{pattern}', '{left}')"


#: all differences ignored; the scheme goes last, as ports and www are found after it
LOOSE = _without_session(_without("port", _without("www", f"({_unescaped('uri')})")))
LOOSE = _without("scheme", _without("missing slash", LOOSE))

#: cause -> what two URIs have in common if it is their only difference
SPELLINGS = (
    ("escape", _escapes_apart("uri")),
    ("case", "lower(uri)"),
    ("missing slash", _without("missing slash", "uri")),
    ("www", _without("www", "uri")),
    ("scheme", _without("scheme", "uri")),
    ("port", _without("port", "uri")),
    ("session id", _without_session("uri")),
    ("escape", f"{_unescaped('uri')} || regexp_replace(uri, '%..|[^A-Z]', '', 'g')"),
    ("several", LOOSE),
)


@dataclass
class Cause:
    """uris: fetched but unlisted for this cause. spelled: those of which another spelling is listed
    in Heritrix's form. by_hop: uris by last hop. examples: (fetched, listed or '')."""

    uris: int = 0
    spelled: int = 0
    by_hop: dict[str, int] = field(default_factory=dict)
    examples: list[tuple[str, str]] = field(default_factory=list)


def find_causes(db: duckdb.DuckDBPyConnection) -> dict[str, Cause]:
    """The causes, the most frequent first. Reads the tables `seen`, `listed`, `mended`."""
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
    causes = _counted(db)
    for name in ("unlisted", "spelled", "alike", "explained"):
        db.execute(f"DROP TABLE {name}")
    return causes


def count_respelled(db: duckdb.DuckDBPyConnection) -> dict[int, int]:
    """How many listed URIs are not in the log while another spelling of them was answered, by
    class."""
    rows = db.execute(
        f"SELECT class, count(*) FROM (SELECT class, {LOOSE} AS same FROM listed"
        " ANTI JOIN seen USING (uri) WHERE class IS NOT NULL)"
        f" WHERE same IN (SELECT {LOOSE} FROM seen WHERE answered) GROUP BY class"
    ).fetchall()
    return dict(rows)


def _compare(db: duckdb.DuckDBPyConnection) -> None:
    """Make the tables `spelled` (uri, cause, other: a listed URI) and `alike` (listed URIs that
    equal an unlisted one with all differences ignored)."""
    db.execute(
        f"CREATE TABLE loose AS SELECT uri, {LOOSE} AS same FROM unlisted WHERE cause IS NULL"
    )
    db.execute(
        f"CREATE TABLE alike AS SELECT uri, same FROM (SELECT uri, {LOOSE} AS same FROM listed)"
        " WHERE same IN (SELECT same FROM loose)"
    )
    db.execute("DELETE FROM loose WHERE same NOT IN (SELECT same FROM alike)")
    db.execute("CREATE TABLE spelled (uri VARCHAR, cause VARCHAR, other VARCHAR)")
    is_left = db.execute("FROM loose LIMIT 1").fetchall()
    for cause, same in SPELLINGS if is_left else ():
        db.execute(
            "INSERT INTO spelled SELECT fetched.uri, $cause, other.uri FROM"
            f" (SELECT uri, {same} AS same FROM loose ANTI JOIN spelled USING (uri)) AS fetched"
            f" JOIN (SELECT min(uri) AS uri, {same} AS same FROM alike GROUP BY ALL) AS other"
            " USING (same)",
            {"cause": cause},
        )
    db.execute("DROP TABLE loose")


def _counted(db: duckdb.DuckDBPyConnection) -> dict[str, Cause]:
    causes: dict[str, Cause] = {}
    rows = db.execute(
        "SELECT cause, hop, count(*), count(*) FILTER (other <> '') FROM explained"
        " GROUP BY cause, hop ORDER BY cause, hop"
    ).fetchall()
    for name, hop, uris, spelled in rows:
        cause = causes.setdefault(name, Cause())
        cause.uris += uris
        cause.spelled += spelled
        cause.by_hop[chr(hop)] = uris
    for name, cause in causes.items():
        cause.examples = db.execute(
            "SELECT uri, other FROM explained WHERE cause = $name ORDER BY uri LIMIT $most",
            {"name": name, "most": EXAMPLES},
        ).fetchall()
    return dict(sorted(causes.items(), key=lambda item: (-item[1].uris, item[0])))
