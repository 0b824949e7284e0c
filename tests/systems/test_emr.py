"""Jobs on EMR, that of made_emr.py: what is asked of AWS, what comes back, how it ends."""

from __future__ import annotations

import gzip
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner
from support.crawls import FORKED, INLINE, environment
from support.systems.cluster import inline
from support.systems.emr_around import (  # noqa: F401 - fixtures
    KEY,
    SECRET,
    TOKEN,
    bucket_in,
    emr_around,
    packaged,
    run_emr,
    write_conf,
)
from support.systems.made_emr import MadeEmr
from support.waiting import awaited

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.engines.text.engine import held_cluster

DATA = "s3://crawl/data"
INOUT = ("-input", "-output")
NO_LIST = b'["s3://crawl/no.warc"]\nno list\n'
LINKS = b"0 a,b)/ a,b)/x\n1 a,b)/x a,b)/\n1 a,b)/x c)/\n"


def names(client: Any) -> set[str]:
    return {one["Key"] for one in client.list_objects_v2(Bucket="crawl").get("Contents", ())}


def read(client: Any, key: str) -> bytes:
    return bytes(client.get_object(Bucket="crawl", Key=key)["Body"].read())


class Done(NamedTuple):
    """What two jobs have left on a held cluster, one by the name of the cluster, and one that
    fails. request: for the cluster. states: of it, at its begin and after the first job. said: by
    all of mrjob's logs."""

    cluster: Any
    request: dict[str, Any]
    states: list[str]
    steps: list[list[str]]
    outcome: Outcome
    failed: JobFailed
    said: list[str]
    folder: Path


