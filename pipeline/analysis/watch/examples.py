"""Graphs that are known from books and programs.

six: the graph of Langville and Meyer's book (2006), with a page without links, in the numbers of
networkx, whose tests have its PageRank for the damping 0.9. web: scale_free_graph(24, seed=3) of
networkx (Bollobás, Borgs, Chayes, Riordan, 2003), without self-links and repeated links. hubs: the
graph with which aduana, the crawler's backend of scrapinghub, explains HITS, and later OPIC-HITS.
"""

from __future__ import annotations

from crawlrank.pipeline.analysis.watch.graphs import Drawn

EXAMPLES = (
    Drawn(
        "six",
        "Six pages",
        "From Langville and Meyer, Google's PageRank and Beyond (2006). Page 2 has no links.",
        ("1", "2", "3", "4", "5", "6"),
        ((1, 2), (), (0, 1, 4), (4, 5), (3, 5), (3,)),
    ),
    Drawn(
        "web",
        "Twenty-four pages, scale-free",
        "A random graph that grew as the web does: well-known pages get more links.",
        tuple(map(str, range(24))),
        (
            (1,), (0, 2, 9, 19, 20), (0, 1, 6), (0, 1, 6, 9), (0, 1, 6, 9, 13, 15), (0, 1),
            (1, 20), (0,), (0,), (), (0, 9), (9,), (0,), (), (1,), (), (0,), (9,), (9,), (), (),
            (6,), (15,), (6,),
        ),
    ),
    Drawn(
        "hubs",
        "Hubs and authorities",
        "The graph that explains HITS: page 2 is the best hub, pages 1 and 3 are authorities.",
        ("0", "1", "2", "3"),
        ((1,), (3,), (0, 1, 3), ()),
    ),
)  # fmt: skip
