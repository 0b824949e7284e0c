"""The compact graph of the sweeps: pages that the same pages link to are one row.

Pages of a site share menus, so many have equal lists of sources. Two pages are twins if their lists
are equal, or equal but for the twins themselves, as each page of a menu links to all others. With
F = the sum of y over the sources of a row that are no twins of it, W = the sum of 1 / (o_i + e),
B = that of base_i / (o_i + e) over the pages i of the row, o their outdegrees:

    equal lists, e = 0:             y_i = (base_i + d F) / o_i
    but for themselves, e = d:      y_i = (base_i + d (F + B) / (1 - d W)) / (o_i + d)

which solves the links between twins exactly. Either way the sum of y over a row is
factor (F + constant), factor = d W or d W / (1 - d W), constant = B / (d W): one number that stands
for all pages of the row in each list that has them all. It lies in a slot. A page that is alone in
some list has a slot of its own, after that of its row. No W makes 1 - d W smaller than
(1 - d) / 2, as o_i is at least the number of the other twins.

Twins: Chung, Spectral Graph Theory, 1997, as strong and weak twins; lumping of equal equations:
Ipsen, Selee, PageRank computation with special attention to dangling nodes, 2007, for one class.

Rows lie in the order of their first pages. Within ROWS of them they ascend by length, so that the
processor foresees where lists end. Loops take unsigned numbers, so that numba need not look whether
an index counts from the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import AHEAD, loop, prefetch
from crawlrank.pipeline.data.csr import BLOCK, Ids, Offsets, Team, id_type
from crawlrank.pipeline.ranking.pagerank.kernels import ROW_COST, Kinds

ROWS = 4096  # rows that are put in order by length
LENGTHS = 64  # lists that are at least as long count as equally long
PLACES = 12  # bits: of the tables of rows that a page is compared with
ALONE, EQUAL, BUT_THEMSELVES = 0, 1, 2  # what the pages of a row share

ListHashes = npt.NDArray[np.uint64]

_U = np.uint64
_ONE, _TWO, _AHEAD = _U(1), _U(2), _U(AHEAD)
_SHIFT, _HIGH, _LOW = _U(64 - PLACES), _U(32), _U(29)
_FIRST, _SECOND = _U(0x9E3779B97F4A7C15), _U(0xBF58476D1CE4E5B9)  # of SplitMix64


@loop
def _mixed(node: Any) -> Any:
    """A hash of a node, of 64 bits."""
    value = (_U(node) + _ONE) * _FIRST
    value = (value ^ (value >> _HIGH)) * _SECOND
    return value ^ (value >> _LOW)


@loop
def hash_lists(
    offsets: Offsets, sources: Ids, outdegrees: Ids, hashes: ListHashes, begin: int, end: int
) -> None:
    """Hashes of the lists of nodes with edges out: sums, so that one node more can be added."""
    for i in range(begin, end):
        if outdegrees[i]:
            total = _U(0)
            for k in range(_U(offsets[i]), _U(offsets[i + 1])):
                total += _mixed(sources[k])
            hashes[i] = total


@loop
def _alike(graph: tuple[Offsets, Ids], one: Any, other: Any, closed: bool) -> bool:
    """Whether the lists of two nodes are equal; closed: whether they link to each other, and their
    lists are equal otherwise."""
    offsets, sources = graph
    k, end = offsets[one], offsets[one + _ONE]
    m, last = offsets[other], offsets[other + _ONE]
    if end - k != last - m:
        return False
    skipped = 0
    while True:
        if closed and k < end and sources[k] == other:
            k, skipped = k + 1, skipped + 1
        if closed and m < last and sources[m] == one:
            m, skipped = m + 1, skipped + 1
        if k >= end or m >= last:
            return k >= end and m >= last and skipped == (2 if closed else 0)
        if sources[k] != sources[m]:
            return False
        k, m = k + 1, m + 1


@loop
def _twins_of(
    graph: tuple[Offsets, Ids],
    node: Any,
    rows: tuple[Ids, Kinds],
    tables: tuple[ListHashes, Offsets],
    near: tuple[Any, Any],
    sums: tuple[Any, Any],
) -> tuple[int, int]:
    """The row of a node's twins, and its kind; -1 and ALONE without. rows: first and kinds. tables:
    the hash and the row at each place. near: the node's places in them, and `sums` its hashes."""
    first, kinds = rows
    hashes, latest = tables
    row, alike = latest[1, near[1]], hashes[1, near[1]] == sums[1]
    if row >= 0 and alike and kinds[row] != EQUAL and _alike(graph, node, first[row], True):
        return row, BUT_THEMSELVES
    row, alike = latest[0, near[0]], hashes[0, near[0]] == sums[0]
    open_row = row >= 0 and alike and kinds[row] != BUT_THEMSELVES
    if open_row and _alike(graph, node, first[row], False):
        return row, EQUAL
    return -1, ALONE


