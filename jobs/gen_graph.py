"""gen_graph: links with ids to the lines of the graph that PageRank iterates on.

Reads input links (`id target_key source_key`) and, for nodes without incoming links, map rows
(`id key`). Writes one line a node, `id<TAB>1.0<TAB>O:id,id,…`, targets ascending; dangling nodes
point to `dummy`, and one line `dummy<TAB>1.0<TAB>O:dummy` ends the part that it falls into.

Self-links and links from sources without an id are counted and dropped; these sources are counted,
too. The shuffle has, under the key of a node, its id once a map task and the ids it points to
(combined in the mapper's memory, at most COMBINED ids at a time), and under its id its key, so that
an id with two keys is found. That is at most two to three short lines an edge, as long as a key and
an id. Combining saves little for input sorted by target, and nearly all for input sorted by source.
"""

from __future__ import annotations

from collections.abc import Iterator

from crawlrank.jobs.kernel.formats.datasets import MAP
from crawlrank.jobs.kernel.formats.lines import (
    DUMMY,
    START_SCORE,
    format_graph_line,
    parse_else,
    parse_input_link,
    parse_map_row,
)
from crawlrank.jobs.kernel.formats.order import ascending_id
from crawlrank.jobs.kernel.formats.rows import (
    LINKS_WITHOUT_ID,
    SELF_LINKS,
    SOURCES_WITHOUT_ID,
    GraphLine,
)
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job, KeyValue

IDENTITY, KEY, TARGETS = b"I", b"K", b"T"
ID_KEY = b"~~"  # before an id; no key of surt's starts with two tildes
DUMMY_KEY = ID_KEY + DUMMY  # sorts after all keys and ids


class GenGraph(Job):
    DATASET = "graph"

    def __init__(self, args: list[str] | None = None) -> None:
        super().__init__(args)
        self._known: set[tuple[bytes, bytes]] = set()
        self._targets: dict[bytes, list[bytes]] = {}
        self._held = 0

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--links-only", action="store_true", help="refuse lines that are rows of a map"
        )

    def map_line(self, line: bytes) -> Iterator[KeyValue]:
        if line.count(b" ") + line.count(b"\t") == 1 and not self.options.links_only:
            yield from self._identified(*parse_map_row(line))
            return
        identity, key, source = parse_else(parse_input_link, line, MAP)
        yield from self._identified(identity, key)
        self._targets.setdefault(source, []).append(identity)
        self._held += 1
        if self._held >= self.COMBINED:
            yield from self._flush()

    def _identified(self, identity: bytes, key: bytes) -> Iterator[KeyValue]:
        """The id under its key, and the key under its id, as neither may have two."""
        if (identity, key) in self._known:
            return
        if len(self._known) >= self.COMBINED:
            self._known.clear()
        self._known.add((identity, key))
        yield key, IDENTITY + identity
        yield ID_KEY + ascending_id(identity), KEY + key

    def _flush(self) -> Iterator[KeyValue]:
        for source, targets in self._targets.items():
            yield source, TARGETS + b",".join(targets)
        self._targets.clear()
        self._held = 0

    def map_end(self) -> Iterator[KeyValue]:
        yield from self._flush()
        yield DUMMY_KEY, IDENTITY

    def reduce_key(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        if key == DUMMY_KEY:
            yield format_graph_line(GraphLine(DUMMY, START_SCORE, [DUMMY]))
            return
        if key.startswith(ID_KEY):
            yield from self._check_id(key, values)
            return
        identities: set[bytes] = set()
        targets: set[bytes] = set()
        links = 0
        for value in values:
            if value[:1] == IDENTITY:
                identities.add(value[1:])
            else:
                linked = value[1:].split(b",")
                links += len(linked)
                targets.update(linked)
        yield from self._node(key, sorted(identities), targets, links)

    def _check_id(self, key: bytes, values: Iterator[bytes]) -> Iterator[bytes]:
        """Report an id with two keys. values: its keys."""
        first = next(values)
        second = next((value for value in values if value != first), None)
        if second is None:
            return
        keys = " and ".join(sorted(value[1:].decode() for value in (first, second)))
        yield from self.bad_group(
            key,
            [first, second],
            found=f"id {key[len(ID_KEY) + 1 :].decode()}: has the keys {keys}",
            expected="one key for an id",
            cure="Make input links and map with assign-ids.",
        )

    def _node(
        self, key: bytes, identities: list[bytes], targets: set[bytes], links: int
    ) -> Iterator[bytes]:
        if not identities:
            self.counts[LINKS_WITHOUT_ID] += links
            self.counts[SOURCES_WITHOUT_ID] += 1
            return
        if len(identities) > 1:
            first, second = identities[:2]
            yield from self.bad_group(
                key,
                [IDENTITY + first, IDENTITY + second],
                found=f"key {key.decode()}: has the ids {first.decode()} and {second.decode()}",
                expected="one id for a key",
                cure="Make input links and map with assign-ids.",
            )
            return
        if identities[0] in targets:
            self.counts[SELF_LINKS] += 1
            targets.discard(identities[0])
        self.counts["nodes"] += 1
        self.counts["edges"] += len(targets)
        self.counts["dangling"] += not targets
        ordered = sorted(targets, key=int) if targets else [DUMMY]
        yield format_graph_line(GraphLine(identities[0], START_SCORE, ordered))


if __name__ == "__main__":
    main(GenGraph)
