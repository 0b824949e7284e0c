"""The sample archives: what they gave is what they give."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support.crawls import COMMAND, INLINE, ok, process
from support.paths import DAMAGED, SAMPLES
from support.runs import finished
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.keys.keys import key_of

EXPECTED = SAMPLES / "expected"
ARC, WARC = SAMPLES / "aut-example.arc.gz", SAMPLES / "aut-example.warc.gz"


def test_the_sample_run_gives_the_expected_bytes(tmp_path: Path) -> None:
    """The bytes of other runners are the same, see test_runners_agree.py."""
    work = finished([ARC, WARC], "--iterations", 10)
    ok("export", "--format", "text", "--work", work, "--out", tmp_path / "text")
    found = {path.name for path in (tmp_path / "text").iterdir()}
    assert found == {path.name.removesuffix(".gz") for path in EXPECTED.iterdir()}
    for name in sorted(found):
        wanted = gzip.decompress((EXPECTED / f"{name}.gz").read_bytes())
        assert (tmp_path / "text" / name).read_bytes() == wanted, name


def test_a_run_without_compiled_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a developer runs it who looks into a loop. What others see is the same."""
    compiled = finished(ARC) / "precedence.txt"
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    said = process("run", ARC, "--work", tmp_path / "work", "--quiet", command=COMMAND)
    assert (said.code, said.err) == (0, "")
    assert (tmp_path / "work" / "precedence.txt").read_bytes() == compiled.read_bytes()


def edges(archive: Path, tmp: Path) -> set[tuple[bytes | None, ...]]:
    outputs = ("--output", tmp / "links.txt", "--captures", tmp / "captures.txt")
    ok("step", "extract-links", archive, *outputs, "--outlinks", "html", *INLINE)
    rows = (line.split(b" ") for line in (tmp / "links.txt").read_bytes().splitlines())
    return {(key_of(target), key_of(source), hop) for target, source, hop in rows}


@pytest.mark.slow
def test_arc_and_warc_of_one_crawl_have_the_same_links(tmp_path: Path) -> None:
    found = edges(ARC, tmp_path)
    assert len(found) > 10_000
    assert edges(WARC, tmp_path) == found


def test_damage_is_counted_and_nothing_lost_silently() -> None:
    archives = sorted(DAMAGED.iterdir())
    work = finished(archives, "--nodes", "all", "--min-agreement", 0, *INLINE)
    told = manifest_of(work)["archives"].values()
    assert len(told) == len(archives)
    for entry in told:
        counters = entry["counters"]
        assert entry["error"] is None
        assert counters["captures"] > 0
        assert counters.get("damage", 0) == len(entry["damage"])
        assert counters.get("damage", 0) == sum(
            count for name, count in counters.items() if name.startswith("damage.")
        )
    assert sum(bool(entry["damage"]) for entry in told) == 2
