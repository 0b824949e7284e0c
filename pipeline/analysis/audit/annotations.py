"""What Heritrix itself wrote into crawl.log of precedences: the annotation of the bean
precedenceAnnotator, `precedence:N`, base included.

A URI keeps the precedence that it was scheduled with. So the annotation tells for certain what the
order of fetches only suggests: whether the file was loaded, whether the URI was scheduled before
that, whether Heritrix looked it up under another spelling, or whether it was merely found late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb

from crawlrank.pipeline.analysis.audit.joining import HOST, ORDERED
from crawlrank.pipeline.precedence.beans import BASE

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
    right ones that were fetched behind a later class of their host and hop; late_seeds: of these,
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
    """Of precedences that this file does not give."""
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
