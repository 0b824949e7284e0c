"""`crawlrank run` on a made crawl, which prints the name of each step that it begins.

    python scripts/bench/later_steps.py FOLDER WORK --memory SIZE --jobs N

FOLDER is that of made_crawl.py. WORK becomes a copy of its work folder, in which the steps run.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawlrank.pipeline.data.memory import Memory, parse_size
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.run.run import run


class Steps(Reporter):
    """Prints the names of steps that are done in this run."""

    def step(self, name: str, skipped: bool = False) -> None:
        if not skipped:
            print(name, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--memory", required=True)
    parser.add_argument("--jobs", type=int, required=True)
    options = parser.parse_args()
    shutil.copytree(options.folder / "work", options.work)
    memory = Memory(parse_size(options.memory))
    archives = sorted((options.folder / "archives").iterdir())
    run(options.work, archives, RunOptions(processes=options.jobs, memory=memory), Steps())


if __name__ == "__main__":
    main()
