"""Filters of `export-precedence`, against list comprehensions over the list of all pages."""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.crawls import FORKED, INLINE, crawlrank, environment, ok
from support.drawing import examples
from support.inputs.samples import write
from support.inputs.several_crawls import first_crawl, second_crawl
from support.paths import LOOPBACK, REFERENCE
from support.runs import finished, ranked, shared_warc
from surt import surt

import crawlrank as crawlrank_of_python
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.precedence.filters import (
    SELECTORS,
    TYPES,
    PageFilters,
    conditions,
    host_condition,
    status_condition,
    type_condition,
)
from crawlrank.pipeline.precedence.page_table import PageTable, Taken
from crawlrank.pipeline.precedence.score_formats import PAGE

Row = dict[str, Any]
Meets = Callable[[Row], bool]
ICS = sorted((REFERENCE / "archives" / "ics-uci").glob("*.gz"))

#: options and what they mean, in Python
STATUSES: dict[str, Callable[[int], bool]] = {
    "200": lambda status: status == 200,
    "3xx": lambda status: status // 100 == 3,
    "200,3xx": lambda status: status == 200 or status // 100 == 3,
    "400-499": lambda status: 400 <= status < 500,
}
KINDS: dict[str, Meets] = {
    "html": lambda row: row["media_type"] in ("text/html", "application/xhtml+xml"),
    "text/html": lambda row: row["media_type"] == "text/html",
    "text/*": lambda row: (row["media_type"] or "").startswith("text/"),
    "image,pdf": lambda row: (
        (row["media_type"] or "").startswith("image/")
        or row["media_type"] in ("application/pdf", "application/x-pdf")
    ),
}
HOSTS: dict[str, Meets] = {
    "127.0.0.1": lambda row: row["host"].partition(":")[0] == "127.0.0.1",
    "127.0.0.2:18082": lambda row: row["host"] == "127.0.0.2:18082",
    "flamingo.ics.uci.edu": lambda row: row["host"] == "flamingo.ics.uci.edu",
    "*.uci.edu": lambda row: f".{row['host'].partition(':')[0]}".endswith(".uci.edu"),
    ".ics.uci.edu": lambda row: f".{row['host'].partition(':')[0]}".endswith(".ics.uci.edu"),
}
PATTERNS = ("/p[0-9]", "^https:", "html$", "(?i)INDEX", "/~[a-e]", "")

#: options, and what a page has to meet
Choice = tuple[tuple[str, str], Meets]
CHOICES: list[Choice] = [
    (("--captured", ""), lambda row: row["captures"] > 0),
    (("--not-captured", ""), lambda row: row["captures"] == 0),
    *(
        (("--min-links", str(least)), lambda row, least=least: (row["links_in"] or 0) >= least)
        for least in (1, 2, 5)
    ),
    *(
        (
            ("--status", words),
            lambda row, meets=meets: row["captures"] > 0 and meets(row["status"] or 200),
        )
        for words, meets in STATUSES.items()
    ),
    *((("--type", words), meets) for words, meets in KINDS.items()),
    *((("--host", words), meets) for words, meets in HOSTS.items()),
    *(
        (("--match", pattern), lambda row, pattern=pattern: bool(re.search(pattern, row["url"])))
        for pattern in PATTERNS
    ),
]
choices = st.lists(
    st.sampled_from(CHOICES), max_size=3, unique_by=lambda choice: choice[0][0].replace("not-", "")
)


