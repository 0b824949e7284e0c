"""What the first minutes in a new clone take:
`python scripts/install/bench_first_minute.py [--commit COMMIT] [--development]`.

Clones this checkout to a temporary folder and makes there, with empty caches: the environment of a
run, the sample crawl for the first time and three times more, and with --development what tests
need. Prints the wall and CPU seconds of each, and the MB of .venv; of the later crawls the least.
Commits without an environment of a run make the whole one. Needs the package index.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def made(clone: Path, *words: str) -> tuple[float, float]:
    """(wall, CPU) seconds of `make` with these words. Ends the program if it fails."""
    env = {**os.environ, "XDG_CACHE_HOME": str(clone.parent / "cache")}
    env.pop("PYTHONPATH", None)
    before, began = os.times(), time.monotonic()
    command = ["make", f"PYTHON={sys.executable}", *words]
    done = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True)
    after = os.times()
    if done.returncode:
        sys.exit(f"make {' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.monotonic() - began, sum(after[2:4]) - sum(before[2:4])


def megabytes(folder: Path) -> float:
    return sum(each.lstat().st_size for each in folder.rglob("*") if each.is_file()) / 1e6


def show(name: str, seconds: tuple[float, float], clone: Path) -> None:
    wall, cpu = seconds
    print(f"{name:22}{wall:8.1f} s{cpu:8.1f} CPU s{megabytes(clone / '.venv'):8.0f} MB", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--development", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        for line in (["clone", "-q", ROOT, clone], ["-C", clone, "checkout", "-q", options.commit]):
            subprocess.run(["git", *line], check=True)
        apart = "$(VENV)/.run:" in (clone / "Makefile").read_text()
        show("environment of a run", made(clone, ".venv/.run" if apart else "setup"), clone)
        show("first sample crawl", made(clone, "pipeline"), clone)
        again = [made(clone, "pipeline", f"WORK=work/{number}") for number in range(3)]
        show("later sample crawl", min(again, key=lambda seconds: seconds[1]), clone)
        if options.development:
            show("what tests need", made(clone, "setup"), clone)


if __name__ == "__main__":
    main()
