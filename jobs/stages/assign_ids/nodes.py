"""What the stages of assign_ids share: which keys of a row become nodes."""

from __future__ import annotations

from crawlrank.jobs.kernel.formats.rows import CanonicalLink, UriRow
from crawlrank.jobs.mapreduce.job import Job


class NodesJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--nodes", choices=("linked", "all"), default="linked")

    def node_keys(self, row: CanonicalLink | UriRow) -> tuple[bytes, ...]:
        """The keys that become nodes; of a link, the target first."""
        every = self.options.nodes == "all"
        if isinstance(row, UriRow):
            return (row.key,) if every else ()
        return tuple(row) if every else (row.target_key,)
