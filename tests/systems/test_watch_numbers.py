"""The numbers of the page of `crawlrank lab watch`, in a real browser, against those of Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest
from support.graphs import NAMED, exact_probabilities, graph_of, web_like

from crawlrank.pipeline.data.graph import Graph
from crawlrank.pipeline.lab.chain import Chain, chain_of, exact_importance
from crawlrank.pipeline.lab.simulation import (
    ReadLog,
    Simulation,
    fixed,
    improved,
    interpolated,
    variable,
    whole,
)
from crawlrank.pipeline.lab.watch import EXAMPLES, Drawn, targets_of, watch_page

pytestmark = pytest.mark.browser

POLICIES = ("random", "greedy", "cycle")
WINDOWS = {
    "whole": whole,
    "fixed:0.7": lambda log, cash: fixed(log, 0.7),
    "fixed:4": lambda log, cash: fixed(log, 4.0),
    "improved:4": lambda log, cash: improved(log, 4.0),
    "improved:0.5": lambda log, cash: improved(log, 0.5),
    "variable:1": lambda log, cash: variable(log, 1),
    "variable:8": lambda log, cash: variable(log, 8),
    "interpolation:4": lambda log, cash: interpolated(log, 4.0),
    "interpolation:0.3": lambda log, cash: interpolated(log, 0.3),
}
SAME = {"rtol": 1e-12, "atol": 1e-12}

#: all that a session holds, after events, with the estimates of several windows
RUN = """({graph, seed, windows, events}) => {
  const session = Session.of(graph, seed, windowOf("whole"), structuredClone(events));
  const { opic } = session;
  return {
    cash: session.ids.map((id, page) => opic.cash(page)), history: opic.recorded,
    reads: opic.reads, order: opic.log.pages, clock: opic.clock, exact: session.exact,
    virtual: opic.virtual, names: session.names,
    estimates: windows.map((text) => {
      const { name, parameter } = windowOf(text);
      return WINDOWS[name].estimate(opic, parameter);
    }),
  };
}"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page with the examples; whatever it says on its console, or asks for, is an error."""
    from support.systems.browser import chromium, opened

    path = tmp_path_factory.mktemp("watch") / "watch.html"
    path.write_text(watch_page(), encoding="utf-8")
    with chromium() as browser, opened(browser, path) as page:
        yield page
        page.require_silence()


def graph_in(drawn: Drawn) -> Graph:
    links = [(page, target) for page, each in enumerate(drawn.targets) for target in each]
    return graph_of(len(drawn.targets), links)


def drawn(graph: Graph) -> dict[str, Any]:
    names = list(map(str, range(graph.nodes)))
    return {"id": "own", "names": names, "targets": targets_of(graph)}


def estimates(log: ReadLog, cash: Any) -> list[Any]:
    return [window(log, cash).importance for window in WINDOWS.values()]


GRAPHS = {
    **{example.id: graph_in(example) for example in EXAMPLES},
    "random": web_like(60, seed=5),
    **{name: NAMED[name] for name in ("one page", "all dangling", "two components")},
}


@pytest.mark.parametrize("size", [1, 2, 3, 6, 24, 300, 3_000_000_001])
def test_random_numbers_are_those_of_numpy(size: int, shown: Any) -> None:
    for seed in (0, 1, 7, 2**32 - 1, 2**32, 2**53 - 1, 2**64 + 5, 3**150):
        code = "([seed, n]) => { const random = new Random(BigInt(seed));"
        code += " return Array.from({ length: 500 }, () => random.below(n)); }"
        numbers = shown.page.evaluate(code, [str(seed), size])
        assert numbers == np.random.default_rng(seed).integers(size, size=500).tolist(), seed


def test_random_numbers_go_on_when_the_size_changes(shown: Any) -> None:
    sizes = [5, 1, 5, 1, 1, 7, *np.random.default_rng(8).integers(1, 400, 300).tolist()]
    code = "(sizes) => { const random = new Random(9); return sizes.map((n) => random.below(n)); }"
    rng = np.random.default_rng(9)
    numbers = [int(rng.integers(size, size=1)[0]) for size in sizes]
    assert shown.page.evaluate(code, sizes) == numbers


