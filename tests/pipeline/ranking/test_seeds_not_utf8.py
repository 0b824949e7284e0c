"""A byte that is not UTF-8 in a file of seeds costs its line at most, and the command says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK
from support.runs import copy_of, finished

SEED = "http://127.0.0.3:18083/p1.html"


@pytest.mark.parametrize("option", ["--from-seeds-file", "--seeds"])
def test_a_damaged_seed_is_left_out_counted_and_named(option: str, tmp_path: Path) -> None:
    work = copy_of(finished(LOOPBACK), tmp_path / "work")
    seeds = tmp_path / "seeds.txt"
    seeds.write_bytes(f"# M\xedsto\n{SEED} # \xe9\nhttp://\xe9.example/\n".encode("latin-1"))
    ranked = ("rank", "--work", work, "--method", "trustrank", "--name", "t")
    said = ok(*ranked, option, seeds)
    assert f"1 seed is not UTF-8 and left out, such as {seeds}, line 3" in said.err
    listed = ok("status", "--work", work / "rankings" / "t").out
    assert "not-utf8-seeds" in listed
    seeds.write_bytes(b"http://\xe9.example/\n")
    refused = crawlrank(*ranked, option, seeds)
    assert refused.code == 3
    assert "no " in refused.err
