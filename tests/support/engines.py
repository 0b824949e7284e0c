"""Engines of runs by jobs that a test has a hand in, for `run(…, make_engine=…)` of the driver."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from crawlrank.pipeline.engines.contract import Engine
from crawlrank.pipeline.engines.text.engine import TextEngine
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.run import MakeEngine, engine_of


def launching(**changes: Any) -> MakeEngine:
    """The engine of a run whose launcher has other values: `launching(partitions=3)`."""

    def make(
        work: Path, options: RunOptions, tmp: Path, reporter: Reporter, stack: ExitStack
    ) -> Engine:
        engine = engine_of(work, options, tmp, reporter, stack)
        assert isinstance(engine, TextEngine)
        return TextEngine(work, replace(engine.launcher, **changes))

    return make