@pytest.fixture(scope="module")
def done(emr: MadeEmr, bucket: Any, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder, asked, steps = tmp_path_factory.mktemp("done"), list[str](), len(emr.steps)
    for name, data in (("asked/part-0", LINKS), ("lists/list", NO_LIST)):
        bucket.put_object(Bucket="crawl", Key=name, Body=data)
    (folder / "tmp").mkdir()
    events = boto3._get_default_session().events  # moto forgets what it does not know
    events.register("before-call.emr.RunJobFlow", lambda params, **_: asked.append(params["body"]))
    with logged() as said, held_cluster(write_conf(folder), folder, DATA) as held:
        cluster, before = emr.clusters[-1], len(emr.clusters)
        states, named = [cluster.state], folder / "named.conf"
        named.write_text((folder / "emr.conf").read_text() + f"    cluster_id: {cluster.id}\n")
        with held_cluster(named, folder / "tmp", DATA) as conf:
            launcher = Launcher("emr", folder, data="s3://crawl/asked", conf=conf, ranges=1)
            words = ["--reducers", "3"]
            outcome = launch(GenGraph, ["s3://crawl/asked"], "s3://crawl/g", launcher, words)
        states.append(cluster.state)
        launcher = replace(launcher, conf=held)
        with pytest.raises(JobFailed) as failed:
            launch(ExtractLinks, ["s3://crawl/lists"], "s3://crawl/f", launcher, ["--listed"])
        assert len(emr.clusters) == before
    (request,) = asked
    return Done(
        cluster, json.loads(request), states, emr.steps[steps:], outcome, failed.value, said, folder
    )


@contextmanager
def logged() -> Iterator[list[str]]:
    """All that mrjob logs meanwhile."""
    said, logger, handler = list[str](), logging.getLogger("mrjob"), logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        yield said
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


@pytest.mark.slow
def test_a_job_on_a_held_cluster(done: Done, tmp_path: Path) -> None:
    assert done.states[0] == "WAITING"
    assert done.cluster.state == "TERMINATED"
    (tmp_path / "links").write_bytes(LINKS)
    near = launch(GenGraph, [tmp_path / "links"], tmp_path / "graph", inline(tmp_path))
    assert done.outcome.counters == near.counters
    assert done.outcome.rows["main"] == near.rows["main"] == 3


@pytest.mark.slow
def test_a_cluster_that_is_named_goes_on(done: Done) -> None:
    assert done.states == ["WAITING", "WAITING"]


@pytest.mark.slow
def test_what_is_asked_of_aws(done: Done, bucket: Any) -> None:
    cluster, step = done.cluster, done.steps[0]
    assert (cluster.release_label, cluster.log_uri) == ("emr-7.10.0", "s3://crawl/pkg/logs/")
    roles = (cluster.service_role, cluster.job_flow_role)
    assert roles == ("EMR_DefaultRole", "EMR_EC2_DefaultRole")
    assert cluster.keep_job_flow_alive_when_no_steps
    assert done.request["AutoTerminationPolicy"] == {"IdleTimeout": 3600}
    (action,) = cluster.bootstrap_actions
    script = "s3://crawl/pkg/bootstrap.sh"
    assert (action.script_path, action.args) == (script, ["s3://crawl/pkg"])
    groups = {group.role: group for group in cluster.instance_groups}
    sizes = {role: (group.instance_type, group.num_instances) for role, group in groups.items()}
    assert sizes == {
        "MASTER": ("m5.xlarge", 1),
        "CORE": ("m5.2xlarge", 2),
        "TASK": ("m5.2xlarge", 4),
    }
    markets = {role: group.market for role, group in groups.items()}
    assert markets == {"MASTER": "ON_DEMAND", "CORE": "ON_DEMAND", "TASK": "SPOT"}
    assert "mapreduce.job.reduces=3" in step
    assert [step[step.index(o) + 1] for o in INOUT] == ["s3://crawl/asked", "s3://crawl/g/"]
    parts = {name for name in names(bucket) if name.startswith("g/")}
    assert parts == {"g/part-00000", "g/part-00001", "g/part-00002", "g/_SUCCESS"}


@pytest.mark.slow
def test_a_task_that_fails_is_told_with_its_last_lines(done: Done, bucket: Any) -> None:
    assert done.failed.exit_code == 5
    said = str(done.failed)
    assert "the job ExtractLinks failed" in said
    assert "JSONDecodeError: Expecting value: line 1 column 1" in said
    assert "Traceback" not in said
    assert not {name for name in names(bucket) if name.startswith("f/")}
    assert done.cluster.state == "TERMINATED"


@pytest.mark.slow
def test_no_credential_is_logged_or_written(emr: MadeEmr, bucket: Any, done: Done) -> None:
    """By all of mrjob's and boto3's logs, into any file of ours or any object, by a run that
    fails after one that does not."""
    ours = done.said
    assert ["GenGraph" in str(done.steps[-2]), "ExtractLinks" in str(done.steps[-1])] == [True] * 2
    for name in ("gen_graph", "extract_links"):  # both jobs are logged, with their options
        assert any(name in message for message in ours), name
    assert sum("aws_secret_access_key" in message for message in ours) == 4  # and of the clusters
    seen = [text.encode() for text in (*ours, str(done.failed), repr(emr.steps))]
    seen += [path.read_bytes() for path in done.folder.rglob("*") if path.is_file()]
    seen += [read(bucket, name) for name in names(bucket)]
    seen += [repr(vars(cluster)).encode() for cluster in emr.clusters]
    for secret in (KEY, SECRET, TOKEN):
        assert not [what for what in seen if secret.encode() in inflated(what)]


def inflated(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def test_a_cluster_that_does_not_start(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    """Its bootstrap script fails: what it said is told."""
    log = "node/i-0abc/bootstrap-actions/1/stderr.gz"
    with pytest.raises(JobFailed) as failed, held_cluster(conf, tmp_path, DATA) as held:
        cluster = emr.clusters[-1]
        emr.held.set()
        cluster.state, why = "TERMINATED_WITH_ERRORS", "returned a non-zero return code"
        cluster.last_state_change_reason = (
            f"On the master instance (i-0abc), bootstrap action 1 {why}"
        )
        key = f"pkg/logs/{cluster.id}/{log}"
        bucket.put_object(
            Bucket="crawl", Key=key, Body=gzip.compress(b"No match for argument: python3.11\n")
        )
        try:
            thread = threading.Thread(target=_cancel_all, args=(cluster,))
            thread.start()
            launcher = Launcher("emr", tmp_path, data="s3://crawl/none", conf=held, ranges=1)
            launch(GenGraph, ["s3://crawl/in"], "s3://crawl/n", launcher)
        finally:
            emr.held.clear()
            thread.join()
    assert failed.value.exit_code == 5
    assert "No match for argument: python3.11" in str(failed.value)


def _cancel_all(cluster: Any) -> None:
    """Cancel all, as EMR does with the steps of a cluster that is gone."""
    awaited(lambda: cluster.steps)
    cluster.state = "TERMINATED_WITH_ERRORS"
    for step in cluster.steps:
        step.state = "CANCELLED"


@pytest.mark.slow
def test_an_interruption_ends_the_cluster(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    before, over = set(emr.clusters), threading.Event()
    emr.held.set()
    main = threading.get_ident()

    def interrupt() -> None:
        """Again, if Python ignored it, as it came while an object was deleted."""
        awaited(lambda: any(cluster.steps for cluster in set(emr.clusters) - before))
        seconds = 0.5  # the driver waits for the step then
        while not over.wait(seconds):
            signal.pthread_kill(main, signal.SIGINT)
            seconds = 30

    try:
        with pytest.raises(KeyboardInterrupt), held_cluster(conf, tmp_path, DATA) as held:
            launcher = Launcher("emr", tmp_path, data="s3://crawl/i", conf=held, ranges=1)
            threading.Thread(target=interrupt, daemon=True).start()
            launch(GenGraph, ["s3://crawl/in"], "s3://crawl/i/graph", launcher)
    finally:
        over.set()
        (cluster,) = set(emr.clusters) - before
        for step in cluster.steps:
            step.state = "CANCELLED"
        emr.held.clear()
    assert cluster.state == "TERMINATED"


def test_a_cluster_that_may_not_be_tagged_is_ended(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    """Moto knows no permissions: the answer is made here."""
    before = set(emr.clusters)
    events = boto3._get_default_session().events

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, "AddTags")

    events.register("before-call.emr.AddTags", refuse)
    try:
        with pytest.raises(JobFailed, match="AccessDenied"), held_cluster(conf, tmp_path, DATA):
            raise AssertionError("a cluster")
    finally:
        events.unregister("before-call.emr.AddTags", refuse)
    (cluster,) = set(emr.clusters) - before
    assert cluster.state == "TERMINATED"


@pytest.mark.slow
def test_no_configuration_is_no_cluster(
    emr: MadeEmr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MRJOB_CONF", raising=False)
    before = len(emr.clusters)
    with (
        pytest.raises(BadInput, match=r"no configuration; expected one such as emr\.conf"),
        held_cluster(None, tmp_path, DATA),
    ):
        raise AssertionError("a cluster")
    assert len(emr.clusters) == before


def test_the_region_is_that_of_boto3_unless_it_is_configured(emr: MadeEmr, conf: Path) -> None:
    """Moto takes all calls for those of one region, which `emr` sets."""
    text = conf.read_text()
    for more, region in (("", "eu-west-1"), ("    region: us-east-2\n", "us-east-2")):
        conf.write_text(text + more)
        runner = GenGraph(["-r", "emr", "--conf-path", str(conf)]).make_runner()
        assert runner._opts["region"] == region


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "Unable to locate credentials"),
        ({"AWS_ENDPOINT_URL_EMR": "http://127.0.0.1:9"}, "Could not connect to the endpoint URL"),
    ],
)
def test_what_aws_refuses(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str], said: str,
) -> None:  # fmt: skip
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)  # which knows credentials
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    with pytest.raises(JobFailed, match=said), held_cluster(conf, tmp_path, DATA):
        raise AssertionError("no cluster")