@pytest.mark.parametrize("edges", [None, 1.0])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", GRAPHS)
def test_a_thousand_steps_are_those_of_python(
    name: str, policy: str, edges: float | None, shown: Any
) -> None:
    graph, seed = GRAPHS[name], 11
    simulation = Simulation(chain_of(graph.offsets, graph.targets, edges), seed=seed)
    reads = getattr(simulation, policy)(1000)
    events = [["virtual", edges is not None], ["read", policy, 1000]]
    arguments = {"graph": drawn(graph), "seed": seed, "windows": [*WINDOWS], "events": events}
    page = shown.page.evaluate(RUN, arguments)
    assert page["order"] == reads.pages.tolist()
    np.testing.assert_allclose(page["cash"], simulation.cash, **SAME)
    np.testing.assert_allclose(page["history"], simulation.recorded, **SAME)
    assert page["clock"] == pytest.approx(simulation.clock, rel=1e-12)
    for got, wanted in zip(
        page["estimates"], estimates(simulation.log(), simulation.cash), strict=True
    ):
        np.testing.assert_allclose(got, wanted, **SAME)
    exact = exact_importance(simulation.chain)  # by another method, to 1e-11
    np.testing.assert_allclose(page["exact"], exact, rtol=1e-9, atol=1e-11)
    if edges is None:
        np.testing.assert_allclose(page["exact"], exact_probabilities(graph), **SAME)
    rest = simulation.chain.rest[reads.pages]
    assert page["virtual"]["total"] == pytest.approx(float(reads.cash @ rest), rel=1e-12)


class Edited:
    """Python's simulation under the events of the page."""

    def __init__(self, graph: Graph, seed: int) -> None:
        self.targets, self.edges = targets_of(graph), None
        self.simulation = Simulation(self.chain, seed=seed)

    @property
    def chain(self) -> Chain:
        offsets = np.cumsum([0, *map(len, self.targets)])
        return chain_of(offsets, np.array([*chain(*self.targets)], np.int32), self.edges)

    def apply(self, kind: str, *values: Any) -> None:
        if kind == "read":
            getattr(self.simulation, values[0])(values[1])
            return
        if kind == "page":
            self.targets.append([])
        elif kind == "link":
            self.targets[values[0]] = sorted([*self.targets[values[0]], values[1]])
        elif kind == "unlink":
            self.targets[values[0]].remove(values[1])
        elif kind == "virtual":
            self.edges = 1.0 if values[0] else None
        importance = whole(self.simulation.log(), self.simulation.cash).importance
        self.simulation.replace(self.chain, importance)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["six", "web", "hubs", "random"])
def test_a_thousand_steps_with_changes_are_those_of_python(
    name: str, policy: str, shown: Any
) -> None:
    graph, other = GRAPHS[name], POLICIES[POLICIES.index(policy) - 1]
    first, n = targets_of(graph)[0][0], graph.nodes
    events: list[list[Any]] = [
        ["read", policy, 137], ["page", "new"], ["link", 1, n], ["read", policy, 263],
        ["link", n, 0], ["unlink", 0, first], ["read", other, 100], ["virtual", True],
        ["page", "newer"], ["read", policy, 200], ["link", n + 1, 1], ["read", policy, 100],
        ["virtual", False], ["read", policy, 200],
    ]  # fmt: skip
    python = Edited(graph, seed=3)
    for kind, *values in events:
        python.apply(kind, *values)
    arguments = {"graph": drawn(graph), "seed": 3, "windows": [*WINDOWS], "events": events}
    page, simulation = shown.page.evaluate(RUN, arguments), python.simulation
    log = simulation.log()
    assert len(page["order"]) == 1000
    assert page["order"] == log.reads.pages.tolist()
    np.testing.assert_allclose(page["cash"], simulation.cash, **SAME)
    np.testing.assert_allclose(page["history"], simulation.recorded, **SAME)
    for got, wanted in zip(page["estimates"], estimates(log, simulation.cash), strict=True):
        np.testing.assert_allclose(got, wanted, **SAME)


@pytest.mark.parametrize("begin", [1, 3, 5, 7, 24, 26, 28, 30, 50])
def test_pages_that_were_not_read_yet_have_the_mean_of_those_that_are_as_new(
    begin: int, shown: Any
) -> None:
    events: list[list[Any]] = [["read", "cycle", begin]]
    for reads in (2, 3, 4, 1, 6):
        events += [["page", "new"], ["read", "cycle", reads]]
    python = Edited(GRAPHS["web"], seed=1)
    for kind, *values in events:
        python.apply(kind, *values)
    arguments = {"graph": drawn(GRAPHS["web"]), "seed": 1, "windows": [*WINDOWS], "events": events}
    page, simulation = shown.page.evaluate(RUN, arguments), python.simulation
    assert page["reads"].count(0) >= 3
    wanted = estimates(simulation.log(), simulation.cash)
    for got, each in zip(page["estimates"], wanted, strict=True):
        np.testing.assert_allclose(got, each, **SAME)


class Plain:
    """OPIC with every sum paid out at once, pages by name, and pages that go."""

    def __init__(self, targets: dict[str, list[str]]) -> None:
        self.targets, n = targets, len(targets)
        self.cash, self.history = dict.fromkeys(targets, 1 / n), dict.fromkeys(targets, 0.0)

    def read(self, page: str) -> None:
        held, self.cash[page] = self.cash[page], 0.0
        self.history[page] += held
        for target in self.targets[page]:
            self.cash[target] += 0.85 * held / len(self.targets[page])
        for other in self.cash:
            self.cash[other] += (0.15 if self.targets[page] else 1) * held / len(self.cash)

    def remove(self, page: str) -> None:
        cash = self.cash.pop(page)
        del self.history[page], self.targets[page]
        for other in self.cash:
            self.cash[other] += cash / len(self.cash)
            self.targets[other] = [each for each in self.targets[other] if each != page]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ["six", "web", "random"])
