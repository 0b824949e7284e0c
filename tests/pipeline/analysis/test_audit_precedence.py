"""`crawlrank audit`: real logs, made ones with one fault each, and bad input."""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import scipy
from support.crawls import crawlrank, ok, process
from support.inputs.crawl_logs import Fetch, log, written
from support.paths import HERITRIX, SAMPLES

from crawlrank.pipeline.analysis.audit import findings

PREC = HERITRIX / "prec.txt"
FIRST = HERITRIX / "first.crawl.log"
LISTED = [line.split(" ")[0] for line in PREC.read_text().splitlines()]
UNLISTED = [f"http://127.0.0.{n}:1808{n}/p{p}.html" for n in (1, 2, 3) for p in (2, 9)]


def audit(file: Path, *logs: Path, by: str = "begin") -> dict[str, Any]:
    """The JSON of a command that ends well."""
    found: dict[str, Any] = json.loads(ok("audit", file, *logs, "--json", "-", "--by", by).out)
    return found


def told(found: dict[str, Any], beginning: str) -> bool:
    return any(said.startswith(beginning) for said in found["advice"])


# ---- the orders that Heritrix 3.13.0 gave for prec.txt, see tests/data/heritrix ----------------

ORDERS = {
    "with the beans as written": LISTED + UNLISTED,
    "without a default precedence": UNLISTED + LISTED,
    "without the queue policy": [
        uri for host in ("127.0.0.3", "127.0.0.2", "127.0.0.1") for uri in LISTED if host in uri
    ],
}


def test_the_crawl_that_heritrix_made_by_the_file() -> None:
    found = audit(SAMPLES / "recrawl" / "precedence.txt", SAMPLES / "recrawl" / "crawl.log")
    assert found["advice"] == []
    assert [row["first"] for row in found["classes"]] == list(range(1, 25))
    assert found["unlisted_places"] == {
        **dict.fromkeys(("listed", "fetched", "tried", "respelled", "never"), 0),
        **{"precedence": "unlisted", "first": 25, "median": 27, "last": 30},
        "begin": "2026-11-21T09:11:36.897Z",
    }
    assert {name: found["order"][name]["kept"] for name in ("all", "listed_before_unlisted")} == {
        "all": 1, "listed_before_unlisted": 1,
    }  # fmt: skip


def robots(order: list[str]) -> list[tuple[str, str]]:
    """With what Heritrix fetches first of a host."""
    found: dict[str, str] = {}
    for uri in order:
        found.setdefault(uri.split("/")[2], uri)
    before = {first: f"http://{host}/robots.txt" for host, first in found.items()}
    return [
        fetch
        for uri in order
        for fetch in ([(before[uri], "P"), (uri, "-")] if uri in before else [(uri, "-")])
    ]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ORDERS)
def test_what_a_missing_bean_does_is_seen(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "crawl.log", log(robots(ORDERS[name])))
    found = audit(PREC, path)
    counts, order = found["counts"], found["order"]
    assert (counts["listed"], counts["prerequisites"]) == (24, 3)
    assert counts["ordered"] == len(ORDERS[name])
    assert order["within_hosts"]["tau_b"] == 1
    assert (order["all"]["tau_b"] == 1) == (name != "without the queue policy")
    assert told(found, "Unlisted URIs came before") == (name == "without a default precedence")
    assert told(found, "Within hosts the order is kept") == (name == "without the queue policy")
    assert len(found["advice"]) == (name != "with the beans as written")
    if name != "without the queue policy":
        assert found["unlisted"]["new page"]["uris"] == 6
        assert found["unlisted_places"]["first"] == (25 if name.startswith("with the") else 1)


def test_a_crawl_that_knew_nothing_of_the_file() -> None:
    found = audit(PREC, FIRST)
    position = {line.split()[3]: n for n, line in enumerate(FIRST.read_text().splitlines())}
    values = [int(line.split(" ")[1]) for line in PREC.read_text().splitlines()]
    tau = scipy.stats.kendalltau([position[uri] for uri in LISTED], values).statistic
    assert found["order"]["all"]["tau_b"] == pytest.approx(tau)
    assert told(found, "The order has little to do with the file")
    assert found["counts"]["inferred"] == 3
    assert found["unlisted"]["new page"]["by_hop"] == {"-": 1, "E": 4, "L": 28, "X": 1}


