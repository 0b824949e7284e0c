"""gen_graph: links with ids to the lines of the graph that PageRank iterates on.

Reads input links (`id target_key source_key`) and, for nodes without incoming links, map rows
(`id key`). Writes one line a node, `id<TAB>1.0<TAB>O:id,id,…`, targets ascending; dangling nodes
point to `dummy`, and one line `dummy<TAB>1.0<TAB>O:dummy` ends the part that it falls into.

Self-links and links from sources without an id are counted and dropped. Through the shuffle go,
under the key of a node, its id once a map task and the ids it points to (combined in the mapper's
memory, at most COMBINED ids at a time): about a line and a half for an edge, as long as a key and
an id. Input sorted by target gains little from combining, input sorted by source nearly all.
"""

from __future__ import annotations

from collections.abc import Iterator

from jobs.base import Job, Pair
from jobs.kernel.lines import (
    DUMMY,
    START_SCORE,
    GraphLine,
    format_graph_line,
    parse_input_link,
    parse_map_row,
)

COMBINED = 200_000
IDENTITY, TARGETS = b"I", b"T"
DUMMY_KEY = b"~~dummy"  # no key of surt's starts with two tildes, and it sorts behind them all


class GenGraph(Job):
    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self._known: tuple[bytes, bytes] = (b"", b"")
        self._targets: dict[bytes, list[bytes]] = {}
        self._held = 0

    def map_line(self, line: bytes) -> Iterator[Pair]:
        if line.count(b" ") + line.count(b"\t") == 1:
            identity, key = parse_map_row(line)
            yield key, IDENTITY + identity
            return
        identity, key, source = parse_input_link(line)
        if (key, identity) != self._known:
            self._known = (key, identity)
            yield key, IDENTITY + identity
        self._targets.setdefault(source, []).append(identity)
        self._held += 1
        if self._held >= COMBINED:
            yield from self._flush()

    def _flush(self) -> Iterator[Pair]:
        for source, targets in self._targets.items():
            yield source, TARGETS + b",".join(targets)
        self._targets.clear()
        self._held = 0

    def map_end(self) -> Iterator[Pair]:
        yield from self._flush()
        yield DUMMY_KEY, IDENTITY

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if key == DUMMY_KEY:
            yield format_graph_line(GraphLine(DUMMY, START_SCORE, [DUMMY]))
            return
        identities: set[bytes] = set()
        targets: set[bytes] = set()
        links = 0
        for value in values:
            if value[:1] == IDENTITY:
                identities.add(value[1:])
            else:
                found = value[1:].split(b",")
                links += len(found)
                targets.update(found)
        yield from self._node(key, sorted(identities), targets, links)

    def _node(
        self, key: bytes, identities: list[bytes], targets: set[bytes], links: int
    ) -> Iterator[bytes]:
        if not identities:
            self.counts["dropped.links-from-source-without-id"] += links
            return
        if len(identities) > 1:
            yield from self.bad_input_line(
                where=f"key {key.decode('ascii', 'replace')}",
                found=f"has the ids {identities[0].decode()} and {identities[1].decode()}",
                expected="one id for a key",
                cure="Make input links and map with assign-ids.",
            )
            return
        if identities[0] in targets:
            self.counts["dropped.self-links"] += 1
            targets.discard(identities[0])
        self.counts["nodes"] += 1
        self.counts["edges"] += len(targets)
        self.counts["dangling"] += not targets
        ordered = sorted(targets, key=int) if targets else [DUMMY]
        yield format_graph_line(GraphLine(identities[0], START_SCORE, ordered))


if __name__ == "__main__":
    GenGraph.run()
