"""No command needs a library that only an extra installs, unless its option asks for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.crawls import environment
from support.paths import LOOPBACK, ROOT

CODE = """
import json, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

lines, EXTRAS = json.loads(sys.argv[1]), set(json.loads(sys.argv[2]))
sys.meta_path.insert(0, Absent())
from crawlrank.pipeline.__main__ import main
for line in lines:
    sys.argv = ["crawlrank", *line]
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
"""
#: library that is installed by an extra -> the name that is imported, where it is another one
IMPORTED = {"hdfs-native": "hdfs_native"}


def extras() -> set[str]:
    """The libraries of the extras that users install, by the names that code imports."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]")[2].partition("\nbench = ")[0]
    lines = re.findall(r"^\w+ = \[(.*?)\]", section, re.MULTILINE)
    names = {name for line in lines for name in re.findall(r'"([\w-]+)', line)}
    return {IMPORTED.get(name, name) for name in names} | {"fsspec", "botocore"}


def test_the_extras_are_those_of_the_project() -> None:
    assert extras() == {
        *("pypdf", "hdfs_native", "fsspec", "pyspark", "boto3", "botocore", "scrapy", "matplotlib"),
    }


@pytest.mark.parametrize("runner", ["embedded", "inline"])
@pytest.mark.slow
def test_commands_work_without_them(runner: str, tmp_path: Path) -> None:
    work, page = tmp_path / "work", tmp_path / "page.html"
    run = ["run", str(LOOPBACK), "--work", str(work), "--quiet", "--jobs", "1", "--runner", runner]
    lines = [
        run,
        ["rank", str(work), "--method", "hits", "--iterations", "2", "--quiet"],
        ["export", str(work), "--format", "csv", "--output", str(tmp_path / "pages.csv")],
        ["explain", str(work), "http://127.0.0.1:18081/"],
    ]
    if runner == "embedded":  # one code for both, without mrjob
        lines += [
            ["inspect", str(LOOPBACK), "--quiet", "--jobs", "1"],
            *([name, str(work)] for name in ("status", "hosts", "diff")),
            ["report", str(work), "--output", str(page), "--quiet"],
            ["audit", str(work / "precedence.txt")],
        ]
    command = [sys.executable, "-c", CODE, json.dumps(lines), json.dumps(sorted(extras()))]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert page.exists() == (runner == "embedded")
