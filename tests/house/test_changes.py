"""A change opens few files: each of those below is made in a copy of the code, and works there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.paths import LOOPBACK, ROOT


class Change(NamedTuple):
    """new: files that are made. edits: file -> pairs of a text that is there once, and what takes
    its place. most: files that may be new or edited. check: what shall work, by the command."""

    new: dict[str, str]
    edits: dict[str, list[tuple[str, str]]]
    most: int
    check: Callable[[Callable[..., str], Path], None]


def after(text: str, added: str) -> tuple[str, str]:
    return text, text + added


RANKING = "pipeline/ranking/"
INPUTS = "INPUTS: tuple[RankingInput[Any], ...] = (\n"
POWER = """
POWER: RankingInput[float] = RankingInput("--power", "power", "the power.", NumberRange(0, 4), 1.0)
"""


def ranking_by_a_power(run: Callable[..., str], folder: Path) -> None:
    orders = []
    for power in (1, 0):
        work = folder / f"work{power}"
        run("run", LOOPBACK, "--work", work, "--method", "power", "--power", power, "--quiet")
        assert json.loads((work / "manifest.json").read_text())["parameters"]["--method"] == "power"
        orders.append(run("export", work, "--format", "seeds", "--output", "-"))
    assert orders[0] != orders[1]  # all indegrees to the power 0 are equal
    assert "--power" in run("run", "--help")


def upside_down_archive(run: Callable[..., str], folder: Path) -> None:
    import gzip

    archive = folder / "a.cawr"
    archive.write_bytes(b"CRAW" + gzip.decompress(LOOPBACK.read_bytes())[::-1])
    run("run", folder, "--work", folder / "work", "--quiet")
    run("run", LOOPBACK, "--work", folder / "other", "--quiet")
    one, other = ((folder / name / "precedence.txt").read_bytes() for name in ("work", "other"))
    assert one == other


def format_of_positions(run: Callable[..., str], folder: Path) -> None:
    run("run", LOOPBACK, "--work", folder / "work", "--quiet")
    lines = run("export", folder / "work", "--format", "numbered", "--output", "-").splitlines()
    assert [int(line.split()[0]) for line in lines] == [*range(1, len(lines) + 1)]


def option_that_is_recorded(run: Callable[..., str], folder: Path) -> None:
    run("run", LOOPBACK, "--work", folder / "work", "--purpose", "test", "--quiet")
    manifest = json.loads((folder / "work" / "manifest.json").read_text())
    assert manifest["parameters"]["--purpose"] == "test"
    assert "--purpose" in run("run", "--help").partition("Pages:")[0]


CHANGES = {
    "a ranking with an input of its own": Change(
        {
            RANKING + "power.py": (ROOT / RANKING / "degree.py")
            .read_text()
            .replace(".astype(np.float64))", ".astype(np.float64) ** POWER.of(problem.inputs))")
            .replace(
                "from crawlrank.pipeline.ranking.solution",
                "from crawlrank.pipeline.ranking.inputs import POWER\n"
                "from crawlrank.pipeline.ranking.solution",
            ),
        },
        {
            RANKING + "inputs.py": [
                (INPUTS, f"{POWER}\n{INPUTS}    POWER,\n"),
            ],
            RANKING + "methods.py": [
                after("    PERTURB,\n", "    POWER,\n"),
                after(
                    "for method in (\n",
                    '    Method("power", "a power", "crawlrank.pipeline.ranking.power",'
                    " inputs=(POWER,), of_links=False),\n",
                ),
            ],
        },
        4,
        ranking_by_a_power,
    ),
    "an archive format": Change(
        {},
        {
            "jobs/kernel/archive/sources.py": [
                after(
                    "    from crawlrank.jobs.kernel.archive.wacz import Wacz\n\n"
                    "    return Wacz(file, name, partial(reader, name=name)).archives()\n",
                    "\n\ndef _read_upside_down(file: BinaryIO, name: str, reader: RecordReader)"
                    " -> Iterator[ArchiveRecords]:\n"
                    "    import io\n\n"
                    "    yield from _read_warc(io.BytesIO(file.read()[4:][::-1]), name, reader)\n",
                ),
                after(
                    "FORMATS = (\n",
                    '    ArchiveFormat("an upside-down WARC", (b"CRAW",), _read_upside_down,'
                    ' (".cawr",)),\n',
                ),
            ],
        },
        3,
        upside_down_archive,
    ),
    "an output format": Change(
        {},
        {
            "pipeline/precedence/score_formats.py": [
                after(
                    "\n\nFORMATS: dict[str,"
                    " Callable[[PageBatches, LeftOut, int], Iterator[bytes]]] = {\n",
                    '    "numbered": lambda *pages: (\n'
                    '        b"%d %s" % (number, line)\n'
                    "        for number, line in"
                    " enumerate(b''.join(_seeds(*pages)).splitlines(True), 1)\n"
                    "    ),\n",
                ),
            ],
        },
        2,
        format_of_positions,
    ),
    "an option of run": Change(
        {},
        {
            "pipeline/options.py": [
                after("    strict: bool = False\n", '    purpose: str = ""\n'),
                after(
                    '            "--nodes": self.nodes,\n',
                    '            **({"--purpose": self.purpose} if self.purpose else {}),\n',
                ),
            ],
            "pipeline/cli/run.py": [
                after(
                    "@skip_bad_files_option\n",
                    '@option("--purpose", default=RunOptions.purpose, help="What it is for.")\n',
                ),
            ],
            "pipeline/cli/parameters/groups.py": [after('    "Input": """', "--purpose ")],
        },
        3,
        option_that_is_recorded,
    ),
}


def copied(place: Path) -> None:
    """The code of the checkout, with its links."""
    shutil.copytree(ROOT / "crawlrank", place / "crawlrank", symlinks=True)
    for name in ("jobs", "pipeline"):
        ignored = shutil.ignore_patterns("*.pyc")
        shutil.copytree(ROOT / name, place / name, ignore=ignored)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_works(name: str, tmp_path: Path) -> None:
    change, place, folder = CHANGES[name], tmp_path / "code", tmp_path / "files"
    assert len(change.new) + len(change.edits) <= change.most
    copied(place)
    folder.mkdir()
    for path, text in change.new.items():
        (place / path).write_text(text)
    for path, edits in change.edits.items():
        text = (place / path).read_text()
        for before, instead in edits:
            assert text.count(before) == 1, (path, before)
            text = text.replace(before, instead)
        (place / path).write_text(text)

    def run(*words: object) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "crawlrank", *map(str, words)],
            env={**os.environ, "PYTHONPATH": str(place)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    change.check(run, folder)
