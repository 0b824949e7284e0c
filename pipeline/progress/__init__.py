"""The progress of a run, for people and programs."""

from __future__ import annotations

import os
import sys

from crawlrank.pipeline.progress.plain_lines import Plain
from crawlrank.pipeline.progress.reporter import Reporter as Reporter


def reporter(quiet: bool, *, verbose: bool = False) -> Reporter:
    """Nothing if quiet, live on a terminal, or plain lines. FORCE_COLOR makes no terminal of a
    pipe, and a terminal that is `dumb` cannot move its cursor."""
    if quiet:
        return Reporter()
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from rich.console import Console

        from crawlrank.pipeline.progress.bars import Bars

        return Bars(Console(file=sys.stderr), verbose=verbose)
    return Plain(verbose=verbose)
