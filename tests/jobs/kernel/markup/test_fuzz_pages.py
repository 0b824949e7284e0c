"""The fuzz run of pages (`make fuzz`) notices what is wrong."""

from __future__ import annotations

import runpy

import pytest
from support.inputs.mutated_pages import mutated_page
from support.paths import REFERENCE, SCRIPTS


@pytest.mark.slow
def test_pages_that_differ_are_finds() -> None:
    script = runpy.run_path(str(SCRIPTS / "fuzz_pages.py"))
    answers = iter([("links", "links"), ("links", None), ("links", "others")])
    script["compared"].__globals__["both_ways"] = lambda page, options: next(answers)
    left, finds = script["compared"](3, range(3))
    assert (left, [number for number, *_ in finds]) == (1, [2])
    _, page, what = finds[0]
    assert page == mutated_page(3, 2, reference=REFERENCE.is_dir()).body
    assert "scanned: others" in what
