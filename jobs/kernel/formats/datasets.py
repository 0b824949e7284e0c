"""The table of datasets: the name, the columns, the separator and the order of each.

Everything that reads or writes a dataset goes by it: the parsers of lines, DuckDB's reader of text,
the schemas of Parquet, and the merging of parts. A test compares docs/formats.md with it. Datasets
of arrays are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from crawlrank.jobs.kernel.formats.rows import (
    Anchor,
    CanonicalLink,
    Capture,
    Fold,
    GraphLine,
    HubRow,
    InputLink,
    Link,
    MapRow,
    ScoreRow,
    UriRow,
)

FEW = 4  # columns; messages list more than these in words


class RowOrder(Enum):
    """What the lines of a whole dataset are ordered by."""

    ARCHIVES = "as the parts are, one for each archive"
    LINE = "the bytes of the line"
    ID = "the number of the id; dummy comes last"
    ID_AND_LINE = "the number of the id, then the bytes of the line"
    SCORE = "the rounded score, best first, then the key"


class Dataset:
    """One dataset. columns: those of a line, with Arrow's names of their types.

    fields: of the type of its rows. types: of the columns that are no strings. separator: what
    stands between columns; where it is a blank, readers take one tab too. note: what else messages
    say of the columns. usual: how many columns there are where extraction was not asked for more;
    by default all. widths: how many columns a line may have; by default the usual ones. required:
    how many a Parquet file has at least; likewise. before, behind: columns that only Parquet has,
    before and behind those of a line. longest: bytes of a line, at most. phrase: whether the last
    column of the longest lines may have blanks.
    """

    def __init__(
        self,
        name: str,
        fields: tuple[str, ...],
        separator: str,
        order: RowOrder,
        note: str = "",
        *,
        types: Mapping[str, str] = MappingProxyType({}),
        usual: int | None = None,
        widths: tuple[int, ...] | None = None,
        required: int | None = None,
        before: Mapping[str, str] = MappingProxyType({}),
        behind: Mapping[str, str] = MappingProxyType({}),
        longest: int = 1 << 20,
        phrase: bool = False,
    ) -> None:
        self.name, self.separator, self.order, self.longest = name, separator, order, longest
        self.phrase = phrase
        self.columns = {name: types.get(name, "string") for name in fields}
        self.parquet_columns = {**before, **self.columns, **behind}
        self.usual = usual or len(self.columns)
        self.widths = widths or (self.usual,)
        self.required = required or self.usual
        self.expected = _expected(list(self.first(self.usual)), separator, note)

    def first(self, count: int) -> dict[str, str]:
        """The first columns of a line."""
        return dict(list(self.columns.items())[:count])


def _expected(names: list[str], separator: str, note: str) -> str:
    """The columns of a line, for messages."""
    if separator == " ":
        text = f"`{' '.join(names)}`, one blank or tab between them"
    elif len(names) > FEW:
        text = f"{len(names)} columns with tabs: {', '.join(names)}"
    else:
        text = f"`{'<TAB>'.join(names)}`"
    return f"{text} ({note})" if note else text


_TARGETS = "targets: `O:id,id,…` or `O:dummy`"
_LONG = 1 << 24  # bytes: a line of a page with two million links

_ID, _SCORE = {"id": "int64"}, {"score": "double"}

LINKS = Dataset(
    "links", Link._fields, " ", RowOrder.ARCHIVES,
    "the hop may be absent, a timestamp and kinds of references may follow",
    usual=3, widths=(2, 3, 4, 5), required=2,
)  # fmt: skip
ANCHORS = Dataset(
    "anchors", Anchor._fields, "\t", RowOrder.ARCHIVES,
    "the timestamp may be absent, the words around the link may follow",
    usual=4, widths=(3, 4, 5), required=3,
)  # fmt: skip
CAPTURES = Dataset(
    "captures", Capture._fields, "\t", RowOrder.ARCHIVES,
    "the last two may be absent, 4 about revisits may follow, then 2 validators, then a title",
    types={"status": "int32", "offset": "int64"}, usual=10, widths=(8, 10, 14, 16, 17), required=8,
    phrase=True,
)  # fmt: skip
SELECTED = Dataset("selected", Link._fields, " ", RowOrder.ARCHIVES, usual=3)
FOLDS = Dataset("folds", Fold._fields, "\t", RowOrder.LINE, types={"hops": "int64"})
CANONICAL_LINKS = Dataset("canonical_links", CanonicalLink._fields, " ", RowOrder.LINE)
URIS = Dataset(
    "uris", UriRow._fields, "\t", RowOrder.LINE,
    types={"captures": "int64", "links": "int64"}, before={"number": "int64"},
)  # fmt: skip
INPUT_LINKS = Dataset("input_links", InputLink._fields, " ", RowOrder.ID_AND_LINE, types=_ID)
MAP = Dataset("map", MapRow._fields, " ", RowOrder.ID, types=_ID)
GRAPH = Dataset(
    "graph", GraphLine._fields, "\t", RowOrder.ID, _TARGETS, types=_SCORE, longest=_LONG
)
RANKS = Dataset(
    "ranks", GraphLine._fields, "\t", RowOrder.ID, _TARGETS, types=_SCORE, longest=_LONG
)
HUBS = Dataset(
    "hubs", HubRow._fields, "\t", RowOrder.ID, types={**_ID, "hub": "double", "gives": "double"}
)
SCORES = Dataset(
    "scores", ScoreRow._fields, "\t", RowOrder.SCORE, "the key may be absent",
    types=_SCORE, widths=(2, 3, 8),
    behind={
        "id": "int64", "inlinks": "int64", "outlinks": "int64", "captures": "int64",
        "last": "string", "probability": "double",
    },
)  # fmt: skip

DATASETS = {
    dataset.name: dataset
    for dataset in (
        LINKS, ANCHORS, CAPTURES, SELECTED, FOLDS, CANONICAL_LINKS, URIS, INPUT_LINKS, MAP,
        GRAPH, RANKS, HUBS, SCORES,
    )
}  # fmt: skip
