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
import time
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from click.testing import CliRunner
from support.crawls import INLINE
from support.paths import ROOT
from support.systems.cluster import inline
from support.systems.emr_around import (  # noqa: F401 - fixtures
    KEY,
    SECRET,
    TOKEN,
    bucket_in,
    emr_around,
    packaged,
    run_emr,
)
from support.systems.made_emr import MadeEmr

from jobs.extract_links import ExtractLinks
from jobs.gen_graph import GenGraph
from jobs.kernel.errors import BadInput, JobFailed
from jobs.mapreduce.launch import launch
from jobs.mapreduce.launcher import Launcher
from pipeline.cli import main
from pipeline.engines.text.emr_cluster import held_cluster

DATA = "s3://crawl/data"
INOUT = ("-input", "-output")
LINKS = b"0 a,b)/ a,b)/x\n1 a,b)/x a,b)/\n1 a,b)/x c)/\n"


def names(client: Any) -> set[str]:
    return {one["Key"] for one in client.list_objects_v2(Bucket="crawl").get("Contents", ())}


def read(client: Any, key: str) -> bytes:
    return bytes(client.get_object(Bucket="crawl", Key=key)["Body"].read())


def test_a_job_on_a_held_cluster(emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path) -> None:
    bucket.put_object(Bucket="crawl", Key="in/part-0", Body=LINKS)
    before = set(emr.clusters)
    with held_cluster(conf, tmp_path, DATA) as held:
        (cluster,) = set(emr.clusters) - before
        assert cluster.state == "WAITING"
        launcher = Launcher("emr", tmp_path, data="s3://crawl/data", conf=held, ranges=1)
        outcome = launch(GenGraph, ["s3://crawl/in"], "s3://crawl/data/graph", launcher)
    assert cluster.state == "TERMINATED"
    (tmp_path / "links").write_bytes(LINKS)
    near = launch(GenGraph, [tmp_path / "links"], tmp_path / "graph", inline(tmp_path))
    assert outcome.counters == near.counters
    assert outcome.rows["main"] == near.rows["main"] == 3


def test_what_is_asked_of_aws(emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path) -> None:
    bucket.put_object(Bucket="crawl", Key="asked/part-0", Body=LINKS)
    before, steps, asked = set(emr.clusters), len(emr.steps), []
    events = boto3._get_default_session().events  # moto forgets what it does not know
    events.register("before-call.emr.RunJobFlow", lambda params, **_: asked.append(params["body"]))
    with held_cluster(conf, tmp_path, DATA) as held:
        launcher = Launcher("emr", tmp_path, data="s3://crawl/asked", conf=held, ranges=1)
        launch(GenGraph, ["s3://crawl/asked"], "s3://crawl/g", launcher, ["--reducers", "3"])
    (cluster,) = set(emr.clusters) - before
    assert (cluster.release_label, cluster.log_uri) == ("emr-7.10.0", "s3://crawl/pkg/logs/")
    assert (cluster.service_role, cluster.job_flow_role) == (
        "EMR_DefaultRole",
        "EMR_EC2_DefaultRole",
    )
    assert cluster.keep_job_flow_alive_when_no_steps
    (request,) = asked
    assert json.loads(request)["AutoTerminationPolicy"] == {"IdleTimeout": 3600}
    (action,) = cluster.bootstrap_actions
    assert (action.script_path, action.args) == (
        "s3://crawl/pkg/bootstrap.sh",
        ["s3://crawl/pkg"],
    )
    groups = {group.role: group for group in cluster.instance_groups}
    sizes = {role: (group.instance_type, group.num_instances) for role, group in groups.items()}
    assert sizes == {
        "MASTER": ("m5.xlarge", 1),
        "CORE": ("m5.2xlarge", 2),
        "TASK": ("m5.2xlarge", 4),
    }
    markets = {role: group.market for role, group in groups.items()}
    assert markets == {"MASTER": "ON_DEMAND", "CORE": "ON_DEMAND", "TASK": "SPOT"}
    (step,) = emr.steps[steps:]
    assert "mapreduce.job.reduces=3" in step
    assert [step[step.index(o) + 1] for o in INOUT] == ["s3://crawl/asked", "s3://crawl/g/"]
    parts = {name for name in names(bucket) if name.startswith("g/")}
    assert parts == {"g/part-00000", "g/part-00001", "g/part-00002", "g/_SUCCESS"}


