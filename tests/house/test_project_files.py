"""The files by which others carry the project on say what the code says: workflows, templates,
citation, recipe."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from release.conda_recipe import MISSING, NAMES, recipe
from support.crawls import crawlrank
from support.paths import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PYTHONS = [
    name.rpartition(" ")[2]
    for name in PROJECT["project"]["classifiers"]
    if re.search(r":: 3\.\d+$", name)
]
PYTHON_CHOICES = {f"PYTHON=python{version}" for version in PYTHONS}


def yaml_of(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def jobs_of(path: Path) -> Iterator[tuple[dict[str, list[str]], list[str]]]:
    """The matrix of each job of a workflow, and the commands of its steps."""
    for job in yaml_of(path)["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        yield matrix, [step["run"] for step in job["steps"] if "run" in step]


def commands(matrix: dict[str, list[str]], command: str) -> Iterator[str]:
    """The command for each value of the matrix."""
    lists = ([(name, value) for value in values] for name, values in matrix.items())
    for values in itertools.product(*lists):
        text = command
        for name, value in values:
            text = text.replace(f"${{{{ matrix.{name} }}}}", value)
        yield text


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_what_is_there(path: Path) -> None:
    lines = [
        line
        for matrix, steps in jobs_of(path)
        for step in steps
        for command in commands(matrix, step)
        for line in command.splitlines()
    ]
    for line in lines:
        words = shlex.split(line)
        if words[0] == "make":
            assert {word for word in words[1:] if "=" not in word} <= TARGETS, line
            assert {word for word in words[1:] if "=" in word} <= PYTHON_CHOICES, line
        if words[0].startswith("."):
            assert (ROOT / words[0]).exists(), line
    assert any(line.startswith(("make ", ".ci/")) for line in lines)


def test_the_readmes_commands_run_on_each_python_and_system() -> None:
    matrix, steps = next(jobs_of(ROOT / ".github" / "workflows" / "test.yml"))
    assert matrix["python"] == PYTHONS
    assert {"make pipeline", "make test"} <= set(steps)
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "macos"}


def test_wheels_are_made_for_each_python() -> None:
    jobs = jobs_of(ROOT / ".github" / "workflows" / "release.yml")
    made = [matrix["python"] for matrix, _ in jobs if "python" in matrix]
    assert made == [PYTHONS, PYTHONS]


def test_all_targets_have_a_machine() -> None:
    """`make test-all` and the weekly workflow leave out the same."""
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    wanted = set(re.search(r"^ALL *:= *(.*)$", text, re.MULTILINE)[1].split())  # type: ignore[index]
    weekly = {
        target
        for matrix, _ in jobs_of(ROOT / ".github" / "workflows" / "all.yml")
        for target in matrix["target"]
    }
    # of the others, one is the matrix of the first workflow, and one needs the large reference data
    assert wanted - weekly == {"test-pythons", "test-real"}


def test_what_an_issue_asks_for_is_there() -> None:
    text = (ROOT / ".github" / "ISSUE_TEMPLATE" / "fault.yml").read_text()
    named = re.findall(r"`crawlrank ([^`]+)`", text)
    assert {"--version", "status WORK --json -"} <= set(named)
    for words in named:
        options = [word for word in words.split() if not word.isupper() and word != "-"]
        assert crawlrank(*(word for word in options if word != "--json"), "--help").code == 0


def test_a_citation_has_the_version() -> None:
    told = yaml_of(ROOT / "CITATION.cff")
    project = PROJECT["project"]
    assert (told["version"], told["license"]) == (project["version"], project["license"])


def test_the_hook_runs_what_lint_runs() -> None:
    (repository,) = yaml_of(ROOT / ".pre-commit-config.yaml")["repos"]
    (hook,) = repository["hooks"]
    assert hook["entry"].split()[0] == "make"
    assert hook["entry"].split()[-1] == "lint"


def test_the_recipe_has_every_dependency() -> None:
    told = json.loads(recipe(PROJECT, "0" * 64))
    python, *run = told["requirements"]["run"]
    assert python == "python"
    wanted = PROJECT["project"]["dependencies"]
    assert len(run) == len(wanted)
    for requirement, entry in zip(wanted, run, strict=True):
        conditional = isinstance(entry, dict)
        assert conditional == ("python_version" in requirement)
        name, _, versions = (entry["then"] if conditional else entry).partition(" ")
        ours = {theirs: own for own, theirs in NAMES.items()}.get(name, name)
        assert requirement.partition(";")[0].strip() == f"{ours}{versions}"
    assert {name for name in MISSING if any(name in text for text in wanted)} == set(MISSING)


CALL = re.compile(r"(?:bin/|\(BIN\)\)?/|-m )pytest |\$\(PYTEST\)")


def unknown_options(config: pytest.Config, makefile: str) -> list[str]:
    """The options of calls of pytest that it does not know; at least ten calls are read."""
    text = re.sub(r"[;|'\"]", " ", makefile.replace("\\\n", " "))
    calls = [call for line in text.splitlines() for call in CALL.split(line)[1:]]
    assert len(calls) > 10
    words = [re.sub(r"\$(\([^()]*\)|\$\w+)", "1", call).split() for call in calls]
    parse = config._parser.parse_known_and_unknown_args
    return [word for each in words for word in parse(each)[1] if word.startswith("-")]


def test_pytest_knows_the_options_of_the_makefile(pytestconfig: pytest.Config) -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert not unknown_options(pytestconfig, makefile)
    changed = makefile.replace("$(PYTEST) -m linear", "$(PYTEST) --dist load -m linear")
    assert unknown_options(pytestconfig, changed) == ["--dist"]
