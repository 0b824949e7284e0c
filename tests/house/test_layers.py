"""Imports go downward only, by folder, also where a function imports or another module is between;
and modules of arrays load no framework."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from support.paths import ROOT

#: from the lowest; a name stands for a module, or for a folder with all below it
JOBS = (
    *("jobs.kernel.errors", "jobs.kernel.machine", "jobs.kernel.storage", "jobs.kernel.keys"),
    *("jobs.kernel.formats", "jobs.kernel.markup", "jobs.kernel.archive", "jobs.kernel.links"),
    *("jobs.kernel.captures", "jobs.kernel.rank", "jobs.mapreduce.runners", "jobs.mapreduce"),
    "jobs.stages",
)
PIPELINE = (
    *("pipeline.terminal", "pipeline.version", "pipeline.pages"),
    *("pipeline.contract", "pipeline.options"),
    *("pipeline.data", "pipeline.ranking", "pipeline.online"),
    *(
        "pipeline.workfolder",
        "pipeline.progress",
        "pipeline.precedence",
        "pipeline.engines",
        "pipeline.analysis",
    ),
    *("pipeline.heritrix", "pipeline.planning", "pipeline.package"),
)
TOP = ("pipeline.estimate", "pipeline.cli", "pipeline.__main__")
APART = ("pipeline.engines.text", "pipeline.engines.embedded")
ARRAYS = ("jobs.kernel.rank", "pipeline.ranking", "pipeline.online.freshness")
FRAMEWORKS = ("mrjob", "click", "pyarrow", "duckdb")

Imports = Mapping[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    paths = (path for name in ("jobs", "pipeline") for path in (root / name).rglob("*.py"))
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
        if "files" not in path.parts  # what a package takes along is no module
    }


def imports_of(path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules that a file imports, anywhere in it but for types alone."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: a relative import"
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in named}
    return found & known.keys()


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


def faults(root: Path) -> Iterator[str]:
    known = modules(root)
    imports = {module: imports_of(path, known) for module, path in known.items()}
    packages = {module for module, path in known.items() if path.name == "__init__.py"}
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


def loaded_by(root: Path, folder: str) -> set[str]:
    """The frameworks that are loaded with all modules of a folder."""
    code = (
        "import importlib, pkgutil, sys\n"
        f"package = importlib.import_module({folder!r})\n"
        f"for module in pkgutil.walk_packages(package.__path__, {folder!r} + '.'):\n"
        "    importlib.import_module(module.name)\n"
        f"print(*{FRAMEWORKS!r} & sys.modules.keys())"
    ).replace(repr(FRAMEWORKS), f"set({FRAMEWORKS!r})")
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_imports_go_downward() -> None:
    assert list(faults(ROOT)) == []


@pytest.mark.parametrize("folder", ARRAYS)
def test_modules_of_arrays_load_no_framework(folder: str) -> None:
    assert loaded_by(ROOT, folder) == set()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the code, to be changed."""
    for name in ("jobs", "pipeline"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def add(path: Path, line: str) -> None:
    path.write_text(f"{path.read_text()}\n\ndef late() -> None:\n    {line}\n")


def test_an_import_upward_through_a_third_module_is_seen(tree: Path) -> None:
    add(tree / "pipeline/data/mapped.py", "import pipeline.run")
    said = list(faults(tree))
    assert "pipeline.data.mapped reaches pipeline.run" in said
    assert "pipeline.ranking.opic reaches pipeline.run" in said


def test_an_import_of_the_other_engine_through_a_third_module_is_seen(tree: Path) -> None:
    (tree / "pipeline/engines/shared.py").write_text("import pipeline.engines.text.steps\n")
    add(tree / "pipeline/engines/embedded/ids.py", "import pipeline.engines.shared")
    assert "pipeline.engines.embedded.ids reaches pipeline.engines.text.steps" in faults(tree)


def test_a_circle_is_seen(tree: Path) -> None:
    add(tree / "jobs/kernel/keys/uris.py", "from jobs.kernel.keys import keys")
    add(tree / "jobs/kernel/keys/keys.py", "from jobs.kernel.keys import uris")
    assert "jobs.kernel.keys.uris imports itself through others" in faults(tree)


@pytest.mark.parametrize("path", ["jobs/kernel/new.py", "jobs/new/new.py", "pipeline/new/new.py"])
def test_a_module_of_no_layer_is_seen(path: str, tree: Path) -> None:
    (tree / path).parent.mkdir(exist_ok=True)
    (tree / path).write_text("")
    assert f"{path[:-3].replace('/', '.')} is of no layer" in faults(tree)


def test_a_framework_that_comes_with_another_module_is_seen(tree: Path) -> None:
    (tree / "jobs/kernel/machine/framed.py").write_text("import mrjob\n")
    path = tree / "pipeline/ranking/classes.py"
    path.write_text(f"{path.read_text()}\nimport jobs.kernel.machine.framed\n")
    assert loaded_by(tree, "pipeline.ranking") == {"mrjob"}


def test_folders_and_modules_stay_small() -> None:
    """Somebody reads the listing of a folder at a glance, and a module in one go."""
    for name in ("jobs", "pipeline", "scripts", "tests"):
        for folder in {path.parent for path in (ROOT / name).rglob("*.py")}:
            own = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(own) <= 20, folder
            for path in own if name != "tests" else ():
                assert len(path.read_text().splitlines()) <= 300, path
