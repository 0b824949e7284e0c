"""Which captures answer requests of other methods than GET, such as HEAD and POST.

Proxies and browsers record these requests, too. Only their request records say so: a request and
its answer name each other by WARC-Concurrent-To, one of them or both, and either comes first. They
are of the same URI.

A capture whose links are out cannot be called back. So each capture waits for the records after
it: for AHEAD of them, or AHEAD_BYTES, and always for the next one. Writers put a request beside its
answer. A request waits longer for its answer, since little of it has to be kept: until ASKED names
of later requests have come. A request whose answer comes in neither way is counted. Requests of
method GET are not kept.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.records import Record
from crawlrank.jobs.kernel.archive.wat import described
from crawlrank.jobs.kernel.captures.counters import CAPTURED
from crawlrank.jobs.kernel.links.joining import LONGEST_EXAMPLE, Examples, count_dropped

AHEAD, AHEAD_BYTES = 64, 2**20
ASKED = 50_000
_MOST_NAMES = 20  # of one record
UNMATCHED = "request.unmatched"

HeldItem = Record | Damage


class _Asked:
    """A request until its answer comes."""

    __slots__ = ("is_answered", "method", "of_uri", "uri")

    def __init__(self, request: Record) -> None:
        self.method, self.uri = request.method, request.uri[:LONGEST_EXAMPLE]
        self.of_uri = hash(request.uri)
        self.is_answered = False


class Answers:
    """Gives captures of one archive the method of their request; '' if that is GET, or not known.
    Counts `dropped.request.unmatched`.

    alone: whether each request has its answer here, so that nothing outside of the records that
    were given matters.
    """

    alone = True

    def __init__(self, counters: Counter[str], examples: Examples, most: int = ASKED) -> None:
        """most: names of requests that wait."""
        self._counters, self._examples, self._most = counters, examples, most
        self._held: deque[HeldItem] = deque()
        self._behind = 0  # bytes of what is after the first of these
        self._asked: OrderedDict[int, _Asked] = OrderedDict()  # by _keys

    def known(self, lists: Iterable[Iterable[HeldItem]]) -> Iterator[list[HeldItem]]:
        """The records that WATs describe and all other items, in their order and in short lists,
        as soon as their methods are known. If reading fails, the error comes after them."""
        failure: Exception | None = None
        try:
            for items in lists:
                yield self._added(items)
        except Exception as error:  # noqa: BLE001 (raised below, after what was read before it)
            failure = error
        yield list(self._held)
        self._held.clear()
        for asked in self._asked.values():
            self._give_up(asked)
        if failure is not None:
            raise failure

    def _added(self, items: Iterable[HeldItem]) -> list[HeldItem]:
        """What need not wait any more."""
        leaving: list[HeldItem] = []
        held, behind = self._held, self._behind
        for raw in items:
            item = described(raw)
            if isinstance(item, Record):
                if item is not raw:
                    self._counters["wat"] += 1
                if item.method and item.kind == "request":
                    self._ask(item)
                elif self._asked and item.kind in CAPTURED:
                    item = self._answered(item)
            if held:
                behind += _bytes(item)
            held.append(item)
            while len(held) > 1 and (len(held) > AHEAD + 1 or behind > AHEAD_BYTES):
                leaving.append(held.popleft())
                behind -= _bytes(held[0])
        self._behind = behind
        return leaving

    def _ask(self, request: Record) -> None:
        """Mark the captures that wait and answer it or, if none does, let it wait."""
        own, *others = _names(request)
        named, answered = set(others), False
        for number, item in enumerate(self._held):
            if not isinstance(item, Record) or item.kind not in CAPTURED or item.method:
                continue
            id, *concurrent = _names(item)
            if item.uri == request.uri and (id in named or (own and own in concurrent)):
                self._held[number] = item._replace(method=request.method)
                answered = True
        if not answered:
            asked = _Asked(request)
            self._asked.update(dict.fromkeys(_keys(others, [own]), asked))
            while len(self._asked) > self._most:
                self._give_up(self._asked.popitem(last=False)[1])

    def _answered(self, capture: Record) -> Record:
        """The capture with the method of a request that waits."""
        own, *others = _names(capture)
        for key in _keys([own], others):
            asked = self._asked.get(key)
            if asked and asked.of_uri == hash(capture.uri):
                asked.is_answered = True
                return capture._replace(method=asked.method)
        return capture

    def _give_up(self, asked: _Asked) -> None:
        if not asked.is_answered:
            asked.is_answered, self.alone = True, False
            count_dropped(UNMATCHED, asked.uri, self._counters, self._examples)


def _keys(answers: Sequence[str], requests: Sequence[str]) -> list[int]:
    """Keys of ids of answers and of requests. Two that name a third record are no pair."""
    return [*map(hash, filter(None, answers)), *(hash((name,)) for name in requests if name)]


def _bytes(item: HeldItem) -> int:
    """The bytes of memory of an item, to a factor of two."""
    return max(item.size, len(item.body)) if isinstance(item, Record) else 0


def _names(record: Record) -> list[str]:
    """Its own id, '' if it has none, and those that it names; some writers leave out the `<>`."""
    names = (record.record_id, *record.concurrent_to[:_MOST_NAMES])
    return [name.strip("<> ") for name in names]
