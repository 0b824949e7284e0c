"""What a mutant is: one line of the product changed, and the tests that should see it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Edit(NamedTuple):
    """before: part of one line of the file at path, which is there once. after: what stands there
    instead. tests: with blanks between them, functions of tests (`file::function`), which run
    first, and files, which run with those of the functions if no function sees the edit."""

    name: str
    path: str
    before: str
    after: str
    tests: str

    @property
    def test_functions(self) -> list[str]:
        return [test for test in self.tests.split() if "::" in test]

    @property
    def test_files(self) -> list[str]:
        return list(dict.fromkeys(test.partition("::")[0] for test in self.tests.split()))


class NotApplicable(Exception):
    """The text to change is not in the file, or more than once."""


def apply(edit: Edit, tree: Path) -> None:
    """Change the line in this tree. Raises NotApplicable."""
    path = tree / edit.path
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if (count := text.count(edit.before)) != 1:
        raise NotApplicable(f"{edit.path} has the text {count} times, expected once")
    path.write_text(text.replace(edit.before, edit.after), encoding="utf-8")
