"""What commands import, and load of machine code, where they first use it: a small run makes the
server do it once."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

from crawlrank.pipeline.cli import main
from support.crawls import INLINE, WEB, write_warc

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    archive = write_warc(folder / "web.warc", WEB)
    run = "run", archive, "--jobs", 1, "--work"
    work = "--work", folder / "embedded"
    for words in (
        (*run, folder / "embedded"),
        (*run, folder / "inline", *INLINE, "--iterations", 2),
        ("report", *work, "--output", folder / "report.html"),
        ("explain", *work, "http://a.example/"),
        ("export-precedence", *work, "--format", "csv", "--output", folder / "pages.csv"),
        ("inspect", archive, "--jobs", 1),
    ):
        said = io.StringIO()
        with (
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(said),
            contextlib.suppress(SystemExit),
        ):
            main(list(map(str, words)), prog_name="crawlrank")
