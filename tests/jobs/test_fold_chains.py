"""fold_chains: one job in memory and its stages find the same ends, those of a walk by hand."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from support.systems.cluster import on_cluster

from crawlrank.jobs import fold_chains
from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.mapreduce.launcher import Launcher

KINDS = (b"canonical", b"redirect")


def walked(candidates: list[tuple[bytes, bytes, bytes]]) -> tuple[list[bytes], Counter[str]]:
    """Folds and counters, by one step after the other from every key."""
    targets: defaultdict[bytes, set[bytes]] = defaultdict(set)
    kinds: dict[bytes, bytes] = {}
    for key, kind, target in candidates:
        targets[key].add(target)
        kinds[key] = kind
    to = {key: next(iter(found)) for key, found in targets.items() if len(found) == 1}
    folds, counters = [], Counter({"unfolded.ambiguous": len(targets) - len(to)})
    for key in to:
        end, hops = to[key], 1
        while end in to and hops <= len(to):
            end, hops = to[end], hops + 1
        if end in to:
            counters["unfolded.loop"] += 1
        else:
            counters[f"folds.{kinds[key].decode()}"] += 1
            folds.append(b"\t".join((key, end, kinds[key], b"%d" % hops)))
    return sorted(folds), +counters


@pytest.mark.parametrize("small", [1 << 28, 0], ids=["one job", "stages"])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_ends_are_those_of_a_walk(seed: int, small: int, tmp_path: Path) -> None:
    """Chains, loops, what leads into them, keys with several targets, a chain of forty steps."""
    rng = random.Random(seed)
    candidates = [
        (b"k%d" % key, KINDS[key % 2], b"k%d" % rng.randrange(80))
        for key in (*range(60), *rng.sample(range(60), 4))
    ]
    candidates = [row for row in candidates if row[0] != row[2]]
    candidates += [(b"l%02d" % step, KINDS[0], b"l%02d" % (step + 1)) for step in range(40)]
    folds, counters = walked(candidates)
    data = f"file://{tmp_path}/data"
    lines = [b"\t".join(row) + b"\n" for row in rng.sample(candidates, len(candidates))]
    stores.write(f"{data}/candidates/part-00000", b"".join(lines))
    launcher = Launcher(
        "inline", tmp_path, data=data, ranges=3, small=small, job_class=on_cluster(3, seed)
    )
    outcome = fold_chains.run([f"{data}/candidates"], f"{data}/folds", launcher)
    rows = [line.rstrip() for line in stores.lines(f"{data}/folds") if not side_name(line)]
    assert sorted(rows) == folds
    assert outcome.counters - Counter({"ended": outcome.counters["ended"]}) == counters
