"""Names of counters that the engines share, as the manifest and reports show them."""

from __future__ import annotations

SELF_LINKS = "dropped.self-links"
LINKS_WITHOUT_ID = "dropped.links-from-source-without-id"
SOURCES_WITHOUT_ID = "sources-without-id"
MAX_EXAMPLES = 20  # of what a step leaves out, in the manifest
