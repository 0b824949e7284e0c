"""mrjob's runner of EMR, for clusters that run many jobs and end with the driver.

Changed against mrjob 0.7.4:

- Where the configuration names no region, boto3's own chain gives it (mrjob takes us-west-2).
- A cluster can be held for all jobs of a run. It ends by itself when it has been idle, by EMR's own
  policy (mrjob's is a script that kills the master).
- Refusals of AWS are errors of ours.
- The steps of a job that is interrupted are cancelled.
- What an earlier driver left at work is ended.
"""

from __future__ import annotations

import contextlib
from typing import Any

from mrjob.emr import EMRJobRunner

from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.kernel.machine.extras import cure_of
from crawlrank.jobs.mapreduce.runners import emr_orphans
from crawlrank.jobs.mapreduce.runners.cluster import WatchedCluster

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
            return emr_orphans.end_orphans(client, tag, self.named(), every)
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
