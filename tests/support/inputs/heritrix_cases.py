"""The cases of tests/data/heritrix/lint.txt, shared by the tests of the loader and the checker."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from support.paths import HERITRIX


class Case(NamedTuple):
    """A file and what became of it: the exception, or the number of entries and the keys."""

    name: str
    file: bytes | None
    exception: str
    entries: int
    stored: dict[str, int]


# lint.txt shows no more than the beginning of long files
WHOLE_FILES = {
    "jsessionid": b"http://h.example/a;jsessionid=0123456789ABCDEF0123456789ABCDEF 5\n",
    "very long uri 100k": b"http://h.example/" + b"a" * 100_000 + b" 5\n",
}


def lint_txt() -> list[Case]:
    """The cases of lint.txt: `##name  bytes`, `rc= OUT n entries`, ERR lines, KEY lines."""
    text = (HERITRIX / "lint.txt").read_bytes().decode("utf-8")
    cases = []
    for block in re.split(r"(?m)^##", text)[1:]:
        head, _, rest = block.partition("\n")
        name, shown = re.split(r"  (?=b['\"]|False)", head)
        file = None if shown == "False" else WHOLE_FILES.get(name) or literal(shown)
        thrown = re.search(r"ERR (?:.* java\.lang\.)?(.*)", rest)
        loaded = re.search(r"OUT (\d+) entries loaded", rest)
        keys = re.findall(r"KEY<(.*)> \{precalc-precedence=(-?\d+)\}", rest)
        stored = {key: int(value) for key, value in keys}
        entries = int(loaded[1]) if loaded else 0
        cases.append(Case(name, file, thrown[1] if thrown else "", entries, stored))
    return cases


def literal(shown: str) -> bytes:
    file = ast.literal_eval(shown)
    assert isinstance(file, bytes)
    return file


LINT_TXT = lint_txt()


def written(case_name: str, file: bytes | None, folder: Path) -> Path:
    path = folder / ("file.gz" if case_name.lower().endswith(("gz file", ".gz")) else "file.txt")
    if file is not None:
        path.write_bytes(file)
    return path
