"""Stores on SQLite: against plain sets and dicts, ids of any bytes, kills, and files that are no
database."""

from __future__ import annotations

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from support.drawing import examples
from support.paths import ROOT

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.online.stores.database import Database, _code_of
from crawlrank.pipeline.online.stores.hits_cash import KINDS, Cash, PageCash, SqliteHitsCash
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph
from crawlrank.pipeline.online.stores.schedule import SqlitePageChanges, within

LONG = b"c" * 5000
PAGES = st.sampled_from(
    [b"", b"a", b"b\x00\xff", b"\xf0\x9f", b"'; DROP TABLE pages; --", b"c" * 5000]
)
AMOUNTS = st.integers(0, 1000).map(lambda eighths: eighths / 8)  # sums are exact


class GraphMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.database = Database()
        self.graph = SqliteGraph(self.database)
        self.nodes, self.edges = set(), set()

    @rule(page=PAGES)
    def add_node(self, page):
        self.graph.add_node(page)
        self.nodes.add(page)

    @rule(edges=st.lists(st.tuples(PAGES, PAGES), max_size=5))
    def add_edges(self, edges):
        self.graph.add_edges(edges)
        self.edges |= set(edges)
        self.nodes |= {page for edge in edges for page in edge}

    @rule(page=PAGES)
    def delete_node(self, page):
        self.graph.delete_node(page)
        self.nodes.discard(page)
        self.edges = {edge for edge in self.edges if page not in edge}

    @rule(edge=st.tuples(PAGES, PAGES))
    def delete_edge(self, edge):
        self.graph.delete_edge(*edge)
        self.edges.discard(edge)

    @rule(page=PAGES, other=PAGES)
    def asks(self, page, other):
        after = {end for start, end in self.edges if start == page}
        before = {start for start, end in self.edges if end == page}
        assert self.graph.has_edge(page, other) == ((page, other) in self.edges)
        assert self.graph.has_node(page) == (page in self.nodes)
        assert sorted(self.graph.successors(page)) == sorted(after)
        assert sorted(self.graph.predecessors(page)) == sorted(before)
        assert sorted(self.graph.neighbours(page)) == sorted(after | before)

    @invariant()
    def all_is_there(self):
        assert sorted(self.graph.nodes()) == sorted(self.nodes)
        assert sorted(self.graph.edges()) == sorted(self.edges)
        assert (self.graph.node_count(), self.graph.edge_count()) == (
            len(self.nodes), len(self.edges),
        )  # fmt: skip

    def teardown(self):
        self.database.close()


class ScoresMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.database = Database()
        self.scores = SqliteHitsCash(self.database)
        self.known = {}

    @rule(page=PAGES, numbers=st.tuples(*[AMOUNTS] * 6))
    def set(self, page, numbers):
        self.known[page] = PageCash(Cash(*numbers[:3]), Cash(*numbers[3:]))
        self.scores.set(page, self.known[page])

    @rule(page=PAGES)
    def delete(self, page):
        self.scores.delete(page)
        self.known.pop(page, None)

    @rule(kind=st.sampled_from(KINDS), pages=st.lists(PAGES, max_size=4), amount=AMOUNTS)
    def increase(self, kind, pages, amount):
        self.scores.increase(kind, pages, amount)
        for page in pages:
            self.give(kind, page, amount)

    @rule(kind=st.sampled_from(KINDS), amount=AMOUNTS)
    def increase_all(self, kind, amount):
        self.scores.increase_all(kind, amount)
        for page in self.known:
            self.give(kind, page, amount)

    def give(self, kind, page, amount):
        if score := self.known.get(page):
            cash = getattr(score, kind)
            self.known[page] = score._replace(**{kind: cash._replace(cash=cash.cash + amount)})

    @rule(page=PAGES, kind=st.sampled_from(KINDS), count=st.integers(0, 4))
    def asks(self, page, kind, count):
        assert self.scores.get(page) == self.known.get(page)
        cash = sorted((getattr(score, kind).cash for score in self.known.values()), reverse=True)
        richest = [getattr(self.known[p], kind).cash for p in self.scores.highest(kind, count)]
        assert richest == cash[:count]
        assert self.scores.total(kind) == sum(cash)

    @invariant()
    def all_is_there(self):
        assert dict(self.scores.items()) == self.known
        assert self.scores.count() == len(self.known)

    def teardown(self):
        self.database.close()


TestGraph = GraphMachine.TestCase
TestScores = ScoresMachine.TestCase
TestGraph.settings = TestScores.settings = settings(
    max_examples=examples(40), stateful_step_count=25, deadline=None
)


def test_what_fails_in_a_transaction_changes_nothing(tmp_path):
    with Database(tmp_path / "stores") as database:
        graph, scores = SqliteGraph(database), SqliteHitsCash(database)
        with pytest.raises(KeyError), database.transaction():
            graph.add_edge(b"a", b"b")
            scores.increase_all("hub", 3)
            raise KeyError
        assert (graph.node_count(), scores._given("hub")) == (0, 0)
        graph.add_edge(b"a", b"b")
    with Database(tmp_path / "stores") as database:
        assert list(SqliteGraph(database).edges()) == [(b"a", b"b")]


