"""What a node takes: steps keep to the figures that they are refused by, and say them before."""

from __future__ import annotations

import sys
from pathlib import Path

import bench_node_memory as bench
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from measuring import watched
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.data.csr import OFFSETS, OUTDEGREES, SOURCES
from crawlrank.pipeline.data.memory import (
    LEAST,
    OWN,
    Memory,
    half_of_machine,
    parse_size,
    require_memory,
    require_memory_for_text,
)
from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine
from crawlrank.pipeline.ranking.validation.validate import VALIDATION_BYTES

MB = 10**6
ROUGH = 12  # bytes a node that pieces and the allocator make of a small difference


def test_the_figure_that_is_asked_for_is_enough() -> None:
    budget = LEAST - OWN
    with pytest.raises(BadInput) as refused:
        require_memory("validate-opic", 10_000_001, 92, budget, fixed=7, cure="--no-validate")
    said = str(refused.value)
    assert f"--memory is {LEAST // 10**6}MB, and 10,000,001 nodes need" in said
    assert "--no-validate" in said
    asked = parse_size(said.partition("Give --memory ")[2].split()[0])
    require_memory("validate-opic", 10_000_001, 92, Memory(asked).budget, fixed=7)
    with pytest.raises(BadInput):
        require_memory("validate-opic", 10_000_001, 92, Memory(asked - MB).budget, fixed=7)


def test_graphs_of_text_that_a_machine_cannot_hold_are_refused() -> None:
    room = half_of_machine().budget
    require_memory_for_text("validate-opic", room // 24 - 1000, 100, "--no-validate")
    with pytest.raises(BadInput) as refused:
        require_memory_for_text("validate-opic", room // 24, 100, "--no-validate")
    assert "expected at most" in str(refused.value)
    assert "Use --no-validate, or a machine with more memory." in str(refused.value)


def test_what_the_least_memory_holds_is_never_refused() -> None:
    require_memory("gen-graph", (LEAST - OWN) // 16, 16, 0)


def hollow(path: Path, kind: npt.DTypeLike, count: int) -> None:
    """A file of as many zeros, which takes no room."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"descr": np.dtype(kind).str, "fortran_order": False, "shape": (count,)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, head)
        file.truncate(file.tell() + count * np.dtype(kind).itemsize)


def files_of(work: Path) -> list[Path]:
    return sorted(path for path in work.rglob("*") if path.is_file())


STEPS = ("join-scores", "export-precedence", "page-rank", "validate-opic")


@pytest.mark.parametrize("step", STEPS)
def test_steps_are_refused_before_they_write(step: str, tmp_path: Path) -> None:
    work, nodes = tmp_path / "work", 6_000_000
    hollow(work / "graph" / OFFSETS, np.int64, nodes + 1)
    hollow(work / "graph" / SOURCES, np.uint32, 0)
    hollow(work / "graph" / OUTDEGREES, np.uint32, nodes)
    for name in ("scores", "tmp"):
        (work / name).mkdir()
    pq.write_table(pa.table({"id": np.zeros(nodes, np.int64)}), work / "scores/scores.parquet")
    engine = EmbeddedEngine(work, work / "tmp", Memory(LEAST), 1, lambda done, size: None)
    before = files_of(work)
    with pytest.raises(BadInput, match=rf"{step}: --memory is 500MB, and 6,000,000 nodes need"):
        bench.STEPS[step][0](engine)
    assert files_of(work) == before


@pytest.mark.slow
def test_validation_takes_no_more_than_it_is_refused_by(tmp_path: Path) -> None:
    """The difference of two processes' peaks by that of their nodes."""
    measured = bench.bytes_a_node("validate-opic", tmp_path, (130_000, 400_000))
    assert VALIDATION_BYTES / 3 < measured < VALIDATION_BYTES + ROUGH


@pytest.mark.slow
def test_a_run_keeps_within_its_memory(tmp_path: Path) -> None:
    """Import and all steps on 1.2 million pages in 500 MB: resident bytes of all processes, those
    of mapped files included; what two processes share counts once."""
    nodes, links = 1_200_000, 2
    rng = np.random.default_rng(1)
    with (tmp_path / "links.txt").open("w") as file:
        for begin in range(0, nodes, 1 << 16):
            size = min(1 << 16, nodes - begin)
            rows = (rng.random((size, links)) ** 3 * nodes).astype(int).tolist()
            for node, row in enumerate(rows, begin):
                file.writelines(f"http://a/{target} http://a/{node} L\n" for target in row)
    work, command = tmp_path / "work", [sys.executable, "-m", "crawlrank"]
    imported = [*command, "step", "import-text", "--links", str(tmp_path / "links.txt")]
    watched([*imported, "--work", str(work)])
    run = [*command, "run", "--nodes", "all", "--work", str(work), "--quiet"]
    measured = watched([*run, "--memory", "500MB", "--jobs", "2"])
    steps = manifest_of(work)["steps"]
    assert steps["gen-graph"]["rows"]["graph"] == nodes
    assert {"export-precedence", "validate-opic"} <= steps.keys()
    assert measured.peaks.pss_mb * 1e6 <= 500 * MB
