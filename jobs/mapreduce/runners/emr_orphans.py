"""Ends what a driver left at work on EMR: clusters that bear the tag of its data, and its steps on
a cluster that others use, too. Nothing else is touched.

The names of both begin with the tag, so clusters of others need not be described. A cancelled step
only loses its client on the master. Its applications on YARN go on until a step of ours ends them
by the same tag.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from crawlrank.jobs.kernel.errors import JobFailed
from crawlrank.jobs.mapreduce.runners.applications import AT_WORK, CLUSTER_TAG, LISTED

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

    named: the cluster of the configuration, which goes on. every: seconds between two looks. Raises
    what boto3 raises, and JobFailed for what does not end within PATIENCE.
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
