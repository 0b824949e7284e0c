"""Shared by the tests of EMR: that of made_emr.py, a bucket, a configuration, a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import click
import mrjob.emr
import pytest
from click.testing import CliRunner

from crawlrank.pipeline.cli import main
from crawlrank.pipeline.package.build import FILES
from support.systems.made_emr import MadeEmr, made_emr

KEY, SECRET, TOKEN = "AKIASEENBYNOBODY", "secret-seen-by-nobody", "token-seen-by-nobody"


@pytest.fixture(scope="module", name="emr")
def emr_around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MadeEmr]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            **{
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_SESSION_TOKEN": TOKEN,
            },
            **{"AWS_DEFAULT_REGION": "eu-west-1", "AWS_EC2_METADATA_DISABLED": "true"},
            **{"no_proxy": "127.0.0.1"},
        }.items():
            patch.setenv(name, value)
        patch.setattr(mrjob.emr, "_S3_LOG_WAIT_MINUTES", 0)
        with made_emr(tmp_path_factory.mktemp("emr")) as made:
            patch.setenv("AWS_ENDPOINT_URL", made.url)
            yield made


@pytest.fixture(scope="module", name="bucket")
def bucket_in(emr: MadeEmr) -> Any:
    """A client of S3; its bucket `crawl` is there."""
    client = boto3.client("s3")
    where = {"LocationConstraint": "eu-west-1"}
    client.create_bucket(Bucket="crawl", CreateBucketConfiguration=where)
    return client


@pytest.fixture(name="conf")
def packaged(tmp_path: Path) -> Path:
    return write_conf(tmp_path)


def write_conf(folder: Path) -> Path:
    """The packaged configuration, but for this machine's Python and shorter waits."""
    text = (FILES / "emr.conf").read_text().replace("@UPLOAD@", "s3://crawl/pkg")
    text = text.replace("/opt/crawlrank/bin/python", sys.executable).replace("@PYTHON@", "3.11")
    path = folder / "emr.conf"
    path.write_text(f"{text}    check_cluster_every: 0.2\n")
    return path


def run_emr(
    work: Path,
    conf: Path,
    *archives: object,
    more: tuple[str, ...] = (),
    command: click.Command = main,
) -> Any:
    """`crawlrank run` on the archives, datasets at s3://crawl/NAME of the work folder."""
    words = [*map(str, archives), "--work", str(work), "--runner", "emr", "--reducers", "1"]
    words += ["--data", f"s3://crawl/data-{work.name}", "--cluster-conf", str(conf)]
    return CliRunner().invoke(command, ["run", *words, "--iterations", "1", *more])
