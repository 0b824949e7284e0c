"""The packed environment: libraries of tasks, and a `python` that runs the node's own with them.

A virtual environment names its Python by an absolute path of the machine that made it. This one has
no interpreter: its `python` looks for one of the same minor version on the node.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
from pathlib import Path
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.pipeline.package.node_platform import NodePlatform
from crawlrank.pipeline.package.wheels import PINNED, pip

FILES = Path(__file__).parent / "files"
_LEVEL = 6


def pack_environment(wheels: Path, archive: Path, nodes: NodePlatform) -> None:
    """Write the .tar.gz of `bin/python` and `lib/`; the same bytes from the same wheels."""
    with temporary_folder(archive.parent) as tmp:
        env = Path(tmp, "env")
        lib, python = env / "lib", env / "bin" / "python"
        _install(wheels, lib, nodes)
        (lib / "sitecustomize.py").write_bytes((FILES / "sitecustomize.py").read_bytes())
        _compile(lib, nodes)
        python.parent.mkdir()
        script = (FILES / "python.sh").read_text().replace("@PYTHON@", nodes.version())
        python.write_text(script)
        python.chmod(0o755)
        (env / "bin" / "python3").symlink_to("python")
        _write_tar(env, archive)


def _install(wheels: Path, lib: Path, nodes: NodePlatform) -> None:
    source = ["--no-index", "--find-links", str(wheels), "--require-hashes", "--no-deps"]
    options = [*source, *nodes.pip_options(), "--no-compile", "--requirement", str(wheels / PINNED)]
    pip(nodes, "install", "--target", str(lib), *options)
    for script in (lib / "bin").glob("*"):  # they name this machine's Python
        script.unlink()


def _compile(lib: Path, nodes: NodePlatform) -> None:
    """Make bytecode that does not depend on the times of files, as tasks cannot write it. Files
    that do not compile, such as those for other versions of Python, are left as they are. Until
    Python 3.11 bytecode has constant sets in the order of their hashes, which a seed fixes."""
    options = ["-q", "-q", "--invalidation-mode", "unchecked-hash", "-s", str(lib), "-p", "lib"]
    command = [nodes.python, "-m", "compileall", *options, str(lib)]
    subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONHASHSEED": "0"})


def _write_tar(folder: Path, archive: Path) -> None:
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", _LEVEL, cast(BinaryIO, file), mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            tar.add(path, str(path.relative_to(folder)), recursive=False, filter=_timeless)


def _timeless(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
    return entry