@loop
def find_rows(
    offsets: Offsets,
    sources: Ids,
    outdegrees: Ids,
    hashes: ListHashes,
    row_of: Ids,
    first: Ids,
    kinds: Kinds,
    sizes: Ids,
    tables: tuple[ListHashes, Offsets],
    begin: int,
    end: int,
    rows: int,
) -> int:
    """Rows of a range of nodes with edges out, in the order of their first nodes, after `rows` that
    there are; returns how many there are then.

    row_of, of each node; first, kinds, sizes: of each row. tables: room for those of _twins_of. A
    node is compared with the latest rows of its place in two tables by hash, so twins that are far
    apart may remain two rows.
    """
    known, latest = tables
    graph, of_rows = (offsets, sources), (first, kinds)
    for i in range(begin, end):
        if not outdegrees[i]:
            continue
        node = _U(i)
        both = (hashes[node], hashes[node] + _mixed(node))
        near = ((both[0] * _FIRST) >> _SHIFT, (both[1] * _FIRST) >> _SHIFT)
        row, kind = _twins_of(graph, node, of_rows, tables, near, both)
        if row < 0:
            row, first[rows] = rows, node
            known[0, near[0]], latest[0, near[0]] = both[0], rows
            known[1, near[1]], latest[1, near[1]] = both[1], rows
            rows += 1
        kinds[row] = kind
        sizes[row] += 1
        row_of[node] = row
    return rows


@loop
def mark_shared(outdegrees: Ids, sizes: Ids, row_of: Ids) -> None:
    """row_of becomes twice the row, and one more where the row has several nodes."""
    for i in range(len(outdegrees)):
        if outdegrees[i]:
            row = _U(row_of[i])
            row_of[i] = _TWO * row + _U(sizes[row] > 1)


@loop
def list_sources(
    graph: tuple[Offsets, Ids],
    rows: tuple[Ids, Kinds, Ids],
    codes: Ids,
    flag: Any,
    scratch: tuple[Ids, Ids, Kinds],
    span: tuple[int, int],
    ends: Offsets,
    positions: Ids,
    edge: Any,
) -> Any:
    """The lists of a span of rows, without twins: rows that a list has whole, and nodes, with the
    highest bit set, of those that it has in part. They begin at an edge; returns where they end.

    rows: first, kinds, sizes. codes: row_of, marked. scratch: a zero for each row, which it leaves,
    room for the longest list, and what becomes 1 for each node that a list has alone.
    """
    offsets, sources = graph
    first, kinds, sizes = rows
    counts, some, split = scratch
    edge, last = _U(edge), _U(len(sources) - 1)
    for row in range(span[0], span[1]):
        node, number = first[row], _U(0)
        for k in range(_U(offsets[node]), _U(offsets[node + _ONE])):
            prefetch(codes, _U(sources[min(k + _AHEAD, last)]))
            code = _U(codes[sources[k]])
            if code & _ONE:
                counts[code >> _ONE] += 1
                some[number] = sources[k]
                number += _ONE
            else:
                positions[edge] = code >> _ONE
                edge += _ONE
        if number:
            own = _U(row) if kinds[row] == BUT_THEMSELVES else _U(len(first))
            edge = _list_shared(
                some[:number], codes, sizes, own, flag, counts, split, positions, edge
            )
        ends[row - span[0]] = edge
    return edge


@loop
def _list_shared(
    some: Ids,
    codes: Ids,
    sizes: Ids,
    own: Any,
    flag: Any,
    counts: Ids,
    split: Kinds,
    positions: Ids,
    edge: Any,
) -> Any:
    """The sources of a list that are of rows with several nodes, of which it has `counts`, from an
    edge on; returns where they end. own: the row of the list if its nodes link to each other."""
    for k in range(len(some)):
        row = _U(codes[some[k]]) >> _ONE
        if row == own or not counts[row]:
            continue
        if counts[row] == sizes[row]:
            positions[edge], counts[row] = row, 0
        else:
            positions[edge] = flag | _U(some[k])
            split[some[k]] = 1
        edge += _ONE
    for k in range(len(some)):
        counts[_U(codes[some[k]]) >> _ONE] = 0
    return edge


