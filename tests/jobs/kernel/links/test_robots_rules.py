"""Rules for robots in meta elements and headers: values, separators, names of robots."""

from __future__ import annotations

import random

import pytest
from support.drawing import examples
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.header_links import header_nofollow, robots_nofollow
from crawlrank.jobs.kernel.links.html_links import html_links
from crawlrank.jobs.kernel.links.link_rules import asks_nofollow

#: rules -> whether they say nofollow, in a meta element and in a header
CASES = {
    "": (False, False),
    "nofollow": (True, True),
    "NOINDEX,NoFollow": (True, True),
    "none": (True, True),
    "max-snippet:-1, nofollow": (True, True),
    "max-image-preview:large, noindex, nofollow": (True, True),
    "max-video-preview:0, none": (True, True),
    "max-image-preview:none, follow": (False, False),
    "max-image-preview: none, follow": (False, False),
    "max-image-preview : none , follow": (False, False),
    "max-image-preview:none": (False, False),
    "max-image-preview:none nofollow": (True, True),
    "nofollow, max-snippet:-1": (True, True),
    "noindex nofollow": (True, True),
    "noindex; nofollow": (True, True),
    "noindex|nofollow": (True, True),
    "noindex\xa0nofollow": (True, True),
    "noindex,follow": (False, False),
    "notnofollow": (False, False),
    "no-follow": (False, False),
    "noarchive:1, nofollow": (True, True),
    "unavailable_after: 2026-01-01, nofollow": (True, True),
    "unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow": (True, True),
    "unavailable_after: Saturday, 25-Jun-2010 15:00:00 PST, nofollow": (True, True),
    "unavailable_after: x, 15:00:00, nofollow": (True, True),
    "unavailable_after: none": (False, False),
    "noindex, unavailable_after: 15:00:00; none": (True, True),
    "x-rule: nofollow": (False, False),
    "x-rule: 5, nofollow": (True, False),
    "otherbot: nofollow": (False, False),
    "otherbot: noindex, nofollow": (True, False),
    "noindex, otherbot: nofollow": (False, False),
    "nofollow, otherbot: noindex": (True, True),
    "otherbot: max-image-preview:none, nofollow": (True, False),
    "otherbot: noindex, *: nofollow": (False, True),
    "otherbot : nofollow, noindex": (False, False),
    ":, nofollow": (True, True),
    ":nofollow": (True, True),
}


@pytest.mark.parametrize("rules", CASES)
def test_what_rules_say(rules: str) -> None:
    in_meta, in_header = CASES[rules]
    assert robots_nofollow(rules) == in_meta
    assert header_nofollow([("x-robots-tag", rules)]) == in_header
    html = f"<meta name=robots content='{rules}'><a href=x>".encode()
    assert [link[3] for link in html_links(html, "http://h/", "text/html")] == [in_meta]


VALUED = {
    "max-snippet": ("-1", "0", "none", "nofollow"), "max-image-preview": ("none", "large"),
    "max-video-preview": ("-1",), "unavailable_after": ("2026-01-01", "1 Jan 26 10:00:00 GMT"),
}  # fmt: skip
PLAIN = ("noindex", "index", "follow", "all", "nosnippet", "noarchive", "NOODP")


@pytest.mark.parametrize("seed", range(examples(100)))
def test_values_never_hide_a_rule_and_are_none(seed: int) -> None:
    draw = random.Random(seed)
    rules = [draw.choice(PLAIN) for _ in range(draw.randrange(4))]
    for name in draw.sample(sorted(VALUED), draw.randrange(4)):
        rules.append(name + draw.choice((":", ": ", " : ")) + draw.choice(VALUED[name]))
    says = draw.random() < 0.5
    rules += [draw.choice(("nofollow", "None", "noFollow"))] * says
    draw.shuffle(rules)
    written = draw.choice((",", ", ", ";", " ; ")).join(rules)
    assert robots_nofollow(written) == robots_nofollow(written, robots=True) == says
    assert not robots_nofollow(f"somebot: {written}", robots=True)


@pytest.mark.parametrize(("relations", "asks"), [
    ("ugc,nofollow", True), ("ugc nofollow", True), ("x,ugc", True), ("x;nofollow", True),
    ("sponsored, x", True), ("x", False), ("nofollowed,x", False), ("x\xa0nofollow", False),
])  # fmt: skip
def test_relations_with_commas(relations: str, asks: bool) -> None:
    assert asks_nofollow(relations) == asks


@pytest.mark.parametrize("some", ["a", "a:", ":", ",", "a ", "a,", "max-snippet: ", "x: "])
def test_work_is_linear(some: str) -> None:
    assert_linear(lambda count: robots_nofollow(some * count, robots=True), 2**16)