def test_a_page_that_goes_leaves_its_cash_to_all_others(name: str, policy: str, shown: Any) -> None:
    graph = GRAPHS[name]
    steps = [(120, 2), (77, 0), (0, graph.nodes - 3), (103, None)]
    events: list[list[Any]] = []
    for reads, gone in steps:
        events += [["read", policy, reads]] if reads else []
        events += [["gone", gone]] if gone is not None else []
    arguments = {"graph": drawn(graph), "seed": 5, "windows": ["whole"], "events": events}
    page = shown.page.evaluate(RUN, arguments)
    names = list(map(str, range(graph.nodes)))
    targets = {names[at]: [names[each] for each in row] for at, row in enumerate(targets_of(graph))}
    plain, rng, following = Plain(targets), np.random.default_rng(5), 0
    for reads, gone in steps:
        for _ in range(reads):
            if policy == "random":
                at = int(rng.integers(len(names)))
            elif policy == "greedy":
                at = richest([plain.cash[each] for each in names])
            else:
                at, following = following % len(names), (following + 1) % len(names)
            plain.read(names[at])
        if gone is not None:
            plain.remove(names.pop(gone))
            following = (following - (following > gone)) % len(names)
    assert page["names"] == names
    assert sum(page["cash"]) == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(page["cash"], [plain.cash[each] for each in names], **SAME)
    np.testing.assert_allclose(page["history"], [plain.history[each] for each in names], **SAME)


def richest(cash: list[float]) -> int:
    """The first of those that have most, up to rounding."""
    return next(at for at, each in enumerate(cash) if each >= max(cash) - 1e-14)


def test_a_link_to_a_state_has_its_numbers(shown: Any) -> None:
    """Written, read, and run again: all that a session holds is the same."""
    code = """([policy, window]) => {
      const session = new Session(data.graphs[1], 77, windowOf(window));
      for (const event of [["read", policy, 50], ["page", "a;b &=%#<é"], ["link", 3, 24],
                           ["gone", 5], ["read", "greedy", 7], ["virtual", true],
                           ["unlink", 1, 2], ["read", policy, 700]]) session.apply(event);
      const fragment = fragmentOf(session, { policy, ring: "exact" });
      const url = new URL(`file:///x${fragment}`);
      const again = stateOf(url.hash);
      const plain = (name, value) => (typeof value === "bigint" ? String(value) : value);
      return [session, again.session].map(({ graph, ...held }) => JSON.stringify(held, plain));
    }"""
    for policy in POLICIES:
        for window in WINDOWS:
            first, again = shown.page.evaluate(code, [policy, window])
            assert first == again


BAD_FRAGMENTS = (
    "#graph=none", "#graph=six", "#graph=six&of=00000000", "#x", "#%", "#graph=%E0%A4%A",
    *(f"#graph=six&of=OF&{more}" for more in (
        "seed=-1", "seed=1.5", "seed=1e400", "policy=best", "policy=constructor", "ring=x",
        "window=none", "window=__proto__", "window=fixed:0", "window=fixed:x",
        "window=variable:1.5",
        "do=r0", "do=r1000001", "do=r999999;r999999", "do=x-6", "do=x--1", "do=l-0-0", "do=l-0-1",
        "do=d-0-5", "do=l-0-9", "do=p-", "do=p-%", "do=read", "do=v-2", "do=v-", "do=l-0",
        "do=x-0;x-0;x-0;x-0;x-0;x-0", "do=c1;;q1",
    )),
)  # fmt: skip


@pytest.mark.parametrize("fragment", BAD_FRAGMENTS)
def test_a_fragment_of_something_else_is_refused(fragment: str, shown: Any) -> None:
    code = """(fragment) => {
      try { stateOf(fragment.replace("OF", digestOf(data.graphs[0]))); return "taken"; }
      catch (error) { return error.constructor.name; }
    }"""
    assert shown.page.evaluate(code, fragment) in ("RangeError", "URIError")


def test_fragments_that_are_right_are_taken(shown: Any) -> None:
    """What the bad ones above differ from."""
    code = (
        """(more) => stateOf(`#graph=six&of=${digestOf(data.graphs[0])}&${more}`).session.events"""
    )
    assert shown.page.evaluate(code, "seed=1&do=r5;l-1-5;x-0") == [
        ["read", "random", 5], ["link", 1, 5], ["gone", 0]
    ]  # fmt: skip
