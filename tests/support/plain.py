"""The recipe in plain Python, on small data in memory: the oracle of the jobs' rows.

Sets and dicts where the jobs sort and stream; scores by exact fractions, rounded at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from crawlrank.jobs.kernel.keys.keys import key_of

Links = Iterable[bytes]


def canonical_links(links: Links) -> list[bytes]:
    """`target_key source_key` of all links but those of hops I and P, sorted and distinct."""
    found = set()
    for line in links:
        target, source, hop = line.split(b" ")
        if hop not in (b"I", b"P") and key_of(target) and key_of(source):
            found.add(b"%s %s" % (key_of(target), key_of(source)))
    return sorted(found)


def uris(links: Links, captures: Links) -> list[bytes]:
    """`key URI captures links last`, with tabs, sorted."""
    captured: dict[bytes, list[bytes]] = defaultdict(list)
    linked: dict[bytes, int] = defaultdict(int)
    for line in links:
        target, source, hop = line.split(b" ")
        if hop not in (b"I", b"P") and key_of(target) and key_of(source):
            linked[target] += 1
            linked[source] += 0
    for line in captures:
        uri, timestamp = line.split(b"\t")[:2]
        if key_of(uri):
            captured[uri].append(timestamp)
    return sorted(
        b"%s\t%s\t%d\t%d\t%s"
        % (key_of(u), u, len(captured[u]), linked[u], max(captured[u], default=b"-"))
        for u in {*captured, *linked}
    )


def ids(canonical: Links, spellings: Links = (), nodes: str = "linked") -> dict[bytes, int]:
    """The rank of every key that gets an id."""
    keys = {line.split(b" ")[0] for line in canonical}
    if nodes == "all":
        keys |= {line.split(b" ")[1] for line in canonical}
        keys |= {line.split(b"\t")[0] for line in spellings}
    return {key: number for number, key in enumerate(sorted(keys))}


def input_links(canonical: Links, numbers: dict[bytes, int]) -> list[bytes]:
    return sorted(b"%d %s" % (numbers[line.split(b" ")[0]], line) for line in canonical)


def graph(canonical: Links, numbers: dict[bytes, int]) -> dict[int, list[int]]:
    """Targets of every node, ascending."""
    out: dict[int, set[int]] = {number: set() for number in numbers.values()}
    for line in canonical:
        target, source = line.split(b" ")
        if source in numbers and source != target:
            out[numbers[source]].add(numbers[target])
    return {node: sorted(targets) for node, targets in out.items()}


def graph_lines(targets: dict[int, list[int]]) -> list[bytes]:
    lines = [
        b"%d\t1.0\tO:%s" % (node, b",".join(b"%d" % target for target in found) or b"dummy")
        for node, found in targets.items()
    ]
    return [*lines, b"dummy\t1.0\tO:dummy"]


def scores_after(rounds: int, targets: dict[int, list[int]]) -> dict[int, float]:
    """Scores with every sum exact and then rounded once, as the contract says; no dummy."""
    scores = dict.fromkeys(targets, 1.0)
    for _ in range(rounds):
        sums = {node: Fraction(0) for node in targets}
        for node, found in targets.items():
            for target in found:
                sums[target] += Fraction(scores[node] / len(found))
        scores = {node: 0.15 + 0.85 * float(total) for node, total in sums.items()}
    return scores
