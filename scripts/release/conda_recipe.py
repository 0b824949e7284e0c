"""Prints a recipe for conda-forge, made from pyproject.toml and the archive of the sources.

    python scripts/release/conda_recipe.py dist/crawlrank-0.1.0.tar.gz > recipe.yaml

Extraction is compiled, so there is a package for each Python and system. conda-forge calls some
packages otherwise than PyPI does. MISSING are those that it had not on 2026-08-22, by the list of
its outputs: each needs a recipe of its own first, or crawlrank cannot be installed from there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
#: names at conda-forge, where they differ
NAMES = {"brotli": "brotli-python", "duckdb": "python-duckdb", "zlib-ng": "python-zlib-ng"}
MISSING = ("ada-url", "standard-pipes", "surt")
_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(?P<range>[^;]*)(?:;\s*python_version\s*(?P<when>.*))?"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sdist", type=Path, help="the archive of the sources, as released")
    sdist = parser.parse_args().sdist
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    print(recipe(project, hashlib.sha256(sdist.read_bytes()).hexdigest()))


def recipe(project: dict[str, Any], sha256: str) -> str:
    """The recipe, in the format of rattler-build (YAML, of which JSON is a part)."""
    told = project["project"]
    name, version = told["name"], told["version"]
    pythons = f"match(python, '{told['requires-python']}')"
    document = {
        "schema_version": 1,
        "package": {"name": name, "version": version},
        "source": {
            "url": f"https://pypi.org/packages/source/{name[0]}/{name}/{name}-{version}.tar.gz",
            "sha256": sha256,
        },
        "build": {
            "number": 0,
            "script": {
                "env": {"CRAWLRANK_COMPILE": "1"},
                "content": ["${{ PYTHON }} -m pip install . -vv --no-deps --no-build-isolation"],
            },
            "skip": ["win", f"not {pythons}"],
        },
        "requirements": {
            "build": ["${{ compiler('c') }}", "${{ stdlib('c') }}"],
            "host": ["python", "pip", *project["build-system"]["requires"], "mypy >=1.11"],
            "run": ["python", *dependencies(told["dependencies"])],
        },
        "tests": [
            {"python": {"imports": [name], "pip_check": True}},
            {"script": [f"{name} --version", f"{name} run --help"]},
        ],
        "about": {
            "summary": told["description"],
            "license": told["license"],
            "license_file": told["license-files"],
        },
    }
    return json.dumps(document, indent=2)


def dependencies(requirements: list[str]) -> Iterator[str | dict[str, str]]:
    """What a run needs, by conda-forge's names. What only some Pythons need has a condition."""
    for requirement in requirements:
        if not (parts := _REQUIREMENT.fullmatch(requirement)):
            raise ValueError(f"a requirement that is not understood: {requirement}")
        name = NAMES.get(parts["name"], parts["name"])
        package = f"{name} {parts['range'].strip()}".strip()
        if parts["when"]:
            condition = parts["when"].replace("'", "").replace(" ", "")
            yield {"if": f"match(python, '{condition}')", "then": package}
        else:
            yield package


if __name__ == "__main__":
    main()
