"""select-links: whose links count where a page was captured several times, and which keys fold.

Processes of the pool take from the parts what the decisions need (selection_parts.py), one process
decides (decisions.py), and the pool writes the links that count. selected/PART.parquet: target,
source, hop; folds/folds.parquet: key, target_key, kind, hops, by key.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.pipeline.data.database import database
from crawlrank.pipeline.engines.embedded.extraction import PROCESS_BYTES, part_results
from crawlrank.pipeline.engines.embedded.selection.decisions import (
    decide,
    write_folds,
    write_verdicts,
)
from crawlrank.pipeline.engines.embedded.selection.selection_parts import (
    SelectionPart,
    prepare,
    select,
)

FOLDS = "folds.parquet"


def select_links(
    links: Path,
    captures: Path,
    selected: Path,
    folds: Path,
    rules: CaptureRules,
    *,
    budget: int,
    tmp: Path,
    processes: int = 1,
    www: Www = "strip",
) -> Counter[str]:
    """Write folds and, with rules.latest only, selected links, in new folders. Returns counters.

    links, captures: folders of parts with timestamps. budget: bytes of memory for all processes,
    besides some tens of bytes for each key that folds. tmp: a folder for what does not fit. Raises
    BadInput for a part that cannot be read.
    """
    with tempfile.TemporaryDirectory(dir=tmp) as name:
        folder = Path(name)
        parts = [
            SelectionPart(
                number, path, captures / path.name, selected / path.name, folder, www,
                rules.latest,
            )
            for number, path in enumerate(sorted(links.glob("*.parquet")))
        ]  # fmt: skip
        groups = part_results(prepare, parts, processes, lambda part: part.links)
        left = budget - sum(groups) - PROCESS_BYTES  # a byte for each verdict
        with database(folder, budget=left, threads=processes) as (db, near):
            (near / "parts").symlink_to(folder.absolute())
            counters = decide(db, near / "parts", rules, www)
            counters += write_folds(db, folds / FOLDS, rules.circle_target)
            if rules.latest:
                write_verdicts(db, folder, groups)
        if rules.latest:
            selected.mkdir(parents=True)
            counts = part_results(select, parts, processes, lambda part: part.links)
            counters += sum(counts, Counter())
    return counters
