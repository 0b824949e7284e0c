"""Make the wheels to give to others: `python scripts/install/make_wheels.py [--output dist]`.

One wheel is for this Python and processor architecture. It has extraction compiled by mypyc, and
the machine code of the loops that the sample crawl needs, for all processors of the architecture:
its first run compiles nothing. The other wheel has neither and fits every platform. pip takes the
first of these that fits.

The machine code is taken only by the versions of Python and llvmlite that made it; with others, the
first run makes its own. Needs hatchling, mypyc, a C compiler, and what a run needs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "sample_data").glob("aut-example.*.gz"))
#: numba's settings for code that all processors of the architecture run
GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def wheel(folder: Path, **settings: str) -> Path:
    """A wheel of the checkout, in a new folder. settings: of scripts/compile_kernel.py."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    env = {**os.environ, **settings}
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], env=env, check=True)
    (path,) = folder.glob("*.whl")
    return path


def machine_code(package: Path, folder: Path) -> Path:
    """Run the sample crawl with the unpacked package; the folder with the code that it has made, by
    the path in a wheel."""
    from crawlrank.jobs.kernel.machine.kept_code import BESIDE, GIVEN

    env = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    env |= GENERIC | {"PYTHONPATH": str(package)}
    command = [sys.executable, "-m", "crawlrank", "run", *map(str, SAMPLES)]
    subprocess.run([*command, "--work", "work", "--quiet"], env=env, cwd=folder, check=True)
    code = folder / "code"
    for path in sorted(package.rglob(f"{BESIDE}/*.native")):
        target = code / path.relative_to(package).parent.with_name(GIVEN) / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    return code


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("dist"))
    output: Path = parser.parse_args().output
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pure = wheel(folder / "pure", CRAWLRANK_COMPILE="0")
        zipfile.ZipFile(pure).extractall(folder / "package")
        code = machine_code(folder / "package", folder)
        made = wheel(folder / "made", CRAWLRANK_COMPILE="1", CRAWLRANK_NATIVE_CODE=str(code))
        output.mkdir(parents=True, exist_ok=True)
        for path in (pure, made):
            (output / path.name).write_bytes(path.read_bytes())
            print(f"{output / path.name}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
