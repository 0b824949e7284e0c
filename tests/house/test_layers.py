"""Imports go downward only, by folder, also where a function imports or another module is between;
and modules of arrays load no framework."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
from support.paths import ROOT

PACKAGE = "crawlrank."  # left out of the names of modules below
#: from the lowest; a name stands for a module, or for a folder with all below it
JOBS = (
    *("jobs.kernel.errors", "jobs.kernel.machine", "jobs.kernel.storage"),
    *("jobs.kernel.encodings", "jobs.kernel.keys"),
    *("jobs.kernel.formats", "jobs.kernel.markup", "jobs.kernel.archive", "jobs.kernel.links"),
    *("jobs.kernel.captures", "jobs.kernel.rank", "jobs.mapreduce.runners", "jobs.mapreduce"),
)
PIPELINE = (
    *("pipeline.terminal", "pipeline.version", "pipeline.pages"),
    *("pipeline.steps", "pipeline.data", "pipeline.ranking", "pipeline.online"),
    *(
        "pipeline.workfolder",
        "pipeline.progress",
        "pipeline.precedence",
        "pipeline.options",
        "pipeline.engines",
        "pipeline.analysis",
    ),
    *("pipeline.heritrix", "pipeline.planning", "pipeline.package"),
)
TOP = (
    *("pipeline.run", "pipeline.estimate", "pipeline.lab", "pipeline.cli", "pipeline.library"),
    "pipeline.__main__",
)
APART = ("pipeline.engines.text", "pipeline.engines.embedded")
ARRAYS = ("jobs.kernel.rank", "pipeline.ranking", "pipeline.online.freshness")
FRAMEWORKS = ("mrjob", "click", "pyarrow", "duckdb")

Imports = Mapping[str, set[str]]


def sources(root: Path) -> dict[str, str]:
    """The files of the code, by their paths in the checkout."""
    paths = (path for name in ("jobs", "pipeline") for path in (root / name).rglob("*.py"))
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in paths
        if "files" not in path.parts  # what a package takes along is no module
    }


SOURCES = sources(ROOT)


def name_of(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@cache
def imported(source: str) -> frozenset[tuple[str, str]]:
    """What a file imports, anywhere in it, also for types alone: modules, and names from them,
    which may be modules."""
    tree = ast.parse(source)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(alias.name.removeprefix(PACKAGE), "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"a relative import: {ast.unparse(node)}"
            found |= {(node.module.removeprefix(PACKAGE), alias.name) for alias in node.names}
    return frozenset(found)


def imports_of(source: str, known: Mapping[str, str]) -> set[str]:
    """The modules among those known that a file imports."""
    names = {
        f"{module}.{name}" if f"{module}.{name}" in known else module
        for module, name in imported(source)
    }
    return names & known.keys()


def within(module: str, *names: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in names)


def layer(module: str) -> int:
    """Raises ValueError for a module that is of no layer."""
    layers = (*JOBS, "jobs", *PIPELINE, "pipeline", *TOP)
    for number, name in enumerate(layers):
        if within(module, name) and name not in ("jobs", "pipeline"):
            return number
    top, *below = module.split(".")
    if top in ("jobs", "pipeline") and len(below) <= 1:  # a job file, or a module of the driver
        return layers.index(top)
    raise ValueError(module)


def reached(module: str, imports: Imports) -> set[str]:
    """What it imports, itself or through others."""
    seen: set[str] = set()
    todo = [module]
    while todo:
        further = imports[todo.pop()] - seen
        seen |= further
        todo += further
    return seen


def apart(module: str, other: str) -> bool:
    """Whether they are of two engines."""
    return any(within(module, one) and within(other, two) for one, two in (APART, APART[::-1]))


def faults(sources: Mapping[str, str]) -> Iterator[str]:
    known = {name_of(path): source for path, source in sources.items()}
    imports = {module: imports_of(source, known) for module, source in known.items()}
    packages = {name_of(path) for path in sources if path.endswith("/__init__.py")}
    for module in sorted(known.keys() - packages):
        try:
            own = layer(module)
        except ValueError:
            yield f"{module} is of no layer"
            continue
        for other in sorted(reached(module, imports) - packages):
            if other == module:
                yield f"{module} imports itself through others"
            elif layer(other) > own or apart(module, other):
                yield f"{module} reaches {other}"


LOAD = f"""
import importlib, os, pkgutil, sys
for folder in sys.argv[1:]:
    if not os.fork():
        package = importlib.import_module(folder)
        for module in pkgutil.walk_packages(package.__path__, folder + "."):
            importlib.import_module(module.name)
        print(folder, *{{*{FRAMEWORKS!r}}} & sys.modules.keys(), flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, folder
"""


def loaded_by(root: Path, *folders: str) -> dict[str, set[str]]:
    """The frameworks that are loaded with all modules of each folder."""
    command = [sys.executable, "-c", LOAD, *folders]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return {folder: {*names} for folder, *names in map(str.split, run.stdout.splitlines())}


def test_imports_go_downward() -> None:
    assert len(SOURCES) > 300
    assert list(faults(SOURCES)) == []


@pytest.mark.slow
def test_modules_of_arrays_load_no_framework() -> None:
    folders = [PACKAGE + folder for folder in ARRAYS]
    assert loaded_by(ROOT, *folders) == {folder: set() for folder in folders}


def with_late_imports(lines: Mapping[str, str]) -> dict[str, str]:
    """The code, with a line in a function of some files."""
    late = {path: f"{SOURCES[path]}\n\ndef late() -> None:\n    {line}\n"
            for path, line in lines.items()}  # fmt: skip
    return {**SOURCES, **late}


@pytest.mark.slow
def test_an_import_upward_through_a_third_module_is_seen() -> None:
    said = list(
        faults(with_late_imports({"pipeline/data/arrays.py": "import crawlrank.pipeline.run.run"}))
    )
    assert "pipeline.data.arrays reaches pipeline.run.run" in said
    assert "pipeline.ranking.opic reaches pipeline.run.run" in said


def test_an_import_of_the_other_engine_through_a_third_module_is_seen() -> None:
    changed = with_late_imports(
        {"pipeline/engines/embedded/ids.py": "import crawlrank.pipeline.engines.shared"}
    )
    changed["pipeline/engines/shared.py"] = "import crawlrank.pipeline.engines.text.steps\n"
    assert "pipeline.engines.embedded.ids reaches pipeline.engines.text.steps" in faults(changed)


def test_a_circle_is_seen() -> None:
    changed = with_late_imports(
        {
            "jobs/kernel/keys/uris.py": "from crawlrank.jobs.kernel.keys import keys",
            "jobs/kernel/keys/keys.py": "from crawlrank.jobs.kernel.keys import uris",
        }
    )
    assert "jobs.kernel.keys.uris imports itself through others" in faults(changed)


@pytest.mark.parametrize("path", ["jobs/kernel/new.py", "jobs/new/new.py", "pipeline/new/new.py"])
def test_a_module_of_no_layer_is_seen(path: str) -> None:
    assert f"{name_of(path)} is of no layer" in faults({**SOURCES, path: ""})


def test_a_framework_that_comes_with_another_module_is_seen(tmp_path: Path) -> None:
    """In a tree as small as may be, where the stub of a framework will do."""
    files = {
        "mrjob.py": "",
        "low.py": "import mrjob\n",
        "arrays/__init__.py": "",
        "arrays/one.py": "import low\n",
        "others/__init__.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert loaded_by(tmp_path, "arrays", "others") == {"arrays": {"mrjob"}, "others": set()}


def test_folders_and_modules_stay_small() -> None:
    """Somebody reads the listing of a folder at a glance, and a module in one go."""
    for name in ("jobs", "pipeline", "scripts", "tests"):
        for folder in {path.parent for path in (ROOT / name).rglob("*.py")}:
            own = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(own) <= 20, folder
            for path in own if name != "tests" else ():
                assert len(path.read_text().splitlines()) <= 450, path
