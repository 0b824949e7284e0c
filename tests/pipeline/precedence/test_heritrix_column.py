"""Columns of forms, against the forms of the single URIs made without any short cut."""

from __future__ import annotations

import gzip
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.drawing import examples
from support.inputs.heritrix_uris import CASES, HOSTILE, MORE, USUAL
from support.inputs.made_uris import made_uris
from support.paths import DATA

from crawlrank.jobs.kernel.keys import heritrix_form as module
from crawlrank.jobs.kernel.keys.form_columns import forms
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects

UTF8 = HOSTILE.filter(lambda uri: not re.search("[\ud800-\udfff]", uri))  # as datasets have it


def by_steps(uri: str) -> tuple[str, bool, str | None]:
    """The form, or the URI where there is none; whether the form is another; the reason."""
    try:
        form = module._form_by_steps(uri)
        if form != uri and module._form_by_steps(form) != form:
            raise HeritrixRejects("a form that Heritrix reads as another URI")
    except HeritrixRejects as error:
        return uri, False, str(error)
    return form, form != uri, None


def check(uris: list[str]) -> None:
    found = forms(pa.array(uris, pa.string()))
    rows = zip(
        found.forms.to_pylist(), found.rewritten.tolist(), found.reasons.to_pylist(), strict=True
    )
    assert list(rows) == [by_steps(uri) for uri in uris]


def test_the_tables_of_heritrix() -> None:
    check([uri for uri, _, _ in CASES + MORE])


@given(st.lists(USUAL | UTF8))
def test_whatever_stands_in_a_column(uris: list[str]) -> None:
    check(uris)


@pytest.mark.slow
def test_real_uris_and_spoiled_ones() -> None:
    real = gzip.decompress((DATA / "urls" / "links.txt.gz").read_bytes()).splitlines()
    made = made_uris(examples(20_000), 11, real)
    check([uri.decode("utf-8", "replace") for uri in [*real, *made]])


@pytest.mark.few(1)
@pytest.mark.parametrize("digits", range(1, 5))
def test_every_port_of_so_many_digits(digits: int) -> None:
    ports = range(10 ** (digits - 1), 10**digits)
    check([f"http{s}://h.example:{port}/" for port in ports for s in ("", "s")])


def test_every_ascii_character_everywhere() -> None:
    places = (
        "http://h{}.example/",
        "http://h.example/{}",
        "http://h.example/?{}",
        "http://{}/",
        "{}",
    )
    check([place.format(chr(code)) for place in places for code in range(128)])


@pytest.mark.parametrize("length", [2082, 2083, 2084])
def test_length_is_counted_in_characters(length: int) -> None:
    check(["http://h.example/".ljust(length, "a"), "http://h.example/".ljust(length, "\xe9")])


def test_no_uris() -> None:
    check([])
