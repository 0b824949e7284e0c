"""mrjob's runner of EMR, for clusters that run many jobs and end with the driver.

Changed against mrjob 0.7.4: the region is the one of boto3's own chain, where the configuration
names none (mrjob takes us-west-2); a cluster can be held for all jobs of a run, and ends by itself
when it has been idle (EMR's own policy; mrjob's is a script that kills the master); refusals of AWS
are errors of ours; steps of a job that is interrupted are cancelled; what an earlier driver left at
work is ended.
"""

from __future__ import annotations

import contextlib
from typing import Any

from mrjob.emr import EMRJobRunner

from jobs.kernel.errors import BadInput, JobFailed
from jobs.mapreduce.runners import emr_orphans
from jobs.mapreduce.runners.cluster import _Told

try:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as error:
    found, cure = "boto3 is not installed", "pip install 'crawlrank[emr]'"
    raise BadInput("--runner emr", found, "the package that speaks to AWS", cure) from error

IDLE = 3600  # seconds
REFUSED = (BotoCoreError, ClientError)


class EmrRunner(_Told, EMRJobRunner):  # type: ignore[misc]
    """Steps of a cluster that is named (`cluster_id`), or of one for this job alone."""

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
        with contextlib.suppress(*REFUSED):  # a cluster of our own is terminated in any case
            self.make_emr_client().cancel_steps(
                ClusterId=self._cluster_id,
                StepIds=self._step_ids,
                StepCancellationOption="TERMINATE_PROCESS",
            )

    def end_orphans(self, tag: str) -> int:
        """Clusters that bear the tag, and steps of it on the cluster that is named. Raises
        JobFailed, with the permission that is missing."""
        every = float(self._opts["check_cluster_every"])
        client = self.make_emr_client()
        try:
            return emr_orphans.end_orphans(client, tag, self.named(), every)
        except REFUSED as error:
            said = f"jobs of an earlier run cannot be looked for or ended: {error}"
            if operation := getattr(error, "operation_name", ""):
                said += f"\nAllow elasticmapreduce:{operation}; docs/emr.md lists what it needs."
            raise JobFailed(said) from error

    # a cluster for several jobs

    def named(self) -> str | None:
        """The cluster of the configuration."""
        name: str | None = self._opts["cluster_id"]
        return name

    def hold(self) -> str:
        """Start a cluster that waits for jobs; its id. Raises JobFailed."""
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
        """The first that is done with a new cluster; should it be refused, the cluster is known."""
        self._cluster_id = cluster_id
        super()._add_tags(tags, cluster_id)

    def release(self) -> None:
        """End the cluster that is held. Raises JobFailed with the command that ends it by hand."""
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
        asked: dict[str, Any] = super()._cluster_kwargs(persistent)
        if self._held:
            asked["Instances"]["KeepJobFlowAliveWhenNoSteps"] = True
            asked.setdefault("AutoTerminationPolicy", {"IdleTimeout": IDLE})
        return asked


def refused(error: Exception) -> JobFailed:
    return JobFailed(f"AWS refused or could not be reached: {error}")
