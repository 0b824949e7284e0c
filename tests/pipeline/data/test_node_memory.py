"""What a node takes: steps keep to the figures that they are refused by, and say them before."""

from __future__ import annotations

import sys
from pathlib import Path

import bench_node_memory as bench
import numpy as np
import pytest
from measuring import watched
from support.work_folders import manifest_of

from jobs.kernel.errors import BadInput
from pipeline.data.memory import LEAST, OWN, Memory, parse_size, require_memory
from pipeline.engines.embedded import engine as module
from pipeline.engines.embedded.engine import EmbeddedEngine
from pipeline.ranking.validation import VALIDATION_BYTES

MIB = 1 << 20
ROUGH = 12  # bytes a node that pieces and the allocator make of a small difference


def test_the_figure_that_is_asked_for_is_enough() -> None:
    budget = LEAST - OWN
    with pytest.raises(BadInput) as refused:
        require_memory("validate-opic", 10_000_001, 92, budget, fixed=7, cure="--no-validate")
    said = str(refused.value)
    assert f"--memory is {LEAST >> 20}MB, and 10,000,001 nodes need" in said
    assert "--no-validate" in said
    asked = parse_size(said.partition("Give --memory ")[2].split()[0])
    require_memory("validate-opic", 10_000_001, 92, Memory(asked).budget, fixed=7)
    with pytest.raises(BadInput):
        require_memory("validate-opic", 10_000_001, 92, Memory(asked - MIB).budget, fixed=7)


def test_what_the_least_memory_holds_is_never_refused() -> None:
    require_memory("gen-graph", (LEAST - OWN) // 16, 16, 0)


def test_validation_is_refused_before_it_reads_an_edge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = bench.make_work(tmp_path / "work", 1000)
    monkeypatch.setattr(module, "VALIDATION_BYTES", MIB)
    monkeypatch.delattr(module, "transposed")
    engine = EmbeddedEngine(work, work / "tmp", Memory(LEAST), 1, lambda done, size: None)
    with pytest.raises(BadInput, match=r"validate-opic: --memory is 500MB, and 1,000 nodes need"):
        engine.validation_input()


@pytest.mark.parametrize("step", ["join-scores", "export-precedence", "page-rank"])
def test_steps_are_refused_before_they_write(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = bench.make_work(tmp_path / "work", 1000)
    engine = EmbeddedEngine(work, work / "tmp", Memory(LEAST), 1, lambda done, size: None)
    if step == "export-precedence":
        engine.join_scores(9)
    monkeypatch.setattr("pipeline.data.memory.LEAST", OWN)
    monkeypatch.setattr(engine, "memory", Memory(OWN + 1000))
    before = sorted(work.rglob("*.*"))
    with pytest.raises(BadInput, match=rf"{step}: --memory is 201MB, and 1,000 nodes need"):
        bench.STEPS[step][0](engine)
    assert sorted(work.rglob("*.*")) == before


def test_validation_takes_no_more_than_it_is_refused_by(tmp_path: Path) -> None:
    """The difference of two processes' peaks by that of their nodes."""
    measured = bench.bytes_a_node("validate-opic", tmp_path, (130_000, 400_000))
    assert VALIDATION_BYTES / 3 < measured < VALIDATION_BYTES + ROUGH


@pytest.mark.large
def test_a_run_keeps_within_its_memory(tmp_path: Path) -> None:
    """Import and all steps on 1.2 million pages in 500 MB: resident bytes of all processes, those
    of mapped files included; what two processes share counts once."""
    nodes, links = 1_200_000, 5
    rng = np.random.default_rng(1)
    with (tmp_path / "links.txt").open("w") as file:
        for begin in range(0, nodes, 1 << 16):
            size = min(1 << 16, nodes - begin)
            rows = (rng.random((size, links)) ** 3 * nodes).astype(int).tolist()
            for node, row in enumerate(rows, begin):
                file.writelines(f"http://a/{target} http://a/{node} L\n" for target in row)
    work, command = tmp_path / "work", [sys.executable, "-m", "pipeline"]
    imported = [*command, "import-text", "--links", str(tmp_path / "links.txt")]
    watched([*imported, "--work", str(work)])
    run = [*command, "run", "--nodes", "all", "--work", str(work), "--quiet"]
    measured = watched([*run, "--memory", "500MB", "--jobs", "2"])
    steps = manifest_of(work)["steps"]
    assert steps["gen-graph"]["rows"]["graph"] == nodes
    assert {"export-precedence", "validate-opic"} <= steps.keys()
    assert measured.peaks.pss_mb * 1e6 <= 500 * MIB
