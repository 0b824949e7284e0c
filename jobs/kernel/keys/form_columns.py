"""Columns of URIs in the form in which Heritrix looks them up (heritrix_form.py).

Nearly every URI of a crawl is its own form. Arrow finds these by one expression, without a Python
object for each. Only the others go one by one through the steps that mend.

Aliases of URIs: the same with the other scheme, and with or without `www.` before the host.

A line counts for one spelling only. A site that a crawl met as http has no line for https, under
which it may be met next time. So each page may have lines for its aliases, with its class; what is
listed anyhow keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crawlrank.jobs.kernel.keys.heritrix_form import (
    IS_FORM,
    MAX_LENGTH,
    HeritrixRejects,
    heritrix_form,
)

Alias = Literal["scheme", "www"]


@dataclass(frozen=True, eq=False)
class Forms:
    """forms: of every URI, or the URI itself where there is none. rewritten: where the form differs
    from the URI. reasons: why there is no form, else null."""

    forms: pa.StringArray
    rewritten: npt.NDArray[np.bool_]
    reasons: pa.StringArray


def forms(uris: pa.StringArray) -> Forms:
    """The forms of a column of URIs, none of which is null."""
    usual = pc.and_(
        pc.match_substring_regex(uris, f"^(?:{IS_FORM})$"),
        pc.less_equal(pc.binary_length(uris), MAX_LENGTH),
    )
    others = np.flatnonzero(~usual.to_numpy(zero_copy_only=False))
    rewritten = np.zeros(len(uris), bool)
    reasons: list[str | None] = [None] * len(others)
    if not len(others):
        return Forms(uris, rewritten, pa.nulls(len(uris), pa.string()))
    unusual_uris = uris.take(pa.array(others)).to_pylist()
    mended = list(unusual_uris)
    for number, uri in enumerate(unusual_uris):
        try:
            mended[number] = lasting_form(uri)
        except HeritrixRejects as error:
            reasons[number] = str(error)
    rewritten[others] = [form != uri for form, uri in zip(mended, unusual_uris, strict=True)]
    unusual, nothing = pc.invert(usual), pa.nulls(len(uris), pa.string())
    return Forms(
        pc.replace_with_mask(uris, unusual, pa.array(mended, pa.string())),
        rewritten,
        pc.replace_with_mask(nothing, unusual, pa.array(reasons, pa.string())),
    )


def lasting_form(uri: str) -> str:
    """The form of the URI, if that is its own form: only such a line passes lint."""
    form = heritrix_form(uri)
    if form != uri and heritrix_form(form) != form:
        raise HeritrixRejects("a form that Heritrix reads as another URI")
    return form


#: no port, which would be another one; a name of two labels or more, and no address
_SCHEME = r"^http(?P<s>s?)://(?P<rest>[^/:@\[]+/.*)$"
_NAME = r"^(?P<scheme>https?://)(?P<www>www\.)?(?P<host>[^/:@\[]+\.[^/:@\[0-9][^/:@\[]*)(?P<rest>[:/].*)$"


def aliases(uris: pa.StringArray, kinds: Sequence[Alias]) -> Iterator[pa.StringArray]:
    """Columns of aliases, null where a URI has none: a column for each kind, and for both."""
    columns = [uris]
    for kind in kinds:
        made = [
            _other_scheme(column) if kind == "scheme" else _other_www(column) for column in columns
        ]
        yield from (_short(column) for column in made)
        columns += made


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
