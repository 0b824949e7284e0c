"""The table of docs/formats.md says of every rule where its links are found, and with what hop."""

from __future__ import annotations

import re

from support.paths import ROOT

from crawlrank.jobs.kernel.formats.rows import HOPS
from crawlrank.jobs.kernel.links.body_links import JSON_FEED_RULES
from crawlrank.jobs.kernel.links.link_rules import FORM_RULES, RULES
from crawlrank.jobs.kernel.links.xml_links import FEED_RULES, SITEMAP_RULES

PAGE = ROOT / "docs" / "formats.md"
OTHERS = {
    "style",
    "*/@style",
    "url()",
    "Location:",
    "Refresh:",
    "Link:",
    "Sitemap:",
    "Annot/URI",
    "sitemap.txt",
}


def rows() -> list[tuple[set[str], set[str]]]:
    """The contexts and the hops of each row."""
    section = PAGE.read_text().partition("## Where links are found")[2].partition("\n## ")[0]
    section = section.partition("What is not read")[0]
    found = []
    for line in section.splitlines():
        if line.startswith("| `"):
            where, hops = line.split("|")[1:3]
            found.append((set(re.findall("`(.+?)`", where)), set(re.findall("[A-Z]", hops))))
    return found


def test_every_rule_is_in_the_table_with_its_hop() -> None:
    table = rows()
    rules = [(rule.context, rule.hop) for rule in RULES + FORM_RULES + FEED_RULES + SITEMAP_RULES]
    for prefix, members in JSON_FEED_RULES.items():
        rules += [(prefix + name, hop) for name, hop in members.items()]
    for context, hop in rules:
        assert any(context in contexts and hop in hops for contexts, hops in table), context
    named = set().union(*(contexts for contexts, _ in table))
    assert named == {context for context, _ in rules} | OTHERS


def test_every_letter_of_a_hop_is_in_the_table() -> None:
    section = PAGE.read_text().partition("### Hops")[2].partition("\n**")[0]
    table = re.findall(r"^\| ([A-Z]) \| (.+) \| (.+) \|$", section, re.MULTILINE)
    assert table == [
        (letter, hop.meaning, hop.counts_as or "no link") for letter, hop in HOPS.items()
    ]
