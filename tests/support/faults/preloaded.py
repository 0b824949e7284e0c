"""What the server of `forks.py` imports, and runs once, before processes are forked from it: loops
as machine code, and modules that are imported where they are used."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from crawlrank.jobs.kernel.rank import packed_loops  # noqa: F401
from crawlrank.pipeline.data.csr import open_csr
from crawlrank.pipeline.engines.embedded.gen_graph import opic_graph, transposed, write_graph
from crawlrank.pipeline.ranking.opic import opic
from support.commands import preloaded  # noqa: F401
from support.faults import failpoints, stopping  # noqa: F401
from support.faults.flips import page_rank

with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    pairs = np.array([1, 0, 1], np.uint32), np.array([0, 1, 2], np.uint32)
    write_graph([[pairs]], 3, folder / "graph", budget=1 << 20, tmp=folder)
    page_rank(folder, folder)
    csr = open_csr(folder / "graph")
    out = transposed(csr, folder / "out", budget=1 << 20, tmp=folder)
    opic(opic_graph("graph", csr, out, np.ones(3), 1.0))