def test_counts_by_a_plain_reader_on_a_random_crawl(tmp_path: Path) -> None:
    rng = random.Random(1)
    uris = [f"http://h{n % 7}.example/{n}" for n in range(400)]
    classes = {uri: rng.randint(1, 9) for uri in rng.sample(uris, 300)}
    file = written(tmp_path / "p.txt", "".join(f"{uri} {n}\n" for uri, n in classes.items()))
    fetches = [
        Fetch(uri, rng.choice(["-", "L", "LL", "LE", "LR"]), rng.choice([200, 404, -2]))
        for uri in rng.choices(uris, k=600)
    ]
    found = audit(file, written(tmp_path / "crawl.log", log(fetches)))
    answered: dict[str, Fetch] = {}
    for fetch in fetches:
        if fetch.status > 0:
            answered.setdefault(fetch.uri, fetch)
    tried = {fetch.uri for fetch in fetches} - answered.keys()
    counts = found["counts"]
    assert (counts["answered"], counts["tried"]) == (len(answered), len(tried))
    assert found["unlisted"]["new page"]["uris"] == len(answered.keys() - classes.keys())
    for row in found["classes"]:
        of = {uri for uri, n in classes.items() if str(n) == row["precedence"]}
        assert row["listed"] == len(of)
        assert row["fetched"] == len(of & answered.keys())
        assert row["tried"] == len(of & tried)
        assert row["never"] == len(of - answered.keys() - tried)
        places = [n for n, uri in enumerate(answered, 1) if uri in of]
        assert (row["first"], row["last"]) == (places[0], places[-1])
        assert row["median"] == places[(len(places) - 1) // 2]
    listed = [(uri, fetch) for uri, fetch in answered.items() if uri in classes]
    groups = {"all": found["order"]["all"], **found["order"]["by_hop"], **found["order"]["by_host"]}
    for name, measure in groups.items():
        values = [
            classes[uri] for uri, fetch in listed
            if name in ("all", fetch.hops[-1], uri.split("/")[2])
        ]  # fmt: skip
        assert measure["uris"] == len(values)
        assert measure["tau_b"] == pytest.approx(
            scipy.stats.kendalltau(range(len(values)), values).statistic
        )
    within = [measure["pairs"] for measure in found["order"]["by_host"].values()]
    assert found["order"]["within_hosts"]["pairs"] == sum(within)


# ---- why a URI is not listed -----------------------------------------------------------------

CAUSES = [
    ("http://h.example/A/b", "http://h.example/a/b", "case"),
    ("http://h.example/a", "http://H.Example/a", "case"),
    ("http://h.example/a/", "http://h.example/a", "missing slash"),
    ("http://h.example/", "http://h.example", "missing slash"),
    ("http://h.example/a", "http://h.example/a#top", "fragment"),
    ("http://h.example/a", "http://h.example:80/a", "port"),
    ("http://h.example/a", "http://h.example:8080/a", "port"),
    ("http://www.h.example/a", "http://h.example/a", "www"),
    ("https://h.example/a", "http://h.example/a", "scheme"),
    ("http://h.example/a;jsessionid=1A", "http://h.example/a", "session id"),
    ("http://h.example/a?PHPSESSID=1a&b=c", "http://h.example/a?b=c", "session id"),
    ("http://h.example/a?b=c&sid=1", "http://h.example/a?b=c&sid=2", "session id"),
    ("http://h.example/%7Ea", "http://h.example/~a", "escape"),
    ("http://h.example/%c3%a9", "http://h.example/%C3%A9", "escape"),
    ("http://h.example/caf%C3%A9", "http://h.example/caf\xe9", "escape"),
    ("http://h.example/a", "http://h.example/b/../a", "form"),
    ("http://h.example/a", "http://h.example/a -1", "minus one"),
    ("https://www.h.example/A/", "http://h.example/a", "several"),
    ("http://h.example/a?x=1", "http://h.example/a?x=2", "new page"),
    ("http://h.example/ab", "http://h.example/a", "new page"),
    ("http://h.example/%C3%A9", "http://h.example/%C3%AA", "new page"),
]


def test_likely_causes(tmp_path: Path) -> None:
    fetched, entries, expected = [], [], {}
    for number, (uri, listed, cause) in enumerate(CAUSES):
        own = f"{number}."  # so that none is like another
        uri, listed = (re.sub("[.](?=example)", own, t, flags=re.I) for t in (uri, listed))
        fetched.append(uri)
        entries.append(listed if " " in listed else f"{listed} 5")
        expected[uri] = cause
    file = written(tmp_path / "p.txt", "".join(f"{entry}\n" for entry in entries))
    found = audit(file, written(tmp_path / "crawl.log", log(fetched)))["unlisted"]
    assert {uri: name for name, each in found.items() for uri, _ in each["examples"]} == expected
    for name, each in found.items():
        assert each["uris"] == list(expected.values()).count(name)
        for uri, other in each["examples"]:
            assert not other or other == entries[fetched.index(uri)].split(" ")[0]


def test_a_session_id_of_many_makes_no_pairs(tmp_path: Path) -> None:
    listed = "".join(f"http://h.example/a?sid={n} 5\n" for n in range(3000))
    fetched = [f"http://h.example/a?sid={n}" for n in range(3000, 6000)]
    found = audit(
        written(tmp_path / "p.txt", listed), written(tmp_path / "crawl.log", log(fetched))
    )
    assert found["unlisted"]["session id"]["uris"] == 3000


# ---- logs ------------------------------------------------------------------------------------


def test_rotated_logs_in_any_order_plain_or_gzip_are_one(tmp_path: Path) -> None:
    lines = FIRST.read_text().splitlines(keepends=True)
    one = written(tmp_path / "crawl.log.1", "".join(lines[:30]))
    other = tmp_path / "crawl.log.gz"
    other.write_bytes(gzip.compress("".join(lines[30:]).encode()))
    whole, parts = audit(PREC, FIRST), audit(PREC, other, one)
    assert (whole["log"].pop("logs"), parts["log"].pop("logs")) == (1, 2)
    assert whole == parts


@pytest.mark.slow
def test_less_memory_gives_the_same(tmp_path: Path) -> None:
    found = [
        findings.audit(PREC, [FIRST], budget=budget, threads=threads, tmp=tmp_path)
        for budget, threads in ((1 << 30, 2), (0, 1))
    ]
    assert found[0].all == found[1].all
    assert found[0].classes == found[1].classes


def test_threads_write_lines_out_of_order_and_begins_count(tmp_path: Path) -> None:
    file = written(tmp_path / "p.txt", "http://h/slow 1\nhttp://h/fast 2\n")
    lines = log([Fetch("http://h/slow", took=900), "http://h/fast"]).splitlines(keepends=True)
    path = written(tmp_path / "crawl.log", "".join(sorted(lines)))
    assert path.read_text().index("fast") < path.read_text().index("slow")
    assert audit(file, path)["order"]["all"]["kept"] == 1
    assert audit(file, path, by="line")["order"]["all"]["kept"] == 0


@pytest.mark.slow
def test_an_unfinished_crawl_and_a_clock_that_went_back(tmp_path: Path) -> None:
    uris = [f"http://h/{n}" for n in range(40)]
    file = written(tmp_path / "p.txt", "".join(f"{u} {n // 10 + 1}\n" for n, u in enumerate(uris)))
    path = written(tmp_path / "crawl.log", log(uris[:25])[:-60])
    found = audit(file, path)
    assert [row["never"] for row in found["classes"]] == [0, 0, 6, 10]  # the last line is cut
    assert told(found, "16 listed URIs were not fetched, all in the last class")
    (tmp_path / "crawl.log.lck").touch()
    assert "crawl.log.lck is there" in audit(file, path)["advice"][0]
    text = log(uris[:20]) + log(uris[20:]).replace("T09:", "T08:").replace("2109", "2108")
    found = audit(file, written(tmp_path / "back.log", text))
    assert told(found, "The clock went back in the log (20 lines")
    assert found["order"]["all"]["kept"] < 0.5
    assert audit(file, tmp_path / "back.log", by="line")["order"]["all"]["kept"] == 1


# ---- bad input -------------------------------------------------------------------------------


def test_faults_that_load_are_counted_and_shown(tmp_path: Path) -> None:
    text = "http://h.example 1\nhttp://h.example/a 200\nhttp://h.example/a 300\n# 7 pages\n"
    file = written(tmp_path / "p.txt", text)
    logs = written(tmp_path / "crawl.log", log(["http://h.example/", "http://h.example/a"]))
    said = ok("audit", file, logs).out
    for words in ("no slash after the host", "comment that loads", "stalls the crawl", "126+"):
        assert words in said
    assert audit(file, logs)["counts"]["duplicates"] == 1


def test_a_file_that_does_not_load_ends_with_3_and_a_cure(tmp_path: Path) -> None:
    file = written(tmp_path / "p.txt", "http://h.example/a 1\n\nhttp://h.example/b\n")
    said = crawlrank("audit", file, FIRST)
    assert said.code == 3
    assert "p.txt, line 2: blank line" in said.err
    assert "Lines that stop it: 2" in said.err
    assert "`crawlrank audit`" in said.err


def test_missing_and_foreign_files_end_with_3(tmp_path: Path) -> None:
    for file, logs in ((tmp_path / "none", FIRST), (PREC, tmp_path / "none"), (PREC, tmp_path),
                       (PREC, PREC), (PREC, SAMPLES / "aut-example.warc.gz")):  # fmt: skip
        said = crawlrank("audit", file, logs)
        assert (said.code, said.out) == (3, ""), said
        assert "expected" in said.err


def test_strict_wants_every_line(tmp_path: Path) -> None:
    path = written(tmp_path / "crawl.log", FIRST.read_text() + "2026-11-21T09:11:36.025Z   200\n")
    assert "cut short" in ok("audit", PREC, path).out
    said = crawlrank("audit", PREC, path, "--strict")
    assert said.code == 3
    assert "crawl.log, line 65: cut short" in said.err


def test_never_fetched_while_another_spelling_was(tmp_path: Path) -> None:
    file = written(tmp_path / "p.txt", "http://h/A 1\nhttp://h/a 1\nhttp://h/b 2\n")
    fetches = [Fetch("http://h/A"), Fetch("http://h/b", "L", -9998)]
    found = audit(file, written(tmp_path / "crawl.log", log(fetches)))
    assert (found["never_examples"], found["never_respelled"]) == (["http://h/a"], 1)
    assert found["tried_by_status"] == {"-9998": 1}


def test_hostile_uris_reach_no_terminal(tmp_path: Path) -> None:
    file = written(tmp_path / "p.txt", "http://h/[red]a[/red] 1\nhttp://h/\x1b[31m 2\n")
    text = log(["http://h/x\x1b[31m", "http://h/[red]b[/red]"])
    ok("audit", file, written(tmp_path / "crawl.log", text))  # checked there


def test_outputs_are_no_inputs(tmp_path: Path) -> None:
    path = written(tmp_path / "crawl.log", FIRST.read_text())
    for option in ("--json", "--plot"):
        said = crawlrank("audit", PREC, path, option, path)
        assert said.code == 2


# ---- the picture -----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_picture(tmp_path: Path) -> None:
    for name in ("one.svg", "two.svg", "three.png"):
        ok("audit", PREC, FIRST, "--plot", tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert (tmp_path / "three.png").read_bytes().startswith(b"\x89PNG")
    drawn = ElementTree.parse(tmp_path / "one.svg")
    assert drawn.getroot().tag.endswith("svg")
    said = crawlrank("audit", PREC, FIRST, "--plot", tmp_path / "x.jpg")
    assert (said.code, "must end in .png or .svg" in said.err) == (2, True)


@pytest.mark.slow
def test_nothing_in_order_can_be_drawn_too(tmp_path: Path) -> None:
    path = written(tmp_path / "crawl.log", log([("http://h/robots.txt", "P")]))
    said = ok("audit", PREC, path, "--plot", tmp_path / "empty.png").out
    assert "24 listed URIs were not fetched" in said


def test_without_matplotlib_the_rest_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = crawlrank("audit", PREC, FIRST, "--plot", tmp_path / "a.png")
    assert (said.code, "pip install 'matplotlib>=3.8'" in said.err) == (2, True)


@pytest.mark.slow
def test_as_a_process() -> None:
    said = process("audit", PREC, FIRST)
    assert (said.code, said.err) == (0, "")
    assert "what to change" in said.out
