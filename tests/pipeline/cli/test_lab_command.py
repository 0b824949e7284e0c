"""`crawlrank lab aopic` as users run it: what it prints and writes, its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import crawlrank, ok

SMALL = ("lab", "aopic", "--nodes", 100, "--figures", "2,5", "--partitions", 2, "--seed", 7)


@pytest.mark.slow
def test_equal_seeds_give_equal_tables(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    tables = []
    for name, more in (("one", ("--jobs", 2)), ("same", ()), ("other", ("--seed", 8))):
        said = ok(*SMALL, "--jobs", 1, *more, "--output", tmp_path / name)
        assert (said.code, said.err) == (0, ""), said
        assert sorted(said.out.split()) == sorted(map(str, (tmp_path / name).iterdir()))
        tables.append({path.name: path.read_bytes() for path in (tmp_path / name).glob("*.csv")})
    one, same, other = tables
    names = {
        *("policies.csv", "windows.csv", "measures.csv", "reasons.csv", "partitions.csv"),
        "definitions.csv",
    }
    assert one.keys() == names
    assert one == same
    assert all(one[name] != other[name] for name in names)


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("--figures", "1"), 2, "2,3,4,5,6"),
        (("--nodes", 99), 2, "--nodes"),
        (("--partitions", 129), 2, "--partitions"),
        (("--exponent", 1), 2, "--exponent"),
        (("--work", "none"), 3, "none"),
    ],
)
def test_what_is_refused(
    arguments: tuple[object, ...],
    code: int,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    monkeypatch.chdir(tmp_path)
    said = crawlrank("lab", "aopic", "--output", "out", *arguments)
    assert (said.code, reason in said.err) == (code, True), said
    assert not (tmp_path / "out").exists()