class Exported:
    """A work folder and its whole list, also as the table `pages` of a database."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.rows: list[Row] = [json.loads(line) for line in self.lines("jsonl")]
        self.precedence = self.lines("heritrix")
        self.db = duckdb.connect()
        rows = [[row[name] for row in self.rows] for name in PAGE.names]
        self.db.register("pages", pa.table(rows, PAGE))

    def lines(self, form: str, *options: str) -> list[str]:
        with TemporaryDirectory() as folder:
            output = Path(folder) / "exported"
            given = "--work", self.work, "--format", form, "--output", output
            ok("export-precedence", *given, *options)
            return output.read_text().splitlines()


@cache
def exported_of(name: str) -> Exported:
    crawl, engine = name.split()
    how = INLINE if engine == "text" else ()
    if crawl == "loopback":
        return Exported(finished(LOOPBACK, *how))
    return Exported(finished(ICS, "--iterations", 8, "--no-validate", *how))


ICS_COLUMNS = pytest.param("ics columns", marks=pytest.mark.real)


@pytest.fixture(params=["loopback columns", "loopback text", ICS_COLUMNS])
def exported(request: pytest.FixtureRequest) -> Exported:
    if request.param == "ics columns" and not ICS:
        pytest.skip("no reference data here")
    return exported_of(request.param)


def filters_of(chosen: list[Choice], top: int | None) -> PageFilters:
    given: dict[str, Any] = {"top": top}
    for (option, word), _ in chosen:
        field, _ = SELECTORS[option]
        if field == "min_links":
            given[field] = int(word)
        else:
            given[field] = True if not word and field != "match" else (word,)
            given[field] = word if field == "match" else given[field]
    return PageFilters(**given)


@pytest.mark.few(1)
@settings(max_examples=examples(200))
@given(chosen=choices, top=st.none() | st.integers(1, 60))
def test_filters_take_what_a_comprehension_takes(
    chosen: list[Choice], top: int | None, exported: Exported
) -> None:
    rows, left, counts = exported.rows, exported.rows, []
    order = [*SELECTORS]
    for option, meets in sorted(chosen, key=lambda choice: order.index(choice[0][0])):
        left = [row for row in left if meets(row)]
        shown = option[0] if option[0].endswith("captured") else " ".join(option)
        counts.append((shown, sum(map(meets, rows)), len(left)))
    table = PageTable(exported.db, conditions(filters_of(chosen, top)), top)
    if not left:
        with pytest.raises(BadInput, match="passes the filters: --") as caught:
            table.count("w")
        assert all(f"{name} leaves {alone:,}" in str(caught.value) for name, alone, _ in counts)
        return
    if top is not None:
        left = left[:top]
        counts.append((f"--top {top}", min(top, len(rows)), len(left)))
    assert table.count("w") == Taken(len(rows), 0, counts)
    keys = [key for (key,) in exported.db.sql(table.taken("key")).fetchall()]
    assert keys == [row["key"] for row in left]


def words(chosen: list[Choice], top: int | None) -> list[str]:
    given = [word for option, _ in chosen for word in option if word or option[0] == "--match"]
    return [*given, *(["--top", str(top)] if top else [])]


def require_same(form: str, chosen: list[Choice], top: int | None, exported: Exported) -> None:
    """The command, against a comprehension."""
    left = [row for row in exported.rows if all(meets(row) for _, meets in chosen)][:top]
    options = words(chosen, top)
    if not left:
        given = "--work", exported.work, "--format", form, "--output", "-"
        said = crawlrank("export-precedence", *given, *options)
        assert (said.code, said.out) == (3, "")
        assert all(f"{option[0]} {option[1]}".strip() in said.err for option, _ in chosen)
        return
    lines, keys = exported.lines(form, *options), {row["key"] for row in left}
    if form == "jsonl":
        assert [json.loads(line) for line in lines] == left
    elif form == "seeds":
        assert lines == [row["url"] for row in left]
    else:
        kept = [line for line in exported.precedence if surt(line.split()[0]) in keys]
        assert lines == kept


#: each option with each format that does not show other pages for it, and all options together
CASES: list[tuple[str, tuple[str, ...], int | None]] = [
    (
        "jsonl",
        ("--captured", "--status 200,3xx", "--type text/*", "--host 127.0.0.1", "--match /p[0-9]"),
        7,
    ),
    ("heritrix", ("--status 400-499", "--match (?i)INDEX"), 3),
    ("seeds", ("--type html", "--host 127.0.0.2:18082"), None),
    ("jsonl", ("--not-captured", "--min-links 2"), None),
    ("heritrix", ("--captured", "--host 127.0.0.2:18082"), None),
    ("seeds", ("--host *.uci.edu",), None),
]


@pytest.mark.parametrize(("form", "options", "top"), CASES)
@pytest.mark.parametrize("name", ["loopback columns", "loopback text"])
@pytest.mark.few(3)
def test_the_command_takes_what_a_comprehension_takes(
    name: str, form: str, options: tuple[str, ...], top: int | None
) -> None:
    by_name = {" ".join(choice[0]).strip(): choice for choice in CHOICES}
    require_same(form, [by_name[option] for option in options], top, exported_of(name))


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(
    form=st.sampled_from(["jsonl", "seeds", "heritrix"]),
    chosen=choices,
    top=st.none() | st.integers(1, 60),
)
def test_drawn_commands_take_what_a_comprehension_takes(
    form: str, chosen: list[Choice], top: int | None, exported: Exported
) -> None:
    require_same(form, chosen, top, exported)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.2:18082", "flamingo.ics.uci.edu", "nobody.example"]
)
@pytest.mark.few(1)
def test_pages_linked_from_a_host(host: str, exported: Exported) -> None:
    opened = crawlrank_of_python.open(exported.work)
    keys = opened.keys()["key"].to_pylist()
    own = surt(f"http://{host}/").partition(")")[0]
    linked = {
        keys[to]
        for source, to in zip(*(ids.tolist() for ids in opened.edges()), strict=True)
        if keys[source].startswith((f"{own})", f"{own}:"))
    }
    left = [row for row in exported.rows if row["key"] in linked]
    given = "export", exported.work, "--format", "jsonl", "--output", "-", "--linked-from", host
    known = {name for row in exported.rows for name in (row["host"], row["host"].split(":")[0])}
    assert bool(left) == (host in known)
    if not left:
        assert crawlrank(*given).code == 3
        return
    assert len(left) < len(exported.rows)
    assert [json.loads(line) for line in ok(*given).out.splitlines()] == left
    scores = opened.scores(linked_from=host)
    assert scores["key"].to_pylist() == [row["key"] for row in left]


@pytest.mark.slow
def test_pages_that_an_earlier_run_does_not_know(tmp_path: Path) -> None:
    options = ("--nodes", "all", "--no-validate")
    earlier, later = (finished(crawl(tmp_path), *options) for crawl in (first_crawl, second_crawl))
    given = "export", later, "--format", "jsonl", "--output", "-"
    rows = [json.loads(line) for line in ok(*given).out.splitlines()]
    known = {*crawlrank_of_python.open(earlier).uris()["key"].to_pylist()}
    new = [row for row in rows if row["key"] not in known]
    assert 0 < len(new) < len(rows)
    said = ok(*given, "--new-since", earlier)
    assert [json.loads(line) for line in said.out.splitlines()] == new
    text = finished(first_crawl(tmp_path), *options, *INLINE)
    assert ok(*given, "--new-since", text).out == said.out


@pytest.mark.slow
def test_runs_with_other_keys_are_not_compared(tmp_path: Path) -> None:
    kept_www = finished(LOOPBACK, "--keep-www")
    given = "export", finished(LOOPBACK), "--output", tmp_path / "p.txt", "--new-since"
    said = crawlrank(*given, kept_www)
    assert (said.code, "--keep-www" in said.err, str(kept_www) in said.err) == (3, True, True)
    said = crawlrank(*given, tmp_path / "none")
    assert (said.code, str(tmp_path / "none") in said.err) == (3, True)


@pytest.mark.few(1)
def test_every_format_is_filtered(exported: Exported, tmp_path: Path) -> None:
    options = ("--type", "html", "--top", "9")
    left = [row for row in exported.rows if KINDS["html"](row)][:9]
    given = "export", "--work", exported.work, "--output"
    ok(*given, tmp_path / "a.parquet", "--format", "parquet", *options)
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == left
    urls = [row["url"] for row in left]
    rows = list(csv.DictReader(exported.lines("csv", *options)))
    assert [row["url"] for row in rows] == urls
    assert [line.split("\t")[0] for line in exported.lines("nutch", *options)] == urls


@pytest.mark.few(1)
def test_what_each_filter_left_is_shown(exported: Exported, tmp_path: Path) -> None:
    output = tmp_path / "p.txt"
    options = ("--captured", "--match", "/p", "--top", "3")
    said = ok("export", "--work", exported.work, "--output", output, *options)
    captured = [row for row in exported.rows if row["captures"]]
    matched = [row for row in exported.rows if "/p" in row["url"]]
    both = [row for row in captured if "/p" in row["url"]]
    expected = [
        ("--captured", len(captured), len(captured)),
        ("--match /p", len(matched), len(both)),
        ("--top 3", 3, 3),
    ]
    for option, alone, together in expected:
        (line,) = (line for line in said.err.splitlines() if line.startswith(option))
        assert line.removeprefix(option).replace(",", "").split() == [str(alone), str(together)]
    summary = json.loads((tmp_path / "p.summary.json").read_text())
    names = ("filter", "alone", "together")
    assert summary["filters"] == [dict(zip(names, row, strict=True)) for row in expected]


@pytest.mark.slow
@pytest.mark.few(1)
def test_conflicting_filters_say_what_each_leaves(exported: Exported, tmp_path: Path) -> None:
    options = ("--status", "200", "--match", "/p", "--host", "nobody.example")
    output = tmp_path / "p.txt"
    said = crawlrank("export", "--work", exported.work, "--output", output, *options)
    assert said.code == 3
    good = sum(row["captures"] > 0 and (row["status"] or 200) == 200 for row in exported.rows)
    assert (
        f"none of {len(exported.rows):,} pages passes the filters: --status 200 leaves {good:,}; "
        in said.err
    )
    assert "--host nobody.example leaves 0, 0 with those before" in said.err
    assert str(exported.work) in said.err
    assert not output.exists()


@pytest.mark.few(1)
def test_a_part_keeps_its_classes(exported: Exported) -> None:
    """Classes are cut before filters: those of the part are those of the whole list."""
    host = exported.rows[0]["host"]
    part = [json.loads(line) for line in exported.lines("jsonl", "--host", host, "--bins", "9")]
    whole = [json.loads(line) for line in exported.lines("jsonl", "--bins", "9")]
    assert part == [row for row in whole if row["host"] == host]
    assert len({row["class"] for row in part}) > 1


def test_an_export_has_the_options_of_the_run(tmp_path: Path) -> None:
    """But for those that are given."""
    options = ("--bins", "20", "--ties", "together", "--aliases", "scheme", "--unlisted", "30")
    work, whole, part = finished(LOOPBACK, *options), tmp_path / "whole.txt", tmp_path / "part"
    ok("export", work, "--output", whole)
    assert whole.read_bytes() == (work / "precedence.txt").read_bytes()
    summaries = [tmp_path / "whole.summary.json", work / "precedence.summary.json"]
    assert summaries[0].read_bytes() == summaries[1].read_bytes()
    ok("export", work, "--match", "/p[0-3]", "--output", part)
    assert {*part.read_text().splitlines()} < {*whole.read_text().splitlines()}
    rows = [json.loads(line) for line in ok("export", work, "--format", "jsonl").out.splitlines()]
    assert max(row["class"] or 0 for row in rows) == 20
    ok("export", work, "--bins", "3", "--aliases", "", "--output", part)
    assert {line.split()[1] for line in part.read_text().splitlines()} == {"1", "2", "3"}
    shown = json.loads((tmp_path / "part.summary.json").read_text())
    assert (shown["bins"], shown["unlisted"], shown["alias_lines"]) == (3, 30, 0)


def test_an_ending_that_is_no_format_is_refused(tmp_path: Path) -> None:
    for ending in ("json", "yaml", "tsv"):
        said = crawlrank("export", finished(LOOPBACK), "--output", tmp_path / f"pages.{ending}")
        assert (said.code, f"no format has the ending .{ending}; give --format" in said.err) == (
            2, True,
        )  # fmt: skip


@pytest.mark.slow
def test_another_ranking_is_filtered_by_its_own_order() -> None:
    work = ranked(finished(LOOPBACK), "--method", "hits")
    given = "export", "--work", work, "--ranking", "hits", "--output", "-"
    whole = [json.loads(line) for line in ok(*given, "--format", "jsonl").out.splitlines()]
    own = exported_of("loopback columns").rows
    assert [row["url"] for row in whole] != [row["url"] for row in own]
    part = ok(*given, "--format", "seeds", "--status", "200", "--top", "7").out.splitlines()
    assert part == [row["url"] for row in whole if row["status"] == 200][:7]


@pytest.mark.slow
def test_a_run_without_captures(tmp_path: Path) -> None:
    links = write(tmp_path / "links.txt", [b"http://a.example/ http://b.example/ L"])
    work = tmp_path / "w"
    ok("step", "import-text", "--links", links, "--work", work)
    ok("run", "--work", work, "--quiet", "--no-validate", "--nodes", "all")
    given = "export", "--work", work, "--format", "seeds", "--output", "-"
    assert ok(*given, "--host", "b.example").out == "http://b.example/\n"
    for option in (["--captured"], ["--status", "200"], ["--type", "html"]):
        said = crawlrank(*given, *option)
        assert (said.code, "none of 2 pages passes the filters" in said.err) == (3, True)


@pytest.mark.slow
def test_hosts_are_those_of_keys() -> None:
    """With --keep-www another host, without it the same one."""
    web = {"http://www.a.example/": ["http://a.example/x"], "http://a.example/x": ["/"]}
    archive = shared_warc("www.warc", web)
    for options, left in (((), 2), (("--keep-www",), 1)):
        work = finished(archive, "--nodes", "all", "--no-validate", *options)
        given = "export", "--work", work, "--format", "seeds", "--output", "-", "--host"
        seeds = ok(*given, "www.a.example").out.splitlines()
        assert ("http://www.a.example/" in seeds, len(seeds)) == (True, left)
        assert len(ok(*given, "*.A.Example").out.splitlines()) >= left


NAMES = ("a.example", "b.a.example", "ba.example", "example", "www.a.example", "[2001:db8::1]")
hosts = st.sampled_from(NAMES)


ports = st.sampled_from(["", ":8080", ":80"])


@given(
    st.lists(st.tuples(hosts, ports), min_size=1), hosts, st.sampled_from(["", ".", "*."]), ports
)
def test_host_conditions(pages: list[tuple[str, str]], name: str, prefix: str, port: str) -> None:
    urls = [f"http://{host}{port}/x" for host, port in pages]
    keys = [surt(url) for url in urls]
    condition = host_condition([prefix + name + port], www="strip")
    values = ", ".join(f"('{key}')" for key in keys)
    found = duckdb.sql(f"SELECT key FROM (VALUES {values}) t(key) WHERE {condition}").fetchall()
    wanted = name.removeprefix("www.")

    def meets(url: str) -> bool:
        parts = urlsplit(url)
        if port and (parts.port or 80) != int(port[1:]):
            return False
        host = (parts.hostname or "").removeprefix("www.")
        return host == wanted.strip("[]") or (bool(prefix) and host.endswith(f".{wanted}"))

    expected = [key for key, url in zip(keys, urls, strict=True) if meets(url)]
    if "[" not in name:  # of an address, surt does not tell a port from a group
        assert sorted(key for (key,) in found) == sorted(expected)


def test_an_address_may_be_named_as_lists_of_hosts_show_it() -> None:
    address = host_condition(["[2001:db8::1]"], www="strip")
    assert host_condition(["2001:db8::1"], www="strip") == address


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        *(("--status", value, "is no status") for value in ("2x", "20", "500-400", "abc", "2000")),
        *(("--type", value, "is no media type") for value in ("htm", "text/", "*/html", "a b/c")),
        *(("--host", value, "is no host") for value in ("a b", "http://a/", "*", "a/b", "u@h")),
        *(("--status", value, "a value is empty") for value in ("", "200,")),
        *(("--match", value, "is no pattern of RE2") for value in ("(", "(?=a)", r"(a)\1")),
        ("--top", "0", "not in the range"),
    ],
)
def test_values_that_are_none(option: str, value: str, said: str, tmp_path: Path) -> None:
    given = "export", "--work", tmp_path, "--output", "-", option, value
    refused = crawlrank(*given)
    assert (refused.code, said in refused.err) == (2, True), refused


def test_filters_that_need_captures(tmp_path: Path) -> None:
    scores = write(tmp_path / "scores.txt", [b"1.0\thttp://a.example/\texample,a)/"])
    for option, cure in (
        (["--status", "200"], "export WORK"), (["--min-links", "2"], "export WORK"),
        (["--linked-from", "a.example"], "export WORK"), (["--new-since", tmp_path], "export WORK"),
        (["--captured"], "--uris"), (["--not-captured"], "--uris"),
        (["--captured", "--not-captured"], "leave no page"),
    ):  # fmt: skip
        said = crawlrank("export-precedence", scores, "--output", "-", *option)
        assert (said.code, cure in said.err) == (2, True)


def test_no_pattern_takes_long(tmp_path: Path) -> None:
    """One that takes a backtracking matcher 2^60 steps."""
    uri = b"http://a.example/" + b"a" * 60
    scores = write(tmp_path / "scores.txt", [b"1.0\t%s\texample,a)/a" % uri])
    given = "export-precedence", scores, "--output", "-", "--format", "seeds"
    assert crawlrank(*given, "--match", "(a+)+$").out == f"{uri.decode()}\n"
    assert crawlrank(*given, "--match", "(a+)+!$").code == 3


def test_names_of_types_and_statuses_are_conditions() -> None:
    for name, types in TYPES.items():
        for media_type in types:
            shown = media_type.replace("*", "x")
            row = f"(VALUES ('{shown}')) t(media_type)"
            found = duckdb.sql(f"SELECT 1 FROM {row} WHERE {type_condition([name])}").fetchall()
            assert found == [(1,)]
    numbers = "range(0, 1000) t(status), (VALUES (1)) c(captures)"
    for text, meets in STATUSES.items():
        query = f"SELECT status FROM {numbers} WHERE {status_condition([text])}"
        assert [n for (n,) in duckdb.sql(query).fetchall()] == [*filter(meets, range(1000))]


def test_seeds_that_a_crawler_would_misread_are_left_out(tmp_path: Path) -> None:
    """A fragment, another scheme; a page alone is a seed."""
    uris = ["http://a.example/#x", "ftp://a.example/y", "http://a.example/z"]
    scores = write(
        tmp_path / "scores.txt",
        [f"{9 - n}.0\t{uri}\texample,a)/{n}".encode() for n, uri in enumerate(uris)],
    )
    said = ok("step", "export-precedence", scores, "--output", "-", "--format", "seeds")
    assert said.out == "http://a.example/z\n"
    assert re.search(r"left out: without a URI +1\n", said.err)
    assert re.search(r"left out: no seed, for a blank or a # in it +1\n", said.err)


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["jsonl", "seeds", "nutch"])
def test_standard_output_has_what_a_file_has(form: str, tmp_path: Path) -> None:
    given = "export", "--work", finished(LOOPBACK), "--format", form, "--output"
    ok(*given, tmp_path / "file")
    said = ok(*given, "-")
    assert said.out.encode() == (tmp_path / "file").read_bytes()
    assert "count" in said.err


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["csv", "heritrix", "parquet"])
def test_standard_output_of_a_process_has_what_a_file_has(form: str, tmp_path: Path) -> None:
    """And nothing else is written."""
    given = "export", "--work", finished(LOOPBACK), "--format", form, "--output"
    ok(*given, tmp_path / "new" / "file")
    words = [*FORKED, *map(str, given), "-"]
    done = subprocess.run(words, env=environment(), capture_output=True, cwd=tmp_path, check=True)
    assert done.stdout == (tmp_path / "new" / "file").read_bytes()
    assert b"count" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["new"]


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["heritrix", "jsonl", "parquet"])
def test_a_reader_that_leaves_ends_it(form: str) -> None:
    given = "export", "--work", finished(LOOPBACK), "--format", form, "--output", "-"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*FORKED, *map(str, given)],
        env=environment(), stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")


def test_columns_are_not_for_a_terminal() -> None:
    given = "export", "--work", finished(LOOPBACK), "--format", "parquet"
    master, terminal = pty.openpty()
    try:
        done = subprocess.run(
            [*FORKED, *map(str, given), "--output", "-"],
            env=environment(), stdout=terminal, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(terminal)
        os.close(master)
    assert (done.returncode, "not for a terminal" in done.stderr) == (2, True)
