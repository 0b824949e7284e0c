"""What the Makefile installs: a version of each package for each Python, each with its hashes, and
first those that a run needs."""

from __future__ import annotations

import re
import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.paths import ROOT

PINS, FOR_A_RUN = (
    {path.stem: path.read_text().split() for path in folder.glob("py*.txt")}
    for folder in (ROOT / "constraints", ROOT / "constraints" / "run")
)
HERE = "py{}{}".format(*sys.version_info)


def test_every_pin_has_hashes_and_nothing_else_has() -> None:
    lines = (ROOT / "constraints" / "hashes.txt").read_text().splitlines()
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==\S+( --hash=sha256:[0-9a-f]{64})+", line), line[:100]
    pinned = {pin for pins in PINS.values() for pin in pins}
    assert [line.split()[0] for line in lines] == sorted(pinned)
    assert len(PINS) == 4


def test_what_is_installed_here_is_what_is_pinned() -> None:
    for pin in PINS[HERE]:
        name, _, version = pin.partition("==")
        assert metadata.version(name) == version


def needed(package: str, known: set[str]) -> set[str]:
    """The names of packages that a package needs here without extras, added to those known."""
    for line in metadata.requires(package) or ():
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if wanted and name not in known:
            known.add(name)
            needed(name, known)
    return known


def test_a_run_has_what_it_needs_and_nothing_else() -> None:
    assert FOR_A_RUN.keys() == PINS.keys()
    for python, pins in FOR_A_RUN.items():
        assert set(pins) <= set(PINS[python])
    assert {pin.partition("==")[0] for pin in FOR_A_RUN[HERE]} == needed("crawlrank", set())
