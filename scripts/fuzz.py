"""Extraction of mutated archives: no crash, no hang, no memory beyond the bound, nothing raised.

    scripts/fuzz.py --count 15000 --out work/fuzz

Archives are those of tests/support/inputs/mutations.py, by seed and number. Each is read in a
worker process under a limit of address space. A worker that dies, or that takes longer than the
limit, is a find: its number is reported, and another worker continues after it. Finds go to --out,
each as the archive itself and what was said of it. `--only NUMBER` reads one archive again in this
process.
Exit code 1 if there is a find.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.inputs.mutations import Mutation, checked, mutation  # noqa: E402

SECONDS = 3.0  # of processor time for one archive, which is at most some 100 KB large
HANGS = 60.0  # seconds without a word from a worker
GROWTH = 200  # MB by which one archive may raise a worker's largest memory
ADDRESSES = 3 * 2**30  # of a worker, with all libraries mapped
SLOWEST = 5


def one(made: Mutation) -> dict[str, Any]:
    """What reading it took (CPU seconds, MB of growth of the peak) and what was wrong."""
    before, began = _peak(), time.process_time()
    problem = ""
    counters: Counter[str] = Counter()
    try:
        counters = checked(made)
    except Exception:  # noqa: BLE001 (any exception is a find)
        problem = traceback.format_exc()
    seconds, growth = time.process_time() - began, (_peak() - before) * 1024 / 1e6
    if not problem and seconds > SECONDS:
        problem = f"took {seconds:.1f} s"
    if not problem and growth > GROWTH:
        problem = f"took {growth:.0f} MB"
    told = {name: counters[name] for name in ("records", "captures", "links", "damage")}
    return {"seconds": seconds, "mb": growth, "problem": problem, "counters": told}


def _peak() -> int:
    """Largest resident memory of this process so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def work(seed: int, numbers: range) -> None:
    """A worker: a line with the number before, and one with the result after each archive."""
    faulthandler.enable()
    one(mutation(seed, numbers[0], reference=True))  # what is loaded once is no archive's doing
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    for number in numbers:
        print(number, flush=True)
        print(json.dumps(one(mutation(seed, number, reference=True))), flush=True)


class Team:
    """Workers for all numbers, their results, and the finds. hangs: seconds without a word from a
    worker that does."""

    def __init__(self, seed: int, out: Path, program: str = __file__, hangs: float = HANGS) -> None:
        self._seed, self._out, self._program, self._hangs = seed, out, program, hangs
        self._lock = threading.Lock()
        self.done = 0
        self.counters: Counter[str] = Counter()
        self.finds: list[int] = []
        self.slowest: list[tuple[float, int]] = []
        self.largest: list[tuple[float, int]] = []

    def run(self, numbers: range) -> None:
        """All the numbers, with as many workers as it takes, one after the other."""
        while numbers:
            last = self._one_worker(numbers)
            numbers = numbers[numbers.index(last) + 1 :] if last is not None else numbers[:0]

    def _one_worker(self, numbers: range) -> int | None:
        """Run until the worker is done (None) or ended by the archive of the number returned."""
        span = [str(part) for part in (numbers.start, numbers.stop, numbers.step)]
        command = [sys.executable, self._program, "--seed", str(self._seed), "--worker", *span]
        number = numbers[0]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        ) as worker:  # unbuffered, as select does not see what a buffer holds
            assert worker.stdout
            assert worker.stderr
            while select.select([worker.stdout], [], [], self._hangs)[0]:
                line = worker.stdout.readline()
                if not line:
                    break
                if line.startswith(b"{"):
                    self._note(number, json.loads(line))
                else:
                    number = int(line)
            else:
                worker.kill()
                self._find(number, f"took longer than {self._hangs:.0f} s")
                return number
            if worker.wait():
                said = worker.stderr.read().decode("utf-8", "replace")
                self._find(number, f"{said}ended the process ({worker.returncode})")
                return number
        return None

    def _note(self, number: int, told: dict[str, Any]) -> None:
        with self._lock:
            self.done += 1
            self.counters.update(told["counters"])
            self.slowest = sorted([*self.slowest, (told["seconds"], number)])[-SLOWEST:]
            self.largest = sorted([*self.largest, (told["mb"], number)])[-SLOWEST:]
        if told["problem"]:
            self._find(number, told["problem"])

    def _find(self, number: int, problem: str) -> None:
        made = mutation(self._seed, number, reference=True)
        with self._lock:
            self.finds.append(number)
            self._out.mkdir(parents=True, exist_ok=True)
            name = f"{self._seed}-{number}"
            (self._out / f"{name}.archive").write_bytes(made.data)
            said = f"{made.origin}\n{made.options}\n{problem}\n"
            (self._out / f"{name}.txt").write_text(said)
            print(f"seed {self._seed}, number {number}: {problem.splitlines()[-1]}", flush=True)


def report(team: Team, seed: int, wall: float) -> None:
    print(f"{team.done:,} archives of seed {seed} in {wall:.0f} s; {len(team.finds)} finds")
    print(", ".join(f"{count:,} {name}" for name, count in team.counters.items()))
    for title, rows, unit in (("slowest", team.slowest, "s"), ("largest", team.largest, "MB")):
        print(f"{title}: " + ", ".join(f"{v:.2f} {unit} (number {n})" for v, n in reversed(rows)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=15_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=ROOT / "work" / "fuzz")
    parser.add_argument("--only", type=int, help="read this archive alone")
    parser.add_argument("--worker", type=int, nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.seed, range(*given.worker))
        return 0
    if given.only is not None:
        made = mutation(given.seed, given.only, reference=True)
        told = one(made)
        print(made.origin, made.options, f"{len(made.data):,} bytes", told, sep="\n")
        return 1 if told["problem"] else 0
    began = time.monotonic()
    team = Team(given.seed, given.out)
    threads = [
        threading.Thread(target=team.run, args=[range(first, given.count, given.jobs)])
        for first in range(given.jobs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report(team, given.seed, time.monotonic() - began)
    return 1 if team.finds else 0


if __name__ == "__main__":
    sys.exit(main())
