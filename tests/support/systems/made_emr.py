"""An EMR of the tests' own: moto's, whose clusters a thread makes run their steps, and where steps
can be cancelled. What a step runs by bash finds its commands in the folder `bin`.

Their logs lie in the bucket where EMR puts them: steps/ID/syslog.gz of the step, with the name of
the YARN application, and containers/APPLICATION/CONTAINER/stderr.gz of the task that failed.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from boto3.session import Session

from support.systems.made_streaming import Store, TaskFailed, run_streaming

LOG = """\
2026-01-01 00:00:00,000 INFO org.apache.hadoop.yarn.client.api.impl.YarnClientImpl (main): \
Submitted application {application}
2026-01-01 00:00:01,000 INFO org.apache.hadoop.mapreduce.Job (main): Running job: {job}
"""
SYSLOG = """\
2026-01-01 00:00:02,000 WARN [main] org.apache.hadoop.mapred.YarnChild: Exception running child : \
java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)

"""
LOOKS = 0.02  # seconds between two looks at what there is to do


class MadeEmr:
    """clusters: those of the region, as moto keeps them. steps: the arguments of each that ran.

    held: while it is set, steps stay as they are. stuck: ids of steps that always do.
    """

    def __init__(self, url: str, scratch: Path) -> None:
        self.url, self._scratch = url, scratch
        self.steps: list[list[str]] = []
        self.held = threading.Event()
        self.stuck = set[str]()
        self.bin = scratch / "bin"
        self._ended = threading.Event()
        self.between_calls = threading.Lock()  # by which no cluster is seen half made
        # of its own thread: clients of the default session may not be made in two at once
        self._session = Session()

    @property
    def clusters(self) -> list[Any]:
        from moto.emr.models import emr_backends

        accounts = list(emr_backends.values())  # lists, as the server's thread adds to all of them
        regions = [backend for account in accounts for backend in list(account.values())]
        return [cluster for backend in regions for cluster in list(backend.clusters.values())]

    def work(self) -> None:
        while not self._ended.wait(LOOKS):
            with self.between_calls:
                steps = self._begun()
            for cluster, step in steps:
                if self._may_run(cluster, step):
                    self._run(cluster, step)

    def end(self) -> None:
        self._ended.set()

    def _begun(self) -> list[tuple[Any, Any]]:
        """(cluster, step) of all that there are."""
        for cluster in self.clusters:
            for application in cluster.applications:
                application.version = "3.4.1"  # which EMR tells, and moto does not
        return [(cluster, step) for cluster in self.clusters for step in cluster.steps]

    def _may_run(self, cluster: Any, step: Any) -> bool:
        ended = cluster.state.startswith("TERMINAT") or self.held.is_set()
        return step.state in ("PENDING", "RUNNING") and not ended and step.id not in self.stuck

    def _run(self, cluster: Any, step: Any) -> None:
        store = Store(self._session.client("s3", endpoint_url=self.url))
        number = len(self.steps)
        self.steps.append(step.args)
        step.start()
        try:
            assert step.jar == "command-runner.jar"
            self._command(step.args, store, self._scratch / str(number))
        except Exception as error:  # noqa: BLE001 - a step that never ends is waited for for ever
            said = str(error) if isinstance(error, TaskFailed) else traceback.format_exc()
            _log(store, f"{cluster.log_uri}{cluster.id}", step.id, number, said)
            step.state = "FAILED"
        else:
            step.state = "COMPLETED"
        step.end_date_time = step.start_date_time
        if cluster.state == "RUNNING":
            cluster.state = "WAITING"

    def _command(self, args: list[str], store: Store, scratch: Path) -> None:
        if args[0] == "hadoop-streaming":
            run_streaming(args[1:], store, scratch)
            return
        assert args[0] == "bash"
        env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}"}
        done = subprocess.run(args, env=env, capture_output=True, text=True)
        if done.returncode:
            raise TaskFailed(done.stderr)


def _cancel_steps(response: Any) -> Any:
    """The call that moto lacks."""
    from moto.core.responses import ActionResult

    assert response._get_param("StepCancellationOption") == "TERMINATE_PROCESS"
    asked = response._get_param("StepIds")
    steps = response.backend.list_steps(response._get_param("ClusterId"), step_ids=asked)
    for step in steps:
        step.state = "CANCELLED"
    return ActionResult({"CancelStepsInfoList": [{"StepId": step.id} for step in steps]})


def _log(store: Store, folder: str, step: str, number: int, said: str) -> None:
    application = f"application_1700000000000_{number:04}"
    text = LOG.format(application=application, job=application.replace("application", "job"))
    store.put(f"{folder}/steps/{step}/syslog.gz", gzip.compress(text.encode()))
    container = f"{folder}/containers/{application}/container_1700000000000_{number:04}_01_000002"
    store.put(f"{container}/stderr.gz", gzip.compress(said.encode()))
    store.put(f"{container}/syslog.gz", gzip.compress(SYSLOG.encode()))


@contextmanager
def made_emr(scratch: Path) -> Iterator[MadeEmr]:
    """While it serves, on loopback at a free port."""
    from moto.core.responses import BaseResponse
    from moto.emr.responses import ElasticMapReduceResponse
    from moto.server import ThreadedMotoServer

    def call_action(response: Any) -> Any:
        with emr.between_calls:
            return BaseResponse.call_action(response)

    ElasticMapReduceResponse.cancel_steps = _cancel_steps  # type: ignore[attr-defined]
    ElasticMapReduceResponse.call_action = call_action  # type: ignore[method-assign]

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    emr = MadeEmr(f"http://{host}:{port}", scratch)
    thread = threading.Thread(target=emr.work)
    thread.start()
    try:
        yield emr
    finally:
        emr.end()
        thread.join()
        # moto keeps clusters and buckets for the process: the next EMR shall not run these steps
        urlopen(Request(f"{emr.url}/moto-api/reset", method="POST")).close()
        server.stop()
