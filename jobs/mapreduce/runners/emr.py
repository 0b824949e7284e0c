"""mrjob's runner of EMR, for clusters that run many jobs and end with the driver.

Changed against mrjob 0.7.4:

- Where the configuration names no region, boto3's own chain gives it (mrjob takes us-west-2).
- A cluster can be held for all jobs of a run. It ends by itself when it has been idle, by EMR's own
  policy (mrjob's is a script that kills the master).
- Refusals of AWS are errors of ours.
- The steps of a job that is interrupted are cancelled.
- What an earlier driver left at work is ended: clusters that bear the tag of its data, and its
  steps on a cluster that others use, too. Nothing else is touched.

The names of clusters and steps begin with the tag, so clusters of others need not be described. A
cancelled step only loses its client on the master. Its applications on YARN continue until a step
of ours ends them by the same tag.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mrjob.emr import EMRJobRunner

from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.kernel.machine.extras import cure_of
from crawlrank.jobs.mapreduce.runners import CLUSTER_TAG
from crawlrank.jobs.mapreduce.runners.applications import AT_WORK, LISTED
from crawlrank.jobs.mapreduce.runners.cluster import WatchedCluster

ACTIVE = ("STARTING", "BOOTSTRAPPING", "RUNNING", "WAITING", "TERMINATING")  # clusters
PENDING = ("PENDING", "CANCEL_PENDING", "RUNNING")  # steps
PATIENCE = 1800  # seconds; a cluster takes some minutes to end
END_APPLICATIONS = (
    "set -e -o pipefail; left=$(yarn application -list -appTags {tag} -appStates {states}); "
    "for application in $(grep -oE '{listed}' <<< \"$left\"); "
    'do yarn application -kill "$application"; done'
)
EmrEntry = dict[str, Any]  # a cluster or step, as AWS lists it


def end_orphans(client: Any, tag: str, named: str | None, every: float) -> int:
    """End clusters and steps and wait until they have ended; returns their number.

    named: the cluster of the configuration, which continues. every: seconds between two looks.
    Raises what boto3 raises, and JobFailed for what does not end within PATIENCE.
    """
    clusters = [cluster for cluster in _clusters(client, tag) if cluster != named]
    if clusters:
        client.terminate_job_flows(JobFlowIds=clusters)
        _await(lambda: set(clusters) & set(_clusters(client, tag)), "cluster", every)
    return len(clusters) + (_end_steps(client, tag, named, every) if named else 0)


def _clusters(client: Any, tag: str) -> list[str]:
    pages = client.get_paginator("list_clusters").paginate(ClusterStates=list(ACTIVE))
    candidates = [entry["Id"] for entry in _begin_with(tag, pages, "Clusters")]
    return [cluster for cluster in candidates if _bears(client, cluster, tag)]


def _bears(client: Any, cluster: str, tag: str) -> bool:
    described = client.describe_cluster(ClusterId=cluster)["Cluster"]
    return {"Key": CLUSTER_TAG, "Value": tag} in described.get("Tags", ())


def _begin_with(tag: str, pages: Any, kind: str) -> Iterator[EmrEntry]:
    return (entry for page in pages for entry in page[kind] if entry["Name"].startswith(f"{tag}-"))


# steps


def _end_steps(client: Any, tag: str, cluster: str, every: float) -> int:
    """End steps at work, and applications of steps that were cancelled before."""
    at_work = _steps(client, cluster, tag, PENDING)
    if at_work:
        client.cancel_steps(
            ClusterId=cluster, StepIds=at_work, StepCancellationOption="TERMINATE_PROCESS"
        )
        _await(lambda: _steps(client, cluster, tag, PENDING), "step", every)
    if at_work or _left_applications(client, cluster, tag):
        _end_applications(client, cluster, tag, every)
    return len(at_work)


def _steps(client: Any, cluster: str, tag: str, states: Sequence[str]) -> list[str]:
    pages = client.get_paginator("list_steps").paginate(ClusterId=cluster, StepStates=list(states))
    return [entry["Id"] for entry in _begin_with(tag, pages, "Steps")]


def _left_applications(client: Any, cluster: str, tag: str) -> bool:
    """Whether a step was cancelled, as by an interruption, after applications were ended last."""
    pages = client.get_paginator("list_steps").paginate(
        ClusterId=cluster, StepStates=["COMPLETED", "CANCELLED"]
    )
    for entry in _begin_with(tag, pages, "Steps"):  # the newest first
        if entry["Status"]["State"] == "CANCELLED":
            return True
        if entry["Name"] == _ending(tag):
            return False
    return False


def _ending(tag: str) -> str:
    return f"{tag}-end-orphans"


def _end_applications(client: Any, cluster: str, tag: str, every: float) -> None:
    script = END_APPLICATIONS.format(tag=tag, states=AT_WORK, listed=LISTED)
    step = {
        "Name": _ending(tag),
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["bash", "-c", script]},
    }
    (number,) = client.add_job_flow_steps(JobFlowId=cluster, Steps=[step])["StepIds"]
    _await(lambda: {number} & set(_steps(client, cluster, tag, PENDING)), "step", every)
    if number not in _steps(client, cluster, tag, ["COMPLETED"]):
        raise JobFailed(
            f"the step {number} of the cluster {cluster}, which ends what an earlier run left on"
            " YARN, failed: see its log"
        )


def _await(left: Callable[[], Any], kind: str, every: float) -> None:
    until = time.monotonic() + PATIENCE
    while still := left():
        if time.monotonic() > until:
            names = ", ".join(sorted(still))
            raise JobFailed(f"the {kind} {names} of an earlier run has not ended: end it by hand")
        time.sleep(every)


try:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:
    expected = "the package that speaks to AWS"
    raise BadInput("--runner emr", "boto3 is not installed", expected, cure_of("emr")) from error

IDLE = 3600  # seconds
REFUSED = (BotoCoreError, ClientError)


class EmrRunner(WatchedCluster, EMRJobRunner):  # type: ignore[misc]
    """Runs jobs as steps of the cluster `cluster_id`, or of a cluster for this job alone."""

    _held = False

    @classmethod
    def _default_opts(cls) -> dict[str, Any]:
        region = boto3.session.Session().region_name
        return {**super()._default_opts(), **({"region": region} if region else {})}

    def run(self) -> None:
        try:
            super().run()
        except REFUSED as error:
            raise refused(error) from error
        except KeyboardInterrupt:
            self._cancel()
            raise

    def _cancel(self) -> None:
        with contextlib.suppress(*REFUSED):  # our own cluster is terminated in any case
            self.make_emr_client().cancel_steps(
                ClusterId=self._cluster_id,
                StepIds=self._step_ids,
                StepCancellationOption="TERMINATE_PROCESS",
            )

    def end_orphans(self, tag: str) -> int:
        """End clusters that bear the tag, and its steps on the named cluster; returns their number.
        Raises JobFailed, with the permission that is missing."""
        every = float(self._opts["check_cluster_every"])
        client = self.make_emr_client()
        try:
            return end_orphans(client, tag, self.named(), every)
        except REFUSED as error:
            message = f"jobs of an earlier run cannot be looked for or ended: {error}"
            if operation := getattr(error, "operation_name", ""):
                message += f"\nAllow elasticmapreduce:{operation}; docs/emr.md lists what it needs."
            raise JobFailed(message) from error

    # a cluster for several jobs

    def named(self) -> str | None:
        name: str | None = self._opts["cluster_id"]
        return name

    def hold(self) -> str:
        """Start a cluster that waits for jobs; returns its id. Raises JobFailed."""
        self._held = True
        try:
            self._add_bootstrap_files_for_upload()
            self._upload_local_files()
            self._cluster_id = self._create_cluster()
        except BaseException as error:
            if self._cluster_id:
                self.release()
            if isinstance(error, REFUSED):
                raise refused(error) from error
            raise
        return str(self._cluster_id)

    def _add_tags(self, tags: dict[str, str], cluster_id: str) -> None:
        """mrjob tags a new cluster first. Should AWS refuse that, the id is known by then."""
        self._cluster_id = cluster_id
        super()._add_tags(tags, cluster_id)

    def release(self) -> None:
        """End the held cluster. Raises JobFailed with the command that ends it by hand."""
        cluster, self._cluster_id = self._cluster_id, None
        try:
            self.make_emr_client().terminate_job_flows(JobFlowIds=[cluster])
        except REFUSED as error:
            region = self._opts["region"]
            by_hand = f"aws emr terminate-clusters --region {region} --cluster-ids {cluster}"
            raise JobFailed(
                f"the cluster {cluster} may run on ({error}); end it: {by_hand}"
            ) from error

    def _cluster_kwargs(self, persistent: bool = False) -> dict[str, Any]:
        settings: dict[str, Any] = super()._cluster_kwargs(persistent)
        if self._held:
            settings["Instances"]["KeepJobFlowAliveWhenNoSteps"] = True
            settings.setdefault("AutoTerminationPolicy", {"IdleTimeout": IDLE})
        return settings


def refused(error: Exception) -> JobFailed:
    return JobFailed(f"AWS refused or could not be reached: {error}")
