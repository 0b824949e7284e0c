"""A package: everything that a cluster needs, in one folder.

    crawlrank.zip                     crawlrank/jobs/, imported from the zip
    env.tar.gz                        the packed environment
    wheels/, bootstrap.sh             the same libraries, for a bootstrap action of EMR
    hadoop.conf, emr.conf, spark.conf mrjob's configuration for each runner

No file in it names this machine, its paths or its package index.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import HDFS, S3
from crawlrank.jobs.kernel.storage.temporary import temporary_folder
from crawlrank.jobs.mapreduce.launch import write_zip
from crawlrank.pipeline.package.environment import FILES, pack_environment
from crawlrank.pipeline.package.node_platform import NodePlatform
from crawlrank.pipeline.package.wheels import collect, task_requirements

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
