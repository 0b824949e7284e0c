"""The platform of the nodes that a package is for: Python, processor and C library."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass, field

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
