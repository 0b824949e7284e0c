"""Wheels of all that tasks import, for the nodes, pinned by version and by hash.

pip resolves with the target's Python, whose markers it knows, and makes wheels of what is published
as source alone (surt). What of these is made for this machine is then replaced by the same version
made for the nodes. Index, proxies, constraints: as pip is told them (PIP_INDEX_URL and so on).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from jobs.kernel.errors import BadInput
from pipeline.package.requirements import installed, name_of
from pipeline.package.target import Target

PINNED = "requirements.txt"
EPOCH = "315532800"  # 1980, the first year of a zip: wheels built twice are the same
_LAST = 6  # lines of pip's own that tell what failed
_CURE = "Where there is no index, name a folder of wheels with --wheels."


def collect(
    wheels: Path, requirements: Sequence[str], target: Target, given: Path | None = None
) -> None:
    """Fill the new folder `wheels`, PINNED among them. given: a folder of wheels to take all from.
    Raises BadInput with pip's last lines."""
    wheels.mkdir()
    found = wheels / "found"
    source = ["--no-index", "--find-links", str(given.absolute())] if given else []
    constraints = wheels / "constraints"
    constraints.write_text("".join(f"{pin}\n" for pin in installed()))
    pinned = ["--constraint", str(constraints)] if target.is_this_python() and not given else []
    pip(target, "wheel", "--wheel-dir", str(found), *source, *pinned, *requirements)
    made_here = []
    for wheel in sorted(found.iterdir()):
        if wheel.stem.endswith("-any"):
            wheel.replace(wheels / wheel.name)
        else:
            made_here.append("==".join(wheel.name.split("-")[:2]))
    if made_here:
        options = ["--no-deps", *target.pip_options(), *source]
        pip(target, "download", "--dest", str(wheels), *options, *made_here)
    shutil.rmtree(found)
    constraints.unlink()
    (wheels / PINNED).write_text("".join(map(_pin, sorted(wheels.glob("*.whl")))))


def _pin(wheel: Path) -> str:
    name, version = wheel.name.split("-")[:2]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"{name_of(name)}=={version} --hash=sha256:{digest}\n"


def pip(target: Target, command: str, *args: str) -> None:
    """Raises BadInput."""
    line = [target.python, "-m", "pip", "--disable-pip-version-check", "--quiet", command, *args]
    env = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH}
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LAST:])
        expected = f"wheels for {target.machine}, glibc 2.{target.glibc}"
        raise BadInput(f"pip {command}", said, expected, _CURE)
