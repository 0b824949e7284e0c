"""Everything that a cluster needs, in one folder:

    crawlrank.zip                     jobs/, imported from the zip
    env.tar.gz                        the packed environment
    wheels/, bootstrap.sh             the same libraries, for a bootstrap action of EMR
    hadoop.conf, emr.conf, spark.conf mrjob's configuration for each target

Nothing in it names this machine, its paths or its package index.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from jobs.far import write_zip
from jobs.kernel.errors import BadInput
from pipeline.package.environment import FILES, pack_environment
from pipeline.package.requirements import task_requirements
from pipeline.package.target import Target
from pipeline.package.wheels import collect

CONFS = ("hadoop.conf", "emr.conf", "spark.conf")
NO_UPLOAD = "s3://BUCKET/crawlrank"  # to be replaced by hand
_RENDERED = (*CONFS, "bootstrap.sh")


def build(
    out: Path,
    target: Target,
    given: Path | None = None,
    upload: str | None = None,
    requirements: Sequence[str] | None = None,
) -> list[Path]:
    """Make the new folder `out`; it is there whole or not at all. Its files, sorted.

    given: a folder of wheels, instead of pip's index. upload: an s3:// URL to copy to what nodes of
    EMR read. requirements: other ones than the tasks' own. Raises BadInput, OSError.
    """
    if out.exists():
        raise BadInput(str(out), "exists already", "a new folder", "Remove it first.")
    if given is not None and not given.is_dir():
        raise BadInput(str(given), "no such folder", "a folder of wheels")
    version = target.version()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as tmp:
        made = Path(tmp, "package")
        made.mkdir()
        collect(made / "wheels", requirements or task_requirements(), target, given)
        pack_environment(made / "wheels", made / "env.tar.gz", target)
        write_zip(made / "crawlrank.zip")
        for name in _RENDERED:
            text = (FILES / name).read_text().replace("@PYTHON@", version)
            url = (upload or NO_UPLOAD).rstrip("/")
            (made / name).write_text(text.replace("@UPLOAD@", url))
        if upload:
            upload_package(made, upload)
        made.replace(out)
    return sorted(path for path in out.rglob("*") if path.is_file())


def upload_package(out: Path, url: str) -> None:
    """Copy the wheels and the script that installs them to under the URL. Raises OSError."""
    from jobs.kernel.opening import located

    filesystem, folder = located(url.rstrip("/"))
    for path in [out / "bootstrap.sh", *sorted((out / "wheels").iterdir())]:
        where = f"{folder}/{path.relative_to(out).as_posix()}"
        with path.open("rb") as data, filesystem.open_output_stream(where) as there:
            while block := data.read(1 << 23):
                there.write(block)
