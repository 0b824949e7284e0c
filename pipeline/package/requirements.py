"""What tasks import, told from crawlrank's own requirements, which pyproject.toml alone lists."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata

DRIVER = frozenset({"click", "rich", "duckdb"})  # only pipeline/ imports these
EXTRAS = ("pdf", "hadoop")  # what tasks may be asked for: links of PDFs, reading from HDFS
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"\s*(?:;|and)\s*extra == ['\"]([a-z]+)['\"]\s*\Z")


def task_requirements() -> list[str]:
    """As pip takes them, sorted, with their markers of Python versions."""
    return sorted(needed_by_tasks(metadata.requires("crawlrank") or ()))


def needed_by_tasks(requirements: Iterable[str]) -> set[str]:
    """Those of the list that a package's metadata has, without markers of extras."""
    needed = set()
    for line in requirements:
        extra = _EXTRA.search(line)
        if extra is None and name_of(line) not in DRIVER:
            needed.add(line)
        elif extra is not None and extra[1] in EXTRAS:
            needed.add(line[: extra.start()])
    return needed


def name_of(requirement: str) -> str:
    """The name in the one form that all its spellings have."""
    found = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def installed() -> list[str]:
    """`name==version` of all that is here, so that tasks compute with the driver's versions."""
    found: dict[str, str] = {}
    for one in metadata.distributions():
        if one.metadata["Name"] and one.read_text("direct_url.json") is None:
            found.setdefault(name_of(one.metadata["Name"]), one.version)
    return [f"{name}=={version}" for name, version in sorted(found.items())]
