"""A cluster of Spark's own on this machine: a master and two workers of one core each, which listen
on loopback and end with the tests."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from crawlrank.jobs.kernel.machine.processes import tied

DEPLOY = "org.apache.spark.deploy"
WORKERS = 2
STARTED = re.compile(r"Starting Spark master at (spark://127\.0\.0\.1:[0-9]+)")
REGISTERED = re.compile(r"Successfully registered with master")


@pytest.fixture(scope="module", name="spark_master")
def standalone_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the master."""
    folder = tmp_path_factory.mktemp("spark")
    local = ("--host", "127.0.0.1", "--webui-port", "0")
    with ExitStack() as stack:
        master = started("master.Master", *local, "--port", "0", stack=stack, said=STARTED)
        for number in range(WORKERS):
            own = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / str(number)))
            started("worker.Worker", *local, *own, master, stack=stack, said=REGISTERED)
        yield master


def started(server: str, *words: str, stack: ExitStack, said: re.Pattern[str]) -> str:
    """Start a server, which ends with the stack, and wait until it says that it is there; returns
    the last group of what it says."""
    import pyspark

    spark = Path(pyspark.__file__).with_name("bin") / "spark-class"
    process = stack.enter_context(
        subprocess.Popen(
            tied([str(spark), f"{DEPLOY}.{server}", *words]), stderr=subprocess.PIPE, text=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"},
        )
    )  # fmt: skip
    stack.callback(process.terminate)
    assert process.stderr
    lines = []
    for line in process.stderr:
        lines.append(line)
        if match := said.search(line):
            return match[match.lastindex or 0]
    raise AssertionError("".join(lines))