def test_without_boto3_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    monkeypatch.delitem(sys.modules, "crawlrank.jobs.mapreduce.runners.emr", raising=False)
    with pytest.raises(BadInput) as refused:
        GenGraph(["-r", "emr", "--no-conf"]).make_runner()
    assert str(refused.value).startswith("--runner emr: boto3 is not installed")
    assert "pip install 'boto3>=1.34'" in str(refused.value)


@pytest.mark.slow
def test_a_run_from_archives_in_s3_to_a_precedence_file(
    emr: MadeEmr, bucket: Any, conf: Path, web: Path, tmp_path: Path
) -> None:
    """One cluster makes the file of this machine and ends. A second run starts none."""
    bucket.put_object(Bucket="crawl", Key="archives/web.warc.gz", Body=web.read_bytes())
    before = set(emr.clusters)
    done = run_emr(tmp_path / "far", conf, "s3://crawl/archives/web.warc.gz")
    assert done.exit_code == 0, done.output
    (cluster,) = set(emr.clusters) - before
    assert cluster.state == "TERMINATED"
    near = ["run", str(web), "--work", str(tmp_path / "near"), *INLINE, "--iterations", "1"]
    assert CliRunner().invoke(main, near).exit_code == 0
    for name in ("precedence.txt", "precedence.summary.json"):
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes()
    again = run_emr(tmp_path / "far", conf, "s3://crawl/archives/web.warc.gz")
    assert (again.exit_code, len(emr.clusters)) == (0, len(before) + 1)
    for secret in (KEY, SECRET, TOKEN):
        assert secret not in done.output + again.output
        for path in (tmp_path / "far").rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.slow
def test_ctrl_c_ends_the_cluster_of_a_run(
    emr: MadeEmr, bucket: Any, conf: Path, web: Path, tmp_path: Path
) -> None:
    """The command as a process of its own, while its first step is under way."""
    bucket.put_object(Bucket="crawl", Key="archives/web.warc.gz", Body=web.read_bytes())
    before = set(emr.clusters)
    words = ["--runner", "emr", "--data", "s3://crawl/data-c", "--cluster-conf", str(conf)]
    command = [*FORKED, "run", "s3://crawl/archives/web.warc.gz"]
    emr.held.set()
    try:
        with subprocess.Popen(
            [*command, "--work", str(tmp_path / "work"), *words],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            awaited(lambda: process.poll() or any(c.steps for c in set(emr.clusters) - before))
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=600)
        (cluster,) = set(emr.clusters) - before
        for step in cluster.steps:
            step.state = "CANCELLED"
    finally:
        emr.held.clear()
    assert (process.returncode, cluster.state) == (130, "TERMINATED"), said
    assert "Traceback" not in said
    assert not [secret for secret in (KEY, SECRET, TOKEN) if secret in said]


def test_a_run_whose_step_fails(
    emr: MadeEmr, bucket: Any, conf: Path, web: Path, tmp_path: Path
) -> None:
    """Exit code 5 and the task's last lines; the cluster is ended."""
    bucket.put_object(Bucket="crawl", Key="archives/web.warc.gz", Body=web.read_bytes())
    text = conf.read_text().replace(sys.executable, f"{sys.executable} -m nothing")
    conf.write_text(text)
    done = run_emr(tmp_path / "failed", conf, "s3://crawl/archives/web.warc.gz")
    assert done.exit_code == 5, done.output
    assert "the job ExtractLinks failed; its last lines" in done.output
    assert "No module named nothing" in done.output
    assert emr.clusters[-1].state == "TERMINATED"
