"""`package`: what tasks on a cluster need."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

import click

from pipeline.cli.options import OUTPUT
from pipeline.package.build import build
from pipeline.package.target import MACHINES, Target
from pipeline.terminal import printable


class _Url(click.ParamType):  # type: ignore[type-arg]
    name = "URL"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.match(r"(s3://[^/\s#]+|hdfs://[^/\s#]*)/[^/\s#][^\s#]*\Z", value):
            self.fail(f"{value} is no s3://BUCKET/PREFIX and no hdfs:///FOLDER", param, ctx)
        return value


@click.command()
@click.option("--out", type=OUTPUT, required=True, help="New folder for all of it.")
@click.option(
    "--python",
    default=sys.executable,
    metavar="PYTHON",
    help="A Python of this machine of the version that the nodes have (default: this one).",
)
@click.option(
    "--machine",
    type=click.Choice(MACHINES),
    default=platform.machine() if platform.machine() in MACHINES else MACHINES[0],
    help="Processor of the nodes (default: this machine's).",
)
@click.option(
    "--glibc",
    type=click.IntRange(17, 99),
    default=Target.glibc,
    show_default=True,
    help="Their C library's version behind `2.`, or an older one.",
)
@click.option(
    "--wheels",
    type=OUTPUT,
    help="A folder of wheels to take all from, without any package index.",
)
@click.option(
    "--upload",
    type=_Url(),
    help="s3:// URL to copy the wheels and the bootstrap script to, for EMR; or hdfs:// URL for the"
    " environment, which is copied for every job otherwise.",
)
def package(
    out: Path, python: str, machine: str, glibc: int, wheels: Path | None, upload: str | None
) -> None:
    """What tasks on Hadoop, EMR and Spark need: jobs, their libraries, configuration.

    pip finds the libraries as it is configured (PIP_INDEX_URL, PIP_CONSTRAINT and so on).
    """
    for path in build(out, Target(python, machine, glibc), wheels, upload):
        if path.parent == out:
            click.echo(printable(f"{path.stat().st_size:>13,}  {path}"))
