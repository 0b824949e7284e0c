"""The form and the key of URIs, against what Heritrix 3.13.0 itself made of them."""

from __future__ import annotations

import gzip
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.growth import assert_linear
from support.inputs.heritrix_uris import CASES, HOSTILE, MORE, REJECT, USUAL
from support.paths import HERITRIX

from crawlrank.jobs.kernel.keys import heritrix_form as module
from crawlrank.jobs.kernel.keys.heritrix_form import (
    HeritrixRejects,
    heritrix_form,
    java_int,
    lookup_key,
)
from crawlrank.jobs.kernel.keys.idna2003 import NotADomain, domain_to_ascii


def form_or_reject(uri: str) -> str:
    try:
        return heritrix_form(uri)
    except HeritrixRejects:
        return REJECT


def has_raw_characters(form: str) -> bool:
    return not re.fullmatch("[!-~]+", form)


@pytest.mark.parametrize(("table", "count"), [(CASES, 2929), (MORE, 754)])
def test_agrees_with_heritrix(table: list[tuple[str, str, str]], count: int) -> None:
    assert len(table) == count
    wrong = []
    for uri, form, key in table:
        expected = REJECT if has_raw_characters(form) else form
        found = form_or_reject(uri)
        if found != expected or (found != REJECT and lookup_key(found) != key):
            wrong.append((uri, form, found))
    assert not wrong


def test_keys_are_the_same_without_the_short_cut() -> None:
    for uri, form, _ in CASES + MORE:
        assert lookup_key(form) == module._general_key(form)
        assert lookup_key(uri) == module._general_key(uri)


def test_forms_with_raw_characters_are_refused() -> None:
    with pytest.raises(HeritrixRejects, match="no precedence file"):
        heritrix_form("http://h.example:[ y]/")


def test_what_a_crawl_scheduled_is_in_its_form() -> None:
    log = (HERITRIX / "first.crawl.log").read_text("utf-8").splitlines()
    archive = gzip.decompress((HERITRIX / "first.warc.gz").read_bytes()).decode("latin-1")
    found = [line.split()[3] for line in log]
    found += re.findall(r"^WARC-Target-URI: (http\S+)\r$", archive, re.M)
    found += re.findall(r"^outlink: (http\S+) ", archive, re.M)
    assert len(found) > 400
    assert [uri for uri in found if heritrix_form(uri) != uri] == []


@given(USUAL | HOSTILE)
def test_the_short_cut_changes_nothing(uri: str) -> None:
    try:
        expected = module._form_by_steps(uri)
    except HeritrixRejects:
        expected = REJECT
    assert form_or_reject(uri) == expected


@given(USUAL)
def test_the_form_of_a_form_is_itself(uri: str) -> None:
    assume(uri.count("/..") < 3)  # see test_where_heritrix_is_not_idempotent
    form = heritrix_form(uri)
    assert heritrix_form(form) == form


def test_the_form_of_a_form_in_the_tables() -> None:
    """The exceptions are Heritrix's own: its form of its form differs, or it rejects it."""
    forms = {form for _, form, _ in CASES if form != REJECT}
    assert {form for form in forms if form_or_reject(form) != form} == {"http:/"}


@pytest.mark.parametrize(
    ("uri", "once", "twice"),
    [
        ("HTTP:///a", "http:/a", REJECT),
        ("HTTP:////H.example/a", "http://H.example/a", "http://h.example/a"),
        ("http://h:+80/", "http://h:80/", "http://h/"),
        ("http://h:80./", "http://h:80/", "http://h/"),
        ("http://h.:/", "http://h./", "http://h/"),
        ("http://h/../../../a/../b", "http://h/a/../b", "http://h/b"),
    ],
)
def test_where_heritrix_is_not_idempotent(uri: str, once: str, twice: str) -> None:
    assert (heritrix_form(uri), form_or_reject(once)) == (once, twice)


@given(USUAL | HOSTILE)
def test_forms_can_stand_in_a_line(uri: str) -> None:
    form = form_or_reject(uri)
    assert not has_raw_characters(form)
    assert len(form) <= module.MAX_LENGTH
    assert lookup_key(form) == module._general_key(form)


@given(st.text(st.sampled_from(list("ht:/@.,0159aZ \t%[]?\xe9\u2028")) | st.characters()))
def test_every_string_has_a_key(text: str) -> None:
    assert lookup_key(text) == module._general_key(text)


# ---- what the tables cannot hold -------------------------------------------------------------


@pytest.mark.parametrize(
    ("uri", "form"),
    [
        ("\t http://h.example/a\tb\r\nc \n", "http://h.example/abc"),
        ("ht\ntp://h.example/", "http://h.example/"),
        ("http://a/\ud800b?\ud800", "http://a/%3Fb??"),
        ("http://a/\ud83d\ude00", "http://a/%F0%9F%98%80"),
    ],
)
def test_breaks_and_surrogates(uri: str, form: str) -> None:
    assert heritrix_form(uri) == form


@pytest.mark.parametrize("uri", ["", " ", "ftp://h.example/", "dns:h.example", "/a", "h.example"])
def test_other_schemes_and_relative_references_are_refused(uri: str) -> None:
    with pytest.raises(HeritrixRejects):
        heritrix_form(uri)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5),
        ("+5", 5),
        ("-0", 0),
        ("007", 7),
        ("\uff15", 5),
        ("\u0661\u0662", 12),
        ("2147483647", 2147483647),
        ("-2147483648", -2147483648),
        ("2147483648", None),
        ("0" * 5000 + "1", 1),
        ("9" * 5000, None),
        ("", None),
        ("+", None),
        ("--1", None),
        ("1_0", None),
        (" 1", None),
        ("\u00b2", None),
        ("\U0001d7d8", None),
    ],
)
def test_java_int(text: str, number: int | None) -> None:
    assert java_int(text) == number


@pytest.mark.parametrize(
    ("domain", "ascii_form"),
    [
        ("b\xfccher\u3002example", "xn--bcher-kva.example"),
        ("FASS.fa\xdf", "FASS.fass"),
        ("\u04c0", "xn--d5a"),  # its small letter came after Unicode 3.2
        ("\u10a0", "xn--7md"),
    ],
)
def test_domains(domain: str, ascii_form: str) -> None:
    assert domain_to_ascii(domain) == ascii_form


@pytest.mark.parametrize("domain", ["\u0221", "\U0001f600", "\xfc.", "\xad", "xn--\xfc", "\xfc_a"])
def test_no_domains(domain: str) -> None:
    with pytest.raises(NotADomain):
        domain_to_ascii(domain)


@pytest.mark.parametrize(
    ("begin", "piece", "end", "most"),
    [
        ("http://", "/", " ", 200_000),
        ("http://", ":1", "", 100_000),
        ("http://", "a", "@", 200_000),
        ("http://", "1.", "", 100_000),
        ("http://h/", "/..", "", 690),
        ("http://h/", "a/../", "", 410),
        ("http://h", ".", "", 2000),
    ],
)
def test_hostile_strings_take_time_in_proportion(
    begin: str, piece: str, end: str, most: int
) -> None:
    def read(size: int) -> None:
        text = begin + piece * size + end
        lookup_key(text)
        form_or_reject(text)

    assert_linear(read, most)
