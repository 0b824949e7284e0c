"""The examples in docstrings of the library compute what they show."""

from __future__ import annotations

import doctest
import importlib

import pytest
from support.paths import ROOT

MODULES = sorted(path.stem for path in (ROOT / "pipeline/library").glob("*.py"))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    package = "crawlrank.pipeline.library"
    module = importlib.import_module(package if name == "__init__" else f"{package}.{name}")
    assert doctest.testmod(module).failed == 0


def test_there_are_examples() -> None:
    module = importlib.import_module("crawlrank.pipeline.library.rankings")
    assert doctest.testmod(module).attempted >= 3