def test_finished_transactions_are_on_the_disk(tmp_path):
    """SQLite's documents: with a log and `synchronous` FULL each transaction is synced at its end,
    so that a loss of power takes none back."""
    with Database(tmp_path / "stores") as database:
        assert database.number("PRAGMA journal_mode") == "wal"
        assert database.number("PRAGMA synchronous") == 2


def test_a_million_gifts_to_one_page_are_all_there():
    with Database() as database:
        scores = SqliteHitsCash(database)
        scores.set(b"", PageCash(Cash(0, 0, 0), Cash(0, 0, 0)))
        scores.increase("hub", itertools.repeat(b"", 1_000_000), 0.25)
        with database.transaction():
            for _ in range(1000):
                scores.increase("hub", [b""], 0.25)
        assert scores.get(b"").hub.cash == 250_250


BY_CODE = {26: "no SQLite database", 14: "it cannot be opened"}
WRITER = """
import os, sys
from crawlrank.pipeline.online.stores.database import Database
from crawlrank.pipeline.online.stores.hits_cash import SqliteHitsCash
from crawlrank.pipeline.online.stores.page_graph import SqliteGraph

def say(word):
    os.write(1, b"%s\\n" % str(word).encode())  # at once, so that a kill leaves whole lines

def write():
    say(os.getpid())
    database = Database(sys.argv[1])
    graph, scores = SqliteGraph(database), SqliteHitsCash(database)
    number = graph.edge_count()
    while True:
        with database.transaction():
            graph.add_edge(b"%d" % number, b"%d" % (number + 1))
            scores.increase_all("hub", 1)
        number += 1
        say(number)

for line in sys.stdin:
    os.fork() or write()
    os.wait()
    say("ended")
"""


@pytest.mark.parametrize(
    "kills", [2, pytest.param(20, marks=pytest.mark.slow)], ids=lambda kills: f"{kills} kills"
)
def test_what_was_finished_is_there_after_each_of_some_kills(kills, tmp_path):
    """After some transactions each time; a kill comes somewhere in the next ones."""
    path, draw = tmp_path / "stores", random.Random(kills)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as writers:  # fmt: skip
        for _ in range(kills):
            writers.stdin.write("begin\n")
            writers.stdin.flush()
            writer, *said = (int(writers.stdout.readline()) for _ in range(2 + draw.randrange(60)))
            os.kill(writer, signal.SIGKILL)
            said += map(int, iter(writers.stdout.readline, "ended\n"))
            with Database(path) as database:
                edges = SqliteGraph(database).edge_count()
                assert said[-1] <= edges <= said[-1] + 1
                assert SqliteHitsCash(database)._given("hub") == edges
                assert database.number("PRAGMA integrity_check") == "ok"


def test_files_that_are_no_such_database_are_refused(tmp_path):
    text, other, folder = tmp_path / "text", tmp_path / "other", tmp_path / "no" / "folder"
    text.write_bytes(b"no database at all\n" * 100)
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE of_another_program (a)")
    connection.close()
    for path, words in (
        (text, "no SQLite database"),
        (other, "a database of another program; expected the file of a crawl's stores, format 1"),
        (folder, "it cannot be opened"),
    ):
        with pytest.raises(BadInput, match=words) as raised:
            Database(path)
        assert str(path) in str(raised.value)
        if isinstance(cause := raised.value.__cause__, sqlite3.Error):  # as Python 3.10 tells it
            assert BY_CODE.get(_code_of(str(cause))) == words


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "stores"
    with Database(path) as database:
        SqliteGraph(database).add_edges((b"%d" % i, b"%d" % (i + 1)) for i in range(5000))
    contents = bytearray(path.read_bytes())
    contents[4096 * 4 : -4096] = os.urandom(len(contents) - 4096 * 5)
    path.write_bytes(contents)
    with pytest.raises(BadInput, match="a damaged SQLite database"), Database(path) as database:
        graph = SqliteGraph(database)
        list(graph.edges())
        graph.add_edges((b"x%d" % i, b"%d" % i) for i in range(5000))


def test_two_processes_at_once_are_told(tmp_path):
    with Database(tmp_path / "stores") as first, first.transaction():
        SqliteGraph(first)
        with pytest.raises(BadInput, match="it is in use by another process"):
            Database(tmp_path / "stores", wait=0.05)


def test_pages_that_are_nearly_the_same_have_not_changed_until_small_changes_add_up():
    with Database() as database:
        changes = SqlitePageChanges(database, lambda: 0.0, is_same=within(2))
        digests = (b"\x00\x00", b"\x00\x03", b"\x00\x07", b"\x00\x05", b"\x00", b"\x00\x00")
        seen = [changes.visit(b"p", digest) for digest in digests]
    assert seen == ["new", "same", "changed", "same", "changed", "changed"]
