"""A package: everything that a cluster needs, in one folder.

    crawlrank.zip                     crawlrank/jobs/, imported from the zip
    env.tar.gz                        the packed environment
    wheels/, bootstrap.sh             the same libraries, for a bootstrap action of EMR
    hadoop.conf, emr.conf, spark.conf mrjob's configuration for each runner

No file in it names this machine, its paths or its package index.

The packed environment has the libraries of tasks, and a `python` that runs the node's own with
them. A virtual environment names its Python by an absolute path of the machine that made it. This
one has no interpreter: its `python` looks for one of the same minor version on the node.

The wheels are those of all libraries that tasks import, for the nodes, pinned by version and by
hash. Their requirements are taken from crawlrank's own, which only pyproject.toml lists. pip
resolves with the nodes' version of Python and its markers, and makes wheels of libraries that are
published only as source (surt). A wheel for this machine is then replaced by the same version for
the nodes. Index, proxies and constraints are pip's own (PIP_INDEX_URL and so on).

`NodePlatform` is the platform of the nodes: Python, processor and C library.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import BinaryIO, cast

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import HDFS, S3
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.launch import write_zip

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
        """The options for wheels that the nodes can use: PEP 600's tags up to their glibc, and
        older names of these tags."""
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
