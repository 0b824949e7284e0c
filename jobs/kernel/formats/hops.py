"""The hops of links: one letter each, Heritrix's and one more.

| hop | what leads from the page to its target |
|---|---|
| L | a link that a reader follows |
| R | a redirect or a refresh, which a browser follows |
| E | an embed: the page shows or needs the target |
| X | a guess, or a hint for machines |
| I | an inference of Heritrix's, such as favicon.ico |
| P | a prerequisite: robots.txt, DNS |
| C | the page names the target as its own canonical address; not one of Heritrix's |
"""

from __future__ import annotations

NAV_HOPS = "LR"  # that `--links nav` keeps
LINK_HOPS = "LREX"  # that may become edges of the graph
NOFOLLOW_HOPS = "LX"  # that a page can ask not to follow
CANONICAL_HOP = "C"
FOLD_HOPS = "R" + CANONICAL_HOP  # that say where else a page is
UNLINKED_HOPS = "IP" + CANONICAL_HOP  # that never become edges
