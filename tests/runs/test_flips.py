"""A flipped bit in a file of a work folder: whoever reads it says what is wrong, or does not mind.

None may end by a signal, with a traceback or as an error that was not foreseen.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import INLINE
from support.drawing import examples
from support.faults import flips
from support.faults.flips import drawn, harms
from support.paths import LOOPBACK
from support.runs import copy_of, finished

from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.csr import open_csr
from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.engines.embedded.ranks import rank
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Stop

SEVERAL = ("--captures", "latest", "--fold", "redirects", "--no-validate")


@pytest.fixture(scope="module")
def columns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the embedded engine, and the checkpoint of an interrupted one."""
    work = copy_of(finished(LOOPBACK, *SEVERAL), tmp_path_factory.mktemp("columns") / "work")
    (work / "rounds").mkdir()
    stop = Stop(tolerance=1e-13, max_rounds=5)
    with pytest.raises(NotConverged):
        rank(
            Ranking(METHODS["pagerank"], stop), open_csr(work / "graph"), work.with_name("ranks"),
            budget=1 << 30, checkpoint=work / "rounds" / "checkpoint.npz",
        )  # fmt: skip
    return work


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of the jobs, and the packed rounds of an interrupted one."""
    run = finished(LOOPBACK, *INLINE, "--iterations", 2, *SEVERAL)
    work = copy_of(run, tmp_path_factory.mktemp("lines") / "work")
    stop, launcher = Stop(tolerance=1e-14, max_rounds=2), Launcher("inline", work.parent)
    with pytest.raises(NotConverged):
        PackedRounds(work / "graph", work / "rounds", launcher, stop, partitions=2).run()
    return work


@pytest.mark.slow
def test_flips_in_columns(columns: Path) -> None:
    assert harms(columns, drawn(columns, 19, 1, flips.EMBEDDED), flips.EMBEDDED, most=1) == []


@pytest.mark.slow
def test_flips_in_lines(lines: Path) -> None:
    some = drawn(lines, 8, 1, ("map", "uris", "ranks", "scores", "captures"))
    some += drawn(lines, 4, 1, ["rounds"])
    assert harms(lines, some, flips.INLINE, most=1) == []


@pytest.mark.slow
def test_many_flips(columns: Path, lines: Path) -> None:
    some = drawn(columns, examples(80), 2, flips.EMBEDDED)
    assert harms(columns, some, flips.EMBEDDED, most=2) == []
    assert harms(lines, drawn(lines, examples(30), 2, flips.INLINE), flips.INLINE, most=2) == []


@pytest.mark.slow
def test_the_harm_that_a_flip_does_is_seen(columns: Path) -> None:
    """A reader that ends by a signal, and one that raises what nobody foresees."""
    (flip,) = drawn(columns, 1, 1, ["graph"])
    for reader, how in (("_killed", "exit code -11"), ("_failed", "ZeroDivisionError()")):
        found = harms(columns, [flip], {"graph": (getattr(flips, reader),)})
        assert [(harm.flip, harm.by, harm.how) for harm in found] == [(flip, reader, how)]
