"""The nodes that a package is for: their Python, processor and C library."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass, field

from jobs.kernel.errors import BadInput

MACHINES = ("x86_64", "aarch64")
OLDEST = (3, 10)


@dataclass(frozen=True)
class Target:
    """python: an interpreter of this machine, with pip, of the nodes' version. machine: their
    processor. glibc: minor version of their C library, 2.28 being that of RHEL 8 and Debian 10."""

    python: str = sys.executable
    machine: str = field(default_factory=platform.machine)
    glibc: int = 28

    def version(self) -> str:
        """Such as `3.11`. Raises BadInput."""
        asked = "import pip, sys; print('%d.%d' % sys.version_info[:2])"
        expected = f"a Python {OLDEST[0]}.{OLDEST[1]} or later with pip"
        try:
            said = subprocess.run([self.python, "-c", asked], capture_output=True, text=True)
        except OSError as error:
            raise BadInput(self.python, error.strerror or str(error), expected) from error
        found = said.stdout.strip()
        if said.returncode:
            last = (said.stderr.strip() or "no word").splitlines()[-1]
            raise BadInput(self.python, last, expected, "Name one with --python.")
        if tuple(map(int, found.split("."))) < OLDEST:
            raise BadInput(self.python, f"Python {found}", expected, "Name one with --python.")
        return found

    def is_this_python(self) -> bool:
        """Whether what is installed here is a measure for it."""
        return self.version() == "{}.{}".format(*sys.version_info[:2])

    def pip_options(self) -> list[str]:
        """Wheels that such nodes can use: PEP 600's tags up to their glibc, and the older names."""
        tags = [f"manylinux_2_{minor}" for minor in range(self.glibc, 4, -1)]
        older = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}
        tags += [name for name, minor in older.items() if minor <= self.glibc]
        options = ["--only-binary=:all:", "--python-version", self.version()]
        for tag in tags:
            options += ["--platform", f"{tag}_{self.machine}"]
        return [*options, "--implementation", "cp"]
