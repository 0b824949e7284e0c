"""A package: everything that a cluster needs, in one folder.

    crawlrank.zip                     crawlrank/jobs/, imported from the zip
    env.tar.gz                        the packed environment
    wheels/, bootstrap.sh             the same libraries, for a bootstrap action of EMR
    hadoop.conf, emr.conf, spark.conf mrjob's configuration for each runner

No file in it names this machine, its paths or its package index.

The packed environment has the libraries of tasks, and a `python` that runs the node's own with
them. A virtual environment names its Python by an absolute path of the machine that made it. This
one has no interpreter: its `python` looks for one of the same minor version on the node.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import HDFS, S3
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.launch import write_zip
from crawlrank.pipeline.package.wheels import PINNED, NodePlatform, collect, pip, task_requirements

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


CONFS = ("hadoop.conf", "emr.conf", "spark.conf")
ENV = "env.tar.gz"
NO_UPLOAD = "s3://BUCKET/crawlrank"  # to be replaced by hand
_RENDERED = (*CONFS, "bootstrap.sh")


def build(
    out: Path,
    nodes: NodePlatform,
    wheels: Path | None = None,
    upload: str | None = None,
    requirements: Sequence[str] | None = None,
) -> list[Path]:
    """Make the new folder `out`, whole or not at all; returns its files, sorted.

    wheels: a folder of wheels in place of pip's index. upload: an s3:// or hdfs:// URL to which the
    files are copied that nodes read from there. requirements: in place of the tasks' own. Raises
    BadInput, OSError.
    """
    if out.exists():
        raise BadInput(str(out), "exists already", "a new folder", "Remove it first.")
    if wheels is not None and not wheels.is_dir():
        raise BadInput(str(wheels), "no such folder", "a folder of wheels")
    version = nodes.version()
    out.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(out.parent) as tmp:
        folder = Path(tmp, "package")
        folder.mkdir()
        collect(folder / "wheels", requirements or task_requirements(), nodes, wheels)
        pack_environment(folder / "wheels", folder / ENV, nodes)
        write_zip(folder / "crawlrank.zip")
        configure(folder, version, upload)
        if upload:
            upload_package(folder, upload)
        folder.replace(out)
    return sorted(path for path in out.rglob("*") if path.is_file())


def configure(folder: Path, python: str, upload: str | None = None) -> None:
    """Write mrjob's configurations and the bootstrap script. python: the version."""
    url = (upload or "").rstrip("/")
    values = {
        "@PYTHON@": python,
        "@UPLOAD@": url if url.startswith(S3) else NO_UPLOAD,
        "@ENV@": f"{url}/{ENV}" if url.startswith(HDFS) else f"$CRAWLRANK_PACKAGE/{ENV}",
    }
    for name in _RENDERED:
        text = (FILES / name).read_text()
        for mark, value in values.items():
            text = text.replace(mark, value)
        (folder / name).write_text(text)


def upload_package(folder: Path, url: str) -> None:
    """Copy to the URL what nodes read from there: to HDFS the environment, which mrjob would copy
    for each job; to S3 the wheels and the script that installs them. Raises OSError."""
    wheels = sorted((folder / "wheels").iterdir())
    files = [folder / ENV] if url.startswith(HDFS) else [folder / "bootstrap.sh", *wheels]
    for path in files:
        stores.upload(path, stores.join(url, path.relative_to(folder).as_posix()))
