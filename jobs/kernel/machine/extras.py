"""The command that installs the packages of an extra, for messages.

crawlrank may be installed from a checkout, a git URL or a wheel, by pip, pipx or uv. So the command
names what the extra needs, and the Python that runs: it works for all of them.
"""

from __future__ import annotations

import re
import shlex
import sys
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, requires

_REQUIREMENT = re.compile(r"(.+?)\s*;.*\bextra\s*==\s*['\"](.+?)['\"]")


def cure_of(extra: str) -> str:
    """`Install it with …`. extra: its name in pyproject.toml."""
    return f"Install it with `{install_command(extra)}`."


def install_command(extra: str) -> str:
    """The command for a shell. uv makes environments without pip, and installs into them itself."""
    python = sys.executable or "python3"
    words = ["uv", "pip", "install", "--python", python]
    if PathFinder.find_spec("pip"):  # not by the hook of setuptools, which warns
        words = [python, "-m", "pip", "install"]
    return shlex.join([*words, *packages_of(extra)])


def packages_of(extra: str) -> list[str]:
    """Requirements of an extra. Where crawlrank is not installed, as on the nodes of a cluster: the
    name of crawlrank with the extra."""
    try:
        rows = [_REQUIREMENT.fullmatch(row) for row in requires("crawlrank") or []]
    except PackageNotFoundError:
        rows = []
    names = [row[1] for row in rows if row and row[2] == extra]
    return names or [f"crawlrank[{extra}]"]
