"""What `make setup` installs: a version of each package for each Python, each with its hashes."""

from __future__ import annotations

import re
import sys
from importlib import metadata

from support.paths import ROOT

PINS = {path.stem: path.read_text().split() for path in (ROOT / "constraints").glob("py*.txt")}


def test_every_pin_has_hashes_and_nothing_else_has() -> None:
    lines = (ROOT / "constraints" / "hashes.txt").read_text().splitlines()
    for line in lines:
        assert re.fullmatch(r"[a-z0-9-]+==\S+( --hash=sha256:[0-9a-f]{64})+", line), line[:100]
    pinned = {pin for pins in PINS.values() for pin in pins}
    assert [line.split()[0] for line in lines] == sorted(pinned)
    assert len(PINS) == 4


def test_what_is_installed_here_is_what_is_pinned() -> None:
    for pin in PINS["py{}{}".format(*sys.version_info)]:
        name, _, version = pin.partition("==")
        assert metadata.version(name) == version
