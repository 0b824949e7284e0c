"""Lines by their beginnings, against a plain reading of all lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.workfolder.results.lines import first_lines, lines_with

LINE = st.text("ab ", max_size=4).map(str.encode)
BEGINNINGS = st.lists(st.text("ab ", min_size=1, max_size=3).map(str.encode), max_size=4)


@pytest.mark.slow
@given(st.lists(LINE, max_size=12), BEGINNINGS, st.booleans(), st.integers(1, 9))
def test_lines(
    tmp_path: Path, lines: list[bytes], beginnings: list[bytes], ended: bool, near: int
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"\n".join(lines) + (b"\n" if ended else b""))
    wanted = [[line for line in lines if line.startswith(begin)] for begin in beginnings]
    assert list(lines_with(path, beginnings)) == [line for some in wanted for line in some]
    for line, some in zip(first_lines(path, beginnings, near), wanted, strict=True):
        assert line in some if some else line is None
