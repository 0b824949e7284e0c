"""The steps of a run: what each reads and writes on either engine, and what it returns.

`pipeline/run/run.py` decides which steps are to be done. An engine does them on its own datasets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.storage.opening import PathOrUrl

RANK = "page-rank"
#: with a part for each archive, or for those that shared a task; the last on request
OF_ARCHIVES = ("links", "captures", "anchors")
EMBEDDED = "embedded"  # the runner without jobs: this process and a pool
BEANS, SUMMARY = "crawler-beans-fragment.xml", "precedence.summary.json"
PRECEDENCE = ("precedence.txt", SUMMARY, BEANS)

StepEntry = dict[str, Any]  # what the manifest holds of a step: rows, counters …


class Datasets(NamedTuple):
    """The datasets that a step reads, and those that it writes, whole or not at all."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


#: step -> the steps whose results it uses, in the order of a run
STEPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "extract-links": (),
        "select-links": ("extract-links",),  # only in runs with rules for several captures or folds
        "canonicalize": ("extract-links", "select-links"),
        "assign-ids": ("canonicalize",),
        "gen-graph": ("assign-ids",),
        "page-rank": ("gen-graph",),
        "join-scores": ("page-rank", "canonicalize"),
        "export-precedence": ("join-scores", "canonicalize"),
        "validate-opic": ("page-rank", "assign-ids", "canonicalize"),
    }
)


def later_steps(name: str) -> list[str]:
    """The steps that read what this one writes, or what those write."""
    later = [name]
    for step, reads in STEPS.items():
        if not set(reads).isdisjoint(later):
            later.append(step)
    return later[1:]


RESULTS = tuple(later_steps(RANK))  # the steps whose datasets users take
#: the steps whose datasets all rankings of a work folder share; see workfolder/rankings.py
SHARED = tuple(step for step in STEPS if step not in (RANK, *RESULTS))

#: of the engine whose datasets are text
TEXT: Mapping[str, Datasets] = MappingProxyType(
    {
        "extract-links": Datasets((), OF_ARCHIVES),
        "select-links": Datasets(("links", "captures"), ("selected", "folds")),
        "canonicalize": Datasets(
            ("links", "captures", "selected", "folds"), ("canonical_links", "uris")
        ),
        "assign-ids": Datasets(("canonical_links", "uris"), ("input_links", "map")),
        "gen-graph": Datasets(("input_links", "map"), ("graph",)),
        "page-rank": Datasets(("graph",), ("ranks", "hubs")),  # hubs: of HITS
        "join-scores": Datasets(("ranks", "map", "uris"), ("scores",)),
        "export-precedence": Datasets(("scores", "uris"), PRECEDENCE),
        "validate-opic": Datasets(("graph", "ranks", "uris", "map"), ("report",)),
    }
)

#: of the same engine with datasets at a URL: scored is there, scores on this machine; likewise the
#: lines of the precedence file, if jobs write them
TEXT_AT_URL: Mapping[str, Datasets] = MappingProxyType(
    {
        **TEXT,
        "join-scores": TEXT["join-scores"]._replace(writes=("scored", "scores")),
        "export-precedence": Datasets(("scored", "scores", "uris"), ("precedence", *PRECEDENCE)),
    }
)

#: of the engine whose datasets are columns and arrays
COLUMNS: Mapping[str, Datasets] = MappingProxyType(
    {
        "extract-links": TEXT["extract-links"],
        "select-links": TEXT["select-links"],
        "canonicalize": Datasets(
            ("links", "captures", "keys", "selected", "folds"), ("uris", "numbers")
        ),
        "assign-ids": Datasets(("uris",), ("map",)),
        "gen-graph": Datasets(("links", "selected", "numbers", "map"), ("graph",)),
        "page-rank": Datasets(("graph",), ("ranks",)),
        "join-scores": Datasets(("ranks", "map", "uris", "graph"), ("scores",)),
        "export-precedence": Datasets(("scores", "uris", "map"), PRECEDENCE),
        "validate-opic": TEXT["validate-opic"],
    }
)


def datasets_of(options: ExtractionOptions) -> tuple[str, ...]:
    """The datasets that extraction with these options writes, those of OF_ARCHIVES."""
    return OF_ARCHIVES if options.anchor_text else OF_ARCHIVES[:-1]


def written_by(steps: Iterable[str]) -> tuple[str, ...]:
    """The datasets that steps write, on any engine."""
    names = [n for step in steps for table in (COLUMNS, TEXT_AT_URL) for n in table[step].writes]
    return tuple(dict.fromkeys(names))


@dataclass
class StepResult:
    """The result of a step: rows by dataset, counters, examples of dropped URIs."""

    rows: dict[str, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


@dataclass
class ArchiveReport:
    """One archive after extraction. part: the name of its file in datasets.

    error: found, expected and cure, if nothing in the archive could be read. digest: of all its
    bytes, '' if they could not be read.
    """

    path: str
    part: str
    counters: dict[str, int]
    damage: list[list[Any]] = field(default_factory=list)
    error: list[str] | None = None
    digest: str = ""


class ArchiveTask(NamedTuple):
    """An archive to extract. content: its fingerprint. part: its file in datasets."""

    content: str
    archive: PathOrUrl
    part: str
