"""Wheels for the nodes of all libraries that tasks import, pinned by version and by hash.

Their requirements are taken from crawlrank's own, which only pyproject.toml lists.

pip resolves with the nodes' version of Python and its markers, and makes wheels of libraries that
are published only as source (surt). A wheel for this machine is then replaced by the same version
for the nodes. Index, proxies and constraints are pip's own (PIP_INDEX_URL and so on).

`NodePlatform` is the platform of the nodes: Python, processor and C library.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput

MACHINES = ("x86_64", "aarch64")
OLDEST = (3, 10)


@dataclass(frozen=True)
class NodePlatform:
    """python: an interpreter of this machine, with pip, of the nodes' version. machine: their
    processor. glibc: minor version of their C library; RHEL 8 and Debian 10 have 2.28."""

    python: str = sys.executable
    machine: str = field(default_factory=platform.machine)
    glibc: int = 28

    def version(self) -> str:
        """The version of Python, such as `3.11`. Raises BadInput."""
        script = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
        expected = f"a Python {OLDEST[0]}.{OLDEST[1]} or later with pip"
        try:
            done = subprocess.run([self.python, "-c", script], capture_output=True, text=True)
        except OSError as error:
            raise BadInput(self.python, error.strerror or str(error), expected) from error
        version = done.stdout.strip()
        if done.returncode:
            last = (done.stderr.strip() or "no message").splitlines()[-1]
            raise BadInput(self.python, last, expected, "Name one with --python.")
        if tuple(map(int, version.split("."))) < OLDEST:
            raise BadInput(self.python, f"Python {version}", expected, "Name one with --python.")
        return version

    def is_this_python(self) -> bool:
        """Whether the versions installed here suit the nodes' Python."""
        return self.version() == "{}.{}".format(*sys.version_info[:2])

    def pip_options(self) -> list[str]:
        """For wheels that the nodes can use: PEP 600's tags up to their glibc, and older names of
        these tags."""
        tags = [f"manylinux_2_{minor}" for minor in range(self.glibc, 4, -1)]
        older = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}
        tags += [name for name, minor in older.items() if minor <= self.glibc]
        options = ["--only-binary=:all:", "--python-version", self.version()]
        for tag in tags:
            options += ["--platform", f"{tag}_{self.machine}"]
        return [*options, "--implementation", "cp"]


DRIVER = frozenset({"click", "rich", "duckdb"})  # only pipeline/ imports them
EXTRAS = ("pdf", "hadoop")  # options of tasks: links of PDFs, reading from HDFS
PINNED = "requirements.txt"
EPOCH = "315532800"  # 1980, the first year of a zip: wheels built twice are the same
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"\s*(?:;|and)\s*extra == ['\"]([a-z]+)['\"]\s*\Z")
_LAST = 6  # lines of pip that show what failed
_CURE = "Where there is no index, name a folder of wheels with --wheels."


def task_requirements() -> list[str]:
    """The requirements of tasks as pip takes them, sorted, with their markers of Python
    versions."""
    return sorted(needed_by_tasks(metadata.requires("crawlrank") or ()))


def needed_by_tasks(requirements: Iterable[str]) -> set[str]:
    """The requirements of tasks among those in a package's metadata, without markers of extras."""
    needed = set()
    for line in requirements:
        extra = _EXTRA.search(line)
        if extra is None and name_of(line) not in DRIVER:
            needed.add(line)
        elif extra is not None and extra[1] in EXTRAS:
            needed.add(line[: extra.start()])
    return needed


def name_of(requirement: str) -> str:
    name = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", name[0]).lower() if name else ""


def installed() -> list[str]:
    """`name==version` of all that is installed, so that tasks have the driver's versions."""
    versions: dict[str, str] = {}
    for package in metadata.distributions():
        if package.metadata["Name"] and package.read_text("direct_url.json") is None:
            versions.setdefault(name_of(package.metadata["Name"]), package.version)
    return [f"{name}=={version}" for name, version in sorted(versions.items())]


def collect(
    wheels: Path, requirements: Sequence[str], nodes: NodePlatform, source: Path | None = None
) -> None:
    """Fill the new folder `wheels`, with PINNED. source: a folder of wheels in place of an index.
    Raises BadInput with pip's last lines."""
    wheels.mkdir()
    resolved = wheels / "resolved"
    index = ["--no-index", "--find-links", str(source.absolute())] if source else []
    constraints = wheels / "constraints"
    constraints.write_text("".join(f"{pin}\n" for pin in installed()))
    pinned = ["--constraint", str(constraints)] if nodes.is_this_python() and not source else []
    pip(nodes, "wheel", "--wheel-dir", str(resolved), *index, *pinned, *requirements)
    of_this_machine = []
    for wheel in sorted(resolved.iterdir()):
        if wheel.stem.endswith("-any"):
            wheel.replace(wheels / wheel.name)
        else:
            of_this_machine.append("==".join(wheel.name.split("-")[:2]))
    if of_this_machine:
        options = ["--no-deps", *nodes.pip_options(), *index]
        pip(nodes, "download", "--dest", str(wheels), *options, *of_this_machine)
    shutil.rmtree(resolved)
    constraints.unlink()
    (wheels / PINNED).write_text("".join(map(_pin, sorted(wheels.glob("*.whl")))))


def _pin(wheel: Path) -> str:
    name, version = wheel.name.split("-")[:2]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{name_of(name)}=={version} --hash=sha256:{digest}\n"


def pip(nodes: NodePlatform, command: str, *args: str) -> None:
    """Raises BadInput."""
    line = [nodes.python, "-m", "pip", "--disable-pip-version-check", "--quiet", command, *args]
    env = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
    if done.returncode:
        message = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LAST:])
        expected = f"wheels for {nodes.machine}, glibc 2.{nodes.glibc}"
        raise BadInput(f"pip {command}", message, expected, _CURE)
