"""What drivers leave on EMR, that of made_emr.py, and what the next run makes of it."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from support.crawls import FORKED, environment
from support.systems.emr_around import bucket_in, emr_around, packaged, run_emr  # noqa: F401 - fixtures
from support.systems.made_emr import MadeEmr
from support.waiting import awaited

from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.mapreduce.launch import end_orphans, launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners import CLUSTER_TAG
from crawlrank.jobs.mapreduce.runners.applications import tag_of
from crawlrank.pipeline.engines.text.engine import held_cluster

if TYPE_CHECKING:
    from moto.emr.models import Cluster

ARCHIVE = "s3://crawl/archives/web.warc.gz"
YARN = """#!/bin/sh
echo "$*" >> {calls}
case "$*" in
  *-list*) printf 'Total number of applications: 2\\n'
    printf 'application_17_0001\\tname\\napplication_17_0002\\tname\\n' ;;
esac
"""


@pytest.fixture
def archive(bucket: Any, web: Path) -> None:
    bucket.put_object(Bucket="crawl", Key="archives/web.warc.gz", Body=web.read_bytes())


@pytest.fixture
def yarn(emr: MadeEmr, tmp_path: Path) -> Path:
    """The command of the master, with two applications; the file of its calls."""
    calls = tmp_path / "yarn-calls"
    emr.bin.mkdir(exist_ok=True)
    (emr.bin / "yarn").write_text(YARN.format(calls=calls))
    (emr.bin / "yarn").chmod(0o755)
    return calls


def killed_driver(emr: MadeEmr, work: Path, conf: Path) -> tuple[Any, Any]:
    """A run whose process is killed while its first step is at work; cluster and step, which goes
    on for ever."""
    before = {step.id for cluster in emr.clusters for step in cluster.steps}
    command = [*FORKED, "run", ARCHIVE, "--work", str(work)]
    words = ["--runner", "emr", "--data", f"s3://crawl/data-{work.name}"]
    emr.held.set()
    try:
        with subprocess.Popen(
            [*command, *words, "--cluster-conf", str(conf), "--reducers", "1", "--iterations", "1"],
            env=environment(),
        ) as driver:
            left = awaited(lambda: _steps_but(emr, before))
            driver.send_signal(signal.SIGKILL)
        ((cluster, step),) = left
        emr.stuck.add(step.id)
    finally:
        emr.held.clear()
    return cluster, step


def _steps_but(emr: MadeEmr, before: set[str]) -> list[tuple[Any, Any]]:
    steps = [(cluster, step) for cluster in emr.clusters for step in cluster.steps]
    return [(cluster, step) for cluster, step in steps if step.id not in before]


@contextmanager
def before_call(call: str, act: Any) -> Iterator[None]:
    events = boto3._get_default_session().events
    events.register(f"before-call.{call}", act)
    try:
        yield
    finally:
        events.unregister(f"before-call.{call}", act)


def slowly(cluster: Cluster) -> None:
    """How a cluster ends: its tasks are at work until it has."""
    cluster.state = "TERMINATING"

    def end() -> None:
        cluster.state = "TERMINATED"

    threading.Timer(1.0, end).start()


@pytest.mark.slow
def test_the_cluster_of_a_killed_driver_is_ended_before_anything_is_written(
    emr: MadeEmr, archive: None, conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, states = tmp_path / "killed", list[tuple[str, str]]()
    left, step = killed_driver(emr, work, conf)
    tag = tag_of("s3://crawl/data-killed")
    assert {"Key": CLUSTER_TAG, "Value": tag} in left.tags
    monkeypatch.setattr("moto.emr.models.Cluster.terminate", slowly)

    def look(params: dict[str, Any], model: Any, **_: Any) -> None:
        if params["method"] in ("PUT", "POST", "DELETE"):
            states.append((model.name, left.state))
        if model.name == "RunJobFlow":
            raise ClientError({"Error": {"Code": "Enough"}}, model.name)

    with before_call("s3", look), before_call("emr.RunJobFlow", look):
        done = run_emr(work, conf, ARCHIVE)
    assert done.exit_code == 5, done.output
    assert step.state in ("PENDING", "RUNNING")
    assert states[-1][0] == "RunJobFlow"
    assert {state for _, state in states} == {"TERMINATED"}


@pytest.mark.slow
def test_clusters_of_other_data_go_on(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    """Neither the tag alone nor the name alone is enough."""
    (tmp_path / "other").mkdir()
    tag, client = tag_of("s3://crawl/mine"), boto3.client("emr")
    with held_cluster(conf, tmp_path / "other", "s3://crawl/other"):
        other = emr.clusters[-1]
        kept = {"MasterInstanceType": "m5.xlarge", "KeepJobFlowAliveWhenNoSteps": True}
        named = client.run_job_flow(Name=f"{tag}-cluster", Instances=kept)
        tags = [{"Key": CLUSTER_TAG, "Value": tag}]
        bearing = client.run_job_flow(Name="a cluster", Instances=kept)
        client.add_tags(ResourceId=bearing["JobFlowId"], Tags=tags)
        states = [other.state]
        assert end_orphans(Launcher("emr", tmp_path, data="s3://crawl/mine", conf=conf)) == 0
        alone = [cluster for cluster in emr.clusters if cluster.id in
                 (named["JobFlowId"], bearing["JobFlowId"])]  # fmt: skip
        assert [other.state] == states
        assert not [cluster for cluster in alone if cluster.state.startswith("TERMINAT")]
        client.terminate_job_flows(JobFlowIds=[cluster.id for cluster in alone])


@pytest.mark.slow
def test_steps_on_a_cluster_that_is_named_are_cancelled_and_their_applications_ended(
    emr: MadeEmr, bucket: Any, archive: None, conf: Path, yarn: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    with held_cluster(conf, tmp_path / "other", "s3://crawl/other"):
        cluster = emr.clusters[-1]
        named = tmp_path / "named.conf"
        named.write_text(f"{conf.read_text()}    cluster_id: {cluster.id}\n")
        others = {"Jar": "command-runner.jar", "Args": ["true"]}
        emr.held.set()
        client = boto3.client("emr")
        step = {"Name": "of others", "ActionOnFailure": "CONTINUE", "HadoopJarStep": others}
        added = client.add_job_flow_steps(JobFlowId=cluster.id, Steps=[step])
        emr.stuck.update(added["StepIds"])
        work = tmp_path / "named"
        _, left = killed_driver(emr, work, named)
        launcher = Launcher("emr", tmp_path, data="s3://crawl/data-named", conf=named)
        assert [end_orphans(launcher), end_orphans(launcher)] == [1, 0]
        states = {step.id: step.state for step in cluster.steps}
        assert states.pop(left.id) == "CANCELLED"
        assert states.pop(*added["StepIds"]) in ("PENDING", "RUNNING")
        assert list(states.values()) == ["COMPLETED"]
        assert cluster.state == "WAITING"
    tag = tag_of("s3://crawl/data-named")
    listing, *ends = yarn.read_text().splitlines()
    assert listing.startswith(f"application -list -appTags {tag} -appStates NEW,")
    assert ends == [f"application -kill application_17_000{number}" for number in (1, 2)]


@pytest.mark.slow
def test_applications_of_an_interrupted_step_are_ended_too(
    emr: MadeEmr, bucket: Any, conf: Path, yarn: Path, tmp_path: Path
) -> None:
    """The interrupted driver has cancelled the step itself, which leaves its application."""
    with held_cluster(conf, tmp_path, "s3://crawl/other"):
        cluster = emr.clusters[-1]
        named = tmp_path / "named.conf"
        named.write_text(f"{conf.read_text()}    cluster_id: {cluster.id}\n")
        launcher = Launcher("emr", tmp_path, data="s3://crawl/stopped", conf=named, ranges=1)
        assert end_orphans(launcher) == 0
        assert not yarn.exists()
        bucket.put_object(Bucket="crawl", Key="stopped/in/part-0", Body=b"0 a,b)/ a,b)/x\n")
        launch(GenGraph, ["s3://crawl/stopped/in"], "s3://crawl/stopped/graph", launcher)
        (step,) = cluster.steps
        step.state = "CANCELLED"
        assert end_orphans(launcher) == 0
        assert len(yarn.read_text().splitlines()) == 3


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["ListClusters", "ListSteps"])
def test_a_role_that_may_not_look_is_refused(
    emr: MadeEmr, archive: None, conf: Path, tmp_path: Path, operation: str
) -> None:
    """Moto knows no permissions: the answer is made here."""

    def refuse(**_: Any) -> None:
        error = {"Code": "AccessDeniedException", "Message": f"not allowed: {operation}"}
        raise ClientError({"Error": error}, operation)

    conf.write_text(f"{conf.read_text()}    cluster_id: j-1\n")
    with before_call(f"emr.{operation}", refuse):
        done = run_emr(tmp_path / f"refused-{operation}", conf, ARCHIVE)
    assert done.exit_code == 5
    assert f"not allowed: {operation}" in done.output
    assert f"Allow elasticmapreduce:{operation}; docs/emr.md" in done.output


@pytest.mark.slow
def test_a_cluster_that_is_protected_is_told_of(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    with held_cluster(conf, tmp_path, "s3://crawl/protected"):
        cluster = emr.clusters[-1]
        cluster.set_termination_protection(True)
        with pytest.raises(JobFailed, match="termination protected"):
            end_orphans(Launcher("emr", tmp_path, data="s3://crawl/protected", conf=conf))
        cluster.set_termination_protection(False)
