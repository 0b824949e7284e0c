"""Some mutated archives (`make fuzz` reads thousands); the fuzz run notices what is wrong."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from support.drawing import examples
from support.inputs.mutations import checked, mutation
from support.paths import SCRIPTS

FUZZ = SCRIPTS / "fuzz.py"
# A worker that is well, dies and hangs by turns, whatever is in the archives.
PROGRAM = """
import os, signal, sys
for number in range(*map(int, sys.argv[4:])):
    print(number, flush=True)
    if number == 3:
        os.abort()
    if number == 5:
        signal.pause()
    problem = "odd" if number == 1 else ""
    told = '{"seconds": 0, "mb": 0, "problem": "%s", "counters": {"links": 1}}'
    print(told % problem, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.few(2)
def test_mutated_archives_do_no_harm(seed: int) -> None:
    numbers = range(examples(150))
    read = sum(checked(mutation(seed, number))["captures"] > 0 for number in numbers)
    assert read > len(numbers) / 3  # most leave something to read, else they would test little


def test_a_mutation_is_known_by_its_number() -> None:
    assert mutation(7, 1) == mutation(7, 1)
    assert mutation(7, 1) != mutation(7, 2)
    assert mutation(7, 1) != mutation(8, 1)


@pytest.mark.slow
def test_workers_that_die_or_hang_are_finds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "worker.py"
    program.write_text(PROGRAM)
    script = runpy.run_path(str(FUZZ))
    team = script["Team"](7, tmp_path / "out", str(program), hangs=1.0)
    team.run(range(8))
    assert (team.finds, team.done, team.counters["links"]) == ([1, 3, 5], 6, 6)
    said = {path.stem: path.read_text() for path in (tmp_path / "out").glob("*.txt")}
    assert sorted(said) == ["7-1", "7-3", "7-5"]
    assert "odd" in said["7-1"]
    assert "ended the process (-6)" in said["7-3"]
    assert "longer" in said["7-5"]
    made = mutation(7, 3, reference=True).data
    assert (tmp_path / "out" / "7-3.archive").read_bytes() == made
    assert "seed 7, number 5: took longer" in capsys.readouterr().out
