"""Why a URI that was fetched is not listed: the likely cause, by comparison with listed URIs.

First come entries that load but that no crawl looks up as they are: mended, they would list the
URI. Then spellings: if one difference of SPELLINGS is ignored, in their order, the URI equals a
listed one; if all have to be ignored, the cause is `several`. What is left is a new page.

All of it is joins of strings in DuckDB. Only URIs that equal a listed one with all differences
ignored are compared cause by cause.

What Heritrix itself wrote into crawl.log of precedences: the annotation of the bean
precedenceAnnotator, `precedence:N`, base included.

A URI keeps the precedence that it was scheduled with. So the annotation tells for certain what the
order of fetches only suggests: whether the file was loaded, whether the URI was scheduled before
that, whether Heritrix looked it up under another spelling, or whether it was merely found late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import duckdb

from crawlrank.pipeline.analysis.audit.entries import HOST, ORDERED
from crawlrank.pipeline.precedence.beans import BASE

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
    """The URI without escapes, and in lower case: both are equal if only capitals in escapes
    differ."""
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


WITHOUT_POLICY = BASE  # what every URI has by Heritrix's own default
_COUNTED = f"{ORDERED} AND given IS NOT NULL"
_RIGHT = f"given = precedence + {BASE}"
#: with the precedence that most unlisted URIs have, or most listed ones that have not their own
_DEFAULT = (
    f"SELECT mode(given) FILTER (class IS NULL), mode(given) FILTER (NOT ({_RIGHT})) FROM seen"
    f" WHERE {_COUNTED}"
)


@dataclass(frozen=True)
class Annotations:
    """What Heritrix gave to URIs whose order counts.

    annotated: URIs with an annotation. default: the precedence of URIs that are not listed, base
    included; None where none is seen. Of listed URIs: right, with that of the file; as_unlisted,
    with the default; before: of these, those scheduled while others were right; other, with
    neither. Of unlisted URIs: known, with another one than the default, of an earlier file. late:
    right ones that were fetched after a later class of their host and hop; late_seeds: of these,
    seeds.
    """

    annotated: int
    default: int | None
    right: int
    as_unlisted: int
    other: int
    known: int
    late: int
    late_seeds: int

    @property
    def is_loaded(self) -> bool:
        """Whether the file was in the store when at least some of its URIs were scheduled."""
        return self.right > 0

    @property
    def has_policy(self) -> bool:
        """Whether the bean was there. Without it every URI has the same precedence."""
        return bool(self.right or self.other or self.default != WITHOUT_POLICY)


def find_annotations(db: duckdb.DuckDBPyConnection) -> Annotations | None:
    """Reads the table `seen`; None without an annotation."""
    ((of_unlisted, of_wrong),) = db.execute(_DEFAULT).fetchall()
    default = of_unlisted if of_unlisted is not None else of_wrong
    (counts,) = db.execute(
        f"SELECT count(*), count(*) FILTER (class IS NOT NULL AND {_RIGHT}),"
        f" count(*) FILTER (class IS NOT NULL AND NOT ({_RIGHT}) AND given = $default),"
        f" count(*) FILTER (class IS NOT NULL AND NOT ({_RIGHT}) AND given <> $default),"
        f" count(*) FILTER (class IS NULL AND given <> $default) FROM seen WHERE {_COUNTED}",
        {"default": default},
    ).fetchall()
    if not counts[0]:
        return None
    ((late, late_seeds),) = db.execute(
        "SELECT count(*), count(*) FILTER (hop = ord('-')) FROM (SELECT hop, given, precedence,"
        f" class, max(given) OVER (PARTITION BY {HOST}, hop ORDER BY position"
        f" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS worst FROM seen WHERE {_COUNTED})"
        f" WHERE worst > given AND class IS NOT NULL AND {_RIGHT}"
    ).fetchall()
    annotated, right, as_unlisted, other, known = counts
    return Annotations(annotated, default, right, as_unlisted, other, known, late, late_seeds)


def advise_for_certain(annotations: Annotations) -> Iterator[str]:
    """Sentences for people, in place of those that the order of fetches suggests."""
    listed = annotations.right + annotations.as_unlisted + annotations.other
    if listed and not annotations.has_policy:
        yield (
            f"Heritrix gave all URIs ({annotations.annotated:,}) the precedence"
            f" {WITHOUT_POLICY}: the"
            " bean uriPrecedencePolicy is missing, or the file was not loaded and the bean lacks"
            " defaultUriPrecedencePolicy. `crawlrank recrawl` puts it there and loads the file."
        )
        return
    if annotations.as_unlisted and not annotations.is_loaded:
        yield (
            f"Heritrix found none of the listed URIs ({listed:,}) in its store: the file was not"
            " loaded into the state folder of this job before the launch. `crawlrank recrawl`"
            " loads it; a launch from a checkpoint drops what was loaded after the checkpoint."
        )
    elif annotations.as_unlisted:
        yield (
            f"Listed URIs that had the precedence of unlisted ones: {annotations.as_unlisted:,}."
            " They"
            " were scheduled before the file was loaded, and keep what they were scheduled with."
            " Load it before the launch, into the state of a job that is torn down."
        )
    yield from _of_other_files(annotations)


def _of_other_files(annotations: Annotations) -> Iterator[str]:
    """The causes for precedences that this file does not give."""
    if annotations.other:
        yield (
            f"Listed URIs with a precedence that is neither theirs in this file nor that of"
            f" unlisted URIs: {annotations.other:,}. The store is of another file. Audit with"
            " that one,"
            " or load this one."
        )
    if annotations.known:
        yield (
            f"URIs that are not in this file and had a precedence all the same:"
            f" {annotations.known:,}. A file loaded earlier lists them, and loading replaces"
            " only what a file lists."
            " To forget it, load into an empty state folder."
        )
    if annotations.default == WITHOUT_POLICY and annotations.is_loaded:
        yield (
            "Unlisted URIs had Heritrix's own default precedence, which puts them first: set"
            " defaultUriPrecedencePolicy in the bean uriPrecedencePolicy, as"
            " crawler-beans-fragment.xml has it."
        )