def test_a_task_that_fails_is_told_with_its_last_lines(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    bucket.put_object(Bucket="crawl", Key="lists/list", Body=b'["s3://crawl/no.warc"]\nno list\n')
    before = set(emr.clusters)
    with pytest.raises(JobFailed) as failed, held_cluster(conf, tmp_path, DATA) as held:
        launcher = Launcher("emr", tmp_path, data="s3://crawl/failed", conf=held, ranges=1)
        launch(ExtractLinks, ["s3://crawl/lists"], "s3://crawl/f", launcher, ["--listed"])
    assert failed.value.exit_code == 5
    assert "the job ExtractLinks failed" in str(failed.value)
    assert "JSONDecodeError: Expecting value: line 1 column 1" in str(failed.value)
    assert "Traceback" not in str(failed.value)
    assert not {name for name in names(bucket) if name.startswith("f/")}
    (cluster,) = set(emr.clusters) - before
    assert cluster.state == "TERMINATED"


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
    """As EMR does with the steps of a cluster that is gone."""
    while not cluster.steps:
        time.sleep(0.01)
    cluster.state = "TERMINATED_WITH_ERRORS"
    for step in cluster.steps:
        step.state = "CANCELLED"


def test_an_interruption_ends_the_cluster(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    before, over = set(emr.clusters), threading.Event()
    emr.held.set()
    main = threading.get_ident()

    def interrupt() -> None:
        """Again, if Python ignored it, as it came while an object was deleted."""
        while not any(cluster.steps for cluster in set(emr.clusters) - before):
            time.sleep(0.05)
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


def test_a_cluster_that_is_named_goes_on(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path
) -> None:
    bucket.put_object(Bucket="crawl", Key="in/part-0", Body=LINKS)
    with held_cluster(conf, tmp_path, DATA):
        cluster = emr.clusters[-1]
        before = len(emr.clusters)
        named = tmp_path / "named.conf"
        named.write_text(conf.read_text() + f"    cluster_id: {cluster.id}\n")
        (tmp_path / "tmp").mkdir()
        with held_cluster(named, tmp_path / "tmp", DATA) as held:
            launcher = Launcher("emr", tmp_path, data="s3://crawl/named", conf=held, ranges=1)
            launch(GenGraph, ["s3://crawl/in"], "s3://crawl/named/graph", launcher)
        assert (cluster.state, len(emr.clusters)) == ("WAITING", before)
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


def test_no_credential_is_logged_or_written(
    emr: MadeEmr, bucket: Any, conf: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By all of mrjob's and boto3's logs, into any file of ours or any object, by a run that
    fails after one that does not."""
    bucket.put_object(Bucket="crawl", Key="in/part-0", Body=LINKS)
    bucket.put_object(Bucket="crawl", Key="lists/list", Body=b"no list\n")
    caplog.set_level(logging.DEBUG, "mrjob")
    with held_cluster(conf, tmp_path, DATA) as held:
        launcher = Launcher("emr", tmp_path, data="s3://crawl/c", conf=held, ranges=1)
        launch(GenGraph, ["s3://crawl/in"], "s3://crawl/c/graph", launcher)
        with pytest.raises(JobFailed) as failed:
            launch(ExtractLinks, ["s3://crawl/lists"], "s3://crawl/c/x", launcher, ["--listed"])
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("mrjob")]
    assert ["GenGraph" in str(emr.steps[-2]), "ExtractLinks" in str(emr.steps[-1])] == [True, True]
    for name in ("gen_graph", "extract_links"):  # both jobs are logged, with their options
        assert any(name in message for message in ours), name
    assert sum("aws_secret_access_key" in message for message in ours) == 3  # and of the cluster
    seen = [text.encode() for text in (*ours, str(failed.value), repr(emr.steps))]
    seen += [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    seen += [read(bucket, name) for name in names(bucket)]
    seen += [repr(vars(cluster)).encode() for cluster in emr.clusters]
    for secret in (KEY, SECRET, TOKEN):
        assert not [what for what in seen if secret.encode() in inflated(what)]


def inflated(data: bytes) -> bytes:
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def test_without_boto3_the_message_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['boto3'] = None\n"
        "from jobs.gen_graph import GenGraph\n"
        "try:\n    GenGraph(['-r', 'emr', '--no-conf']).make_runner()\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.startswith("BadInput --runner emr: boto3 is not installed"), done.stderr
    assert "pip install 'boto3>=1.34'" in done.stdout


@pytest.mark.large
def test_a_run_from_archives_in_s3_to_a_precedence_file(
    emr: MadeEmr, bucket: Any, conf: Path, web: Path, tmp_path: Path
) -> None:
    """The same file as on this machine, by one cluster, which ends; again, and none is started."""
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


def test_ctrl_c_ends_the_cluster_of_a_run(
    emr: MadeEmr, bucket: Any, conf: Path, web: Path, tmp_path: Path
) -> None:
    """The command as a process of its own, while its first step is under way."""
    bucket.put_object(Bucket="crawl", Key="archives/web.warc.gz", Body=web.read_bytes())
    before = set(emr.clusters)
    words = ["--runner", "emr", "--data", "s3://crawl/data-c", "--cluster-conf", str(conf)]
    command = [sys.executable, "-m", "pipeline", "run", "s3://crawl/archives/web.warc.gz"]
    emr.held.set()
    try:
        with subprocess.Popen(
            [*command, "--work", str(tmp_path / "work"), *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            while process.poll() is None and not any(c.steps for c in set(emr.clusters) - before):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60)
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
