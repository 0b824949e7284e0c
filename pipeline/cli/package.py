"""`package`: what tasks on a cluster need."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import click

from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.parameters.groups import option
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.package.build import MACHINES, NodePlatform, build
from crawlrank.pipeline.terminal import printable


class _ClusterUrl(click.ParamType):  # type: ignore[type-arg]
    name = "URL"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.match(r"(s3://[^/\s#]+|hdfs://[^/\s#]*)/[^/\s#][^\s#]*\Z", value):
            self.fail(f"{value} is no s3://BUCKET/PREFIX and no hdfs:///FOLDER", param, ctx)
        return value


@command("cluster package")
@click.option("--output", "out", type=OUTPUT, required=True, help="New folder for the package.")
@click.option(
    "--python",
    default=sys.executable,
    metavar="PYTHON",
    help="A Python on this machine, of the version that the nodes have (default: this one).",
)
@click.option(
    "--machine",
    type=click.Choice(MACHINES),
    default=platform.machine() if platform.machine() in MACHINES else MACHINES[0],
    help="Processor of the nodes (default: this machine's).",
)
@option(
    "--glibc",
    type=click.IntRange(17, 99),
    default=NodePlatform.glibc,
    help="Version of their C library after `2.`, or an older one.",
)
@click.option(
    "--wheels",
    type=OUTPUT,
    help="A folder with all wheels, to use instead of a package index.",
)
@click.option(
    "--upload",
    type=_ClusterUrl(),
    help="For EMR: s3:// URL to which the wheels and the bootstrap script are copied. For others:"
    " hdfs:// URL for the environment, which is copied for every job otherwise.",
)
def package(
    out: Path, python: str, machine: str, glibc: int, wheels: Path | None, upload: str | None
) -> None:
    """The package has the jobs, their libraries and a configuration.

    pip finds the libraries with its own configuration (PIP_INDEX_URL, PIP_CONSTRAINT and so on).
    """
    for path in build(out, NodePlatform(python, machine, glibc), wheels, upload):
        if path.parent == out:
            click.echo(printable(f"{path.stat().st_size:>13,}  {path}"))
