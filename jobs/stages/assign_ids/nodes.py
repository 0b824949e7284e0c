"""What the stages of assign_ids share: which keys a row makes nodes."""

from __future__ import annotations

from jobs.kernel.formats.lines import (
    URI_ROW,
    CanonicalLink,
    UriRow,
    parse_canonical_link,
    parse_else,
    parse_uri_row,
)
from jobs.mapreduce.job import Job

Row = UriRow | CanonicalLink


class NodesJob(Job):
    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--nodes", choices=("linked", "all"), default="linked")

    def node_keys(self, row: Row) -> tuple[bytes, ...]:
        """The keys that the row makes nodes; of a link, that of the target first."""
        every = self.options.nodes == "all"
        if isinstance(row, UriRow):
            return (row.key,) if every else ()
        return tuple(row) if every else (row.target_key,)


def row_of(line: bytes) -> Row:
    """Raises BadLine."""
    if line.count(b"\t") == 4:
        return parse_uri_row(line)
    return parse_else(parse_canonical_link, line, URI_ROW)