@loop
def order_by_length(ends: Offsets, order: Ids, at: Offsets) -> None:
    """The rows of a range in ascending order of the lengths of their lists, ROWS at a time. Lists
    that are longer than `at`, which is overwritten, are in their own order, the last ones."""
    longest = len(at) - 1
    for begin in range(0, len(order), ROWS):
        end = min(begin + ROWS, len(order))
        at[:] = 0
        for row in range(begin, end):
            at[min(ends[row + 1] - ends[row], longest - 1) + 1] += 1
        for length in range(longest):
            at[length + 1] += at[length]
        for row in range(begin, end):
            length = min(ends[row + 1] - ends[row], longest - 1)
            order[begin + at[length]] = row
            at[length] += 1


@loop
def place_nodes(outdegrees: Ids, places: Ids, codes: Ids) -> None:
    """codes, of nodes, become the places of their rows."""
    for i in range(len(outdegrees)):
        if outdegrees[i]:
            codes[i] = places[_U(codes[i]) >> _ONE]


@loop
def fill_positions(
    ends: Offsets,
    positions: Ids,
    order: Ids,
    slots: tuple[Ids, Ids],
    flag: Any,
    own: tuple[int, int],
    whole: int,
    copy: Ids,
    filled: Offsets,
) -> None:
    """Lists of rows and nodes become those of slots, in the order of the rows, in place.

    slots: the first of each row, and that of each split node. positions: where the sweep finds the
    number of a source: its slot, or `whole` further on for what is not of the thread's own rows.
    copy: room for the lists of ROWS rows. filled: the new ends.
    """
    of_rows, of_nodes = slots
    edge = _U(0)
    for begin in range(0, len(order), ROWS):
        end = min(begin + ROWS, len(order))
        start = edge
        for k in range(start, _U(ends[end])):
            copy[k - start] = positions[k]
        for at in range(begin, end):
            row = order[at]
            for k in range(_U(ends[row]), _U(ends[row + _ONE])):
                code = _U(copy[k - start])
                slot = np.int64(of_nodes[code ^ flag] if code & flag else of_rows[code])
                positions[edge] = slot if own[0] <= slot < own[1] else slot + whole
                edge += _ONE
            filled[at + 1] = edge


class ThreadRows(NamedTuple):
    """The rows of a thread, from begin to end. ends: int64[rows + 1], where their lists end in
    positions, which has AHEAD more."""

    begin: int
    end: int
    ends: Offsets
    positions: Ids


@dataclass(frozen=True, eq=False)
class Lists:
    """R rows of a graph, in the order in which they are passed, and the lists of each thread's.

    linking: the number of nodes with edges out. row_of: the row of each of them. first, closed,
    sizes: for each row, its first node, whether its nodes link to each other, and their number.
    slots: int64[R + 1], where those of each row begin. split, of_split: the nodes that have a slot
    of their own, and these slots.
    """

    linking: int
    row_of: Ids
    first: Ids
    closed: Kinds
    sizes: Ids
    slots: Offsets
    split: Offsets
    of_split: Offsets
    parts: list[ThreadRows]


def lists_of(team: Team, linking: int) -> Lists:
    """The lists of a graph, of which `linking` nodes have edges out."""
    kind = id_type(2 * team.nodes)
    row_of, rows = _found(team, linking, kind)
    mark_shared(team.outdegrees, rows[2], row_of)
    parts, split = _listed(team, rows, row_of)
    orders = team.each(lambda thread: _ordered(parts[thread], kind))
    places: Ids = np.empty(len(rows[0]), row_of.dtype)
    for part, order in zip(parts, orders, strict=True):
        places[part.begin + order.astype(np.int64)] = np.arange(part.begin, part.end)
    first, kinds, sizes = (_placed(column, places) for column in rows)
    place_nodes(team.outdegrees, places, row_of)
    slots, of_split = _slots(row_of[split], len(first))
    of_nodes: Ids = np.empty(team.nodes, row_of.dtype)
    of_nodes[split] = of_split
    filled: tuple[Any, Ids] = (slots[places].astype(kind), of_nodes)
    parts = team.each(lambda thread: _filled(parts[thread], orders[thread], slots, filled))
    closed = (kinds == BUT_THEMSELVES).view(np.uint8)
    return Lists(linking, row_of, first, closed, sizes, slots, split, of_split, parts)


