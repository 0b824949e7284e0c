"""The table of ways to install: a way that is tried anew changes its own row."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from support.paths import ROOT


@pytest.fixture
def installs(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "scripts/install")
    return importlib.import_module("try_install")


def test_rows_of_other_ways_stay(installs: Any) -> None:
    page = (ROOT / "docs/install.md").read_text()
    assert installs.with_rows(page, {}) == page
    row = installs.row("wheel", installs.Outcome(1.4, 600, 2.25, 0.5, b""))
    changed = installs.with_rows(page, {"wheel": row}).splitlines()
    differing = [new for old, new in zip(page.splitlines(), changed, strict=True) if old != new]
    assert differing == [f"{'pip install FILE.whl':57}      1     600          2.2         0.5"]


def test_a_way_without_a_row_gets_one_in_its_place(installs: Any) -> None:
    names = [name for name, _ in installs.WAYS.values()]
    rows = {way: f"{name:57} row" for way, (name, _) in installs.WAYS.items()}
    page = "<!-- installs -->\n```text\n```\n\n<!-- end of installs -->"
    for way in reversed(rows):
        page = installs.with_rows(page, {way: rows[way]})
    lines = page.splitlines()
    assert [line[:57].rstrip() for line in lines[3:-3]] == names
    assert lines[2] == installs.HEADER
