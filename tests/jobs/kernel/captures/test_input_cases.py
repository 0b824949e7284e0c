"""Inputs as the web has them: each row of the table, in a record of its own and all together."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from support.crawls import ok
from support.inputs.case_table import InputCase, input_cases

from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.jobs.kernel.formats.rows import Link

CASES = input_cases()


@pytest.mark.parametrize("case", CASES, ids=[case.shape for case in CASES])
def test_the_links_of_a_case(case: InputCase) -> None:
    counters, options = Counter[str](), ExtractionOptions(links="all")
    items = [*extract(io.BytesIO(case.record(1)), "a.warc", options, counters)]
    links = {item.target.decode() for item in items if isinstance(item, Link)}
    assert " ".join(sorted(links)) == case.links
    assert counters["captures"] == 1


def test_shapes_are_different() -> None:
    assert len({case.shape for case in CASES}) == len(CASES)


def test_the_links_of_all_by_jobs(tmp_path: Path) -> None:
    """Each page has a path of its own, but for those whose path is odd."""
    usual = [case for case in CASES if case.path == "/p" and case.links]
    own = [case._replace(path=f"/{number}/p") for number, case in enumerate(usual)]
    archive = tmp_path / "cases.warc"
    archive.write_bytes(b"".join(case.record(number) for number, case in enumerate(own)))
    lines = tmp_path / "links.txt"
    outputs = ("--output", lines, "--captures", tmp_path / "captures.txt")
    ok("step", "extract-links", archive, *outputs, "--links", "all", "--runner", "local", "--quiet")
    links = {uri: set[str]() for uri in (case.uri for case in own)}
    for line in lines.read_text().splitlines():
        target, source = line.split(" ")[:2]
        links[source].add(target)
    assert links == {case.uri: set(case.links.split()) for case in own}
