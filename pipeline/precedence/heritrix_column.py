"""Columns of URIs in the form in which Heritrix looks them up (jobs/kernel/keys/heritrix_form.py).

Nearly every URI of a crawl is its own form. Arrow finds these by one expression, without a Python
object for each. Only the others go one by one through the steps that mend.
"""

from __future__ import annotations

from dataclasses import dataclass

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
