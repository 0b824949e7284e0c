"""Targets of plain anchors by machine code: more and longer ones than a call has room for, with
references of other forms between."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples

from crawlrank.jobs.kernel.links.html_links import html_links

PAGE = "http://example.com/a/b/c.html"
REFERENCES = {
    "d.html": "http://example.com/a/b/d.html",
    "/e": "http://example.com/e",
    "../f?g": "http://example.com/a/f?g",
    "http://h.example.org/i": "http://h.example.org/i",
    "#j": PAGE,
    "k" * 250: "http://example.com/a/b/" + "k" * 250,
    "l&amp;m": "http://example.com/a/b/l&m",
    "mailto:n@example.com": "",
    "o" * 300: "http://example.com/a/b/" + "o" * 300,
    "p" * 70_000: "",  # longer than any URI
}


def targets(references):
    body = "".join(f"<a href='{reference}'>" for reference in references).encode()
    return [target.decode() for target, *_ in html_links(body, PAGE, "text/html", Counter())]


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.sampled_from([*REFERENCES]), max_size=30))
def test_each_reference_has_its_target_in_the_order_of_the_page(references):
    wanted = [REFERENCES[reference] for reference in references]
    assert targets(references) == [target for target in wanted if target]


@pytest.mark.parametrize("reference", REFERENCES)
def test_references_that_do_not_fit_into_one_call(reference):
    count = 30 if len(reference) > 1000 else 3000
    wanted = [REFERENCES[reference]] * count if REFERENCES[reference] else []
    assert targets([reference] * count) == wanted