def _found(team: Team, linking: int, kind: Any) -> tuple[Ids, tuple[Ids, Kinds, Ids]]:
    """row_of, and first, kinds and sizes of rows, as of `find_rows`."""
    hashes = np.zeros(team.nodes, np.uint64)
    graph = (team.offsets, team.sources, team.outdegrees, hashes)
    team.over_nodes(lambda begin, end: hash_lists(*graph, begin, end))
    row_of, first, sizes = (np.zeros(size, kind) for size in (team.nodes, linking, linking))
    kinds = np.zeros(linking, np.uint8)
    tables = (np.zeros((2, 1 << PLACES), np.uint64), np.full((2, 1 << PLACES), -1, np.int64))
    rows = 0
    for block in team.blocks(0, team.nodes):
        rows = find_rows(*graph, row_of, first, kinds, sizes, tables, *block, rows)
        team.release(*block)
    return row_of, (first[:rows], kinds[:rows], sizes[:rows])


def _listed(
    team: Team, rows: tuple[Ids, Kinds, Ids], codes: Ids
) -> tuple[list[ThreadRows], Offsets]:
    """The parts of all threads, of equal work, with lists of rows and nodes; and the nodes that
    are in lists of their own."""
    first = rows[0].astype(np.int64)
    lengths = team.offsets[first + 1] - team.offsets[first]
    work = np.concatenate(([0], np.cumsum(lengths + ROW_COST)))
    shares = [work[-1] * thread // team.threads for thread in range(team.threads + 1)]
    counts, some = np.zeros(len(first), codes.dtype), np.empty(lengths.max(initial=0), codes.dtype)
    split = np.zeros(team.nodes, np.uint8)
    of_rows = ((team.offsets, team.sources), rows, codes, _flag(codes), (counts, some, split))
    parts = []
    for begin, end in pairwise(np.searchsorted(work, shares).tolist()):
        positions = np.empty(int(lengths[begin:end].sum()) + AHEAD, codes.dtype)
        ends, edge = np.zeros(end - begin + 1, np.int64), 0
        for row, last in _blocks(work, begin, end):
            into = (ends[row - begin + 1 :], positions, edge)
            edge = list_sources(*of_rows, (row, last), *into)
            team.release(int(first[row]), int(first[last - 1]) + 1)
        positions[edge : edge + AHEAD] = 0
        parts.append(ThreadRows(begin, end, ends, positions[: edge + AHEAD]))
    return parts, np.flatnonzero(split)


def _blocks(work: Offsets, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """A range of rows in pieces of about a block of work, or one row."""
    while begin < end:
        further = int(np.searchsorted(work, work[begin] + BLOCK, side="right")) - 1
        further = min(max(further, begin + 1), end)
        yield begin, further
        begin = further


def _flag(ids: Ids) -> np.uint64:
    """The highest bit of ids."""
    return np.uint64(1 << (8 * ids.itemsize - 1))


def _ordered(part: ThreadRows, kind: Any) -> Ids:
    order: Ids = np.empty(part.end - part.begin, kind)
    order_by_length(part.ends, order, np.zeros(LENGTHS + 1, np.int64))
    return order


def _placed(column: Any, places: Ids) -> Any:
    """A column of rows in the order of their places."""
    ordered = np.empty_like(column)
    ordered[places] = column
    return ordered


def _slots(rows: Ids, number: int) -> tuple[Offsets, Offsets]:
    """Where the slots of each row begin, and the slots of split nodes. rows: those of the nodes."""
    slots = np.concatenate(([0], np.cumsum(1 + np.bincount(rows, minlength=number))))
    order = np.argsort(rows, kind="stable")
    ordered, of_nodes = rows[order], np.empty(len(rows), np.int64)
    nth = np.arange(len(rows)) - np.searchsorted(ordered, ordered)
    of_nodes[order] = slots[ordered] + 1 + nth
    return slots, of_nodes


def _filled(part: ThreadRows, order: Ids, slots: Offsets, of: tuple[Ids, Ids]) -> ThreadRows:
    """A part whose positions are slots: `of` rows and split nodes."""
    own = (int(slots[part.begin]), int(slots[part.end]))
    blocks = part.ends[[*range(0, len(order), ROWS), len(order)]]
    copy = np.empty(np.diff(blocks).max(initial=0) + AHEAD, order.dtype)
    copy[:] = 0
    ends = np.zeros_like(part.ends)
    into = (own, int(slots[-1]), copy, ends)
    fill_positions(part.ends, part.positions, order, of, _flag(order), *into)
    return part._replace(ends=ends)
