"""All tables of all commands, on a crawl with URIs of 2,000 characters and on real ones, at
widths of 80, 120 and 200 and in a pipe: what a reader must see. `make test-slow` runs them.

A command that is in neither CALLS nor SILENT fails a test, and so does a function that makes a
table which no call shows. So a new command or table cannot escape.
"""

from __future__ import annotations

import ast
import csv
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.cells import cell_len
from support.crawls import WEB, Said, crawlrank, response, write_records, write_warc
from support.paths import LOOPBACK, REFERENCE, ROOT, SAMPLES
from support.terminals import TablesSeen, on_terminal

from crawlrank.pipeline.cli.commands import COMMANDS
from crawlrank.pipeline.estimate.estimate import RunEstimate
from crawlrank.pipeline.estimate.projection import Bracket
from crawlrank.pipeline.estimate.report import ROWS, estimate_table
from crawlrank.pipeline.heritrix.verification import Verification
from crawlrank.pipeline.terminal.tables import CUT, ColumnKind, TextTable

WIDTHS = (80, 120, 200)
ICS = REFERENCE / "archives/ics-uci"
LOG = SAMPLES / "heritrix-loopback.crawl.log"
FOLDER = "a-folder-whose-name-is-long-as-those-of-archives-often-are/" * 3

#: what makes the folders that CALLS read; {a}: an archive, {b}: a second one, {w}: a folder
PREPARE = (
    "run {a} --work {w}/work --captures latest --method pagerank",
    "run {a} {b} --work {w}/later --captures latest --bins 3 --jobs 1",
    "rank --work {w}/work --method site --name site",
    "rank --work {w}/work --method hits --name hits",
    "run {a} {w}/junk.warc.gz {w}/cut.warc.gz --work {w}/damaged --skip-bad-files --no-validate"
    " --jobs 1",
)
#: command -> its calls; exit codes other than 0 after an =
CALLS = {
    "run": (
        "run {a} --work {w}/work --captures latest", "run {a} --work {w}/sites --method site",
        "run {w}/small.warc.gz --work {w}/none --dry-run --jobs 1",
    ),
    "rank": ("rank --work {w}/work --method degree --name degree",),
    "status": (
        "status --work {w}/work", "status --work {w}/later --verbose",
        "status --work {w}/damaged", "status --work {w}/spoilt", "status --work {w}/imported",
        "status --work {w}/charsets", "status {w}/work --check",
    ),
    "diff": (
        "diff {w}/work {w}/later",
        "diff {w}/work", "diff {w}/work --ranking run --ranking hits",
        "diff {w}/work --ratings {w}/ratings.csv",
    ),
    "explain": ("explain --work {w}/work {uri}", "explain --work {w}/later {uri}"),
    "inspect": (
        "inspect {a} {b} --quiet --jobs 1",
        "inspect {a} {w}/junk.warc.gz {w}/cut.warc.gz --quiet --jobs 1 =3",
    ),
    "step extract-links": ("step extract-links {a} --output {w}/l.txt --captures {w}/c.txt",),
    "step select-links": (
        "step select-links {w}/lt.txt --captures {w}/ct.txt --folds {w}/f.txt --output {w}/s.txt"
        " --take latest --fold redirects --runner inline",
    ),
    "step canonicalize": (
        "step canonicalize {w}/l.txt --captures {w}/c.txt --output {w}/cl.txt --uris {w}/u.txt"
        " --runner inline",
    ),
    "step assign-ids": (
        "step assign-ids {w}/cl.txt --output {w}/i.txt --map {w}/m.txt --runner inline",
    ),
    "step gen-graph": ("step gen-graph {w}/i.txt --output {w}/g.txt --runner inline",),
    "step page-rank": (
        "step page-rank {w}/g.txt --output {w}/r.txt --iterations 2 --runner inline",
    ),
    "step join-scores": (
        "step join-scores {w}/r.txt --map {w}/m.txt --uris {w}/u.txt --output {w}/sc.txt"
        " --runner inline",
    ),
    "step export-precedence": (
        "step export-precedence {w}/sc.txt --uris {w}/u.txt --output {w}/p.txt",
    ),
    "export": (
        "export {w}/work --captured --top 5 --output {w}/p.txt",
        "export {w}/work --ranking site --format sites --output {w}/sites.csv",
    ),
    "hosts": ("hosts --work {w}/work", "hosts --work {w}/later --by domain"),
    "step validate-opic": (
        "step validate-opic {w}/g.txt {w}/r.txt --output {w}/v.json --verbose --min-agreement 0",
    ),
    "plan": ("plan --work {w}/work --work {w}/later --budget 50/day --output {w}/plan",),
    "audit": (
        "audit {w}/work/precedence.txt {w}/crawl.log",
        "audit {samples}/recrawl/precedence.txt {samples}/recrawl/crawl.log",
    ),
}  # fmt: skip
#: commands that show no table: they write a page, pictures or files, or need Heritrix, whose table
#: is below
SILENT = (
    "report", "step import-text", "recrawl", "lab aopic", "lab watch", "cluster package",
)  # fmt: skip
#: title -> columns and labels that a reader must find; the beginning of a title will do
MUST = {
    "run": {
        "pages with the highest scores": ("score", "URI"),
        "best of": ("site", "class", "score", "share", "pages", "links in", "sites out"),
        "precedence": ("precedence", "URIs", "pages", "captured", "highest score", "lowest"),
        "what limits this ranking": ("caveat", "number", "of", "cure", "meaning"),
        "what the run takes": ("likely", "low", "high", "time", "memory", "URIs"),
    },
    "export": {"pages taken of": ("filter", "leaves", "--captured", "--top 5")},
    "hosts": {
        "": ("host", "domain", "pages", "captured", "score", "best", "class 1", "links in"),
    },
    "status": {
        "steps": ("step", "state", "rows", "seconds", "extract-links", "validate-opic"),
        "rounds of PageRank": ("round", "error at most (certificate)", "seconds"),
        "archives (": ("archive", "captures", "HTML pages", "links", "damage", "error"),
        "left out": ("step", "count", "reason", "which is", "again on the same page"),
        "rankings": ("label", "method", "state", "rounds", "error at most"),
        "datasets": ("step", "dataset", "files", "bytes", "state", "as it was left"),
    },
    "diff": {
        "pages": ("what", "count", "in both", "risen in class", "Kendall's tau-b"),
        "options that differ": ("--bins", "--bins 5", "--bins 3"),
        "classes": ("before", "gone", "new"),
        "how far rankings agree": ("ranking", "and", "pages", "Kendall's tau-b", "same class"),
        "pages that differ most": ("position", "class", "links", "page"),
        "links that give them most": ("page", "in", "share", "source"),
        "classes that are those of the mean": ("who", "pages", "same class", "kappa", "rater ann"),
    },
    "explain": {
        "http": ("key", "score", "position", "class", "captures"),
        "links to it": ("spellings", "one from each page with a score", "from the page itself"),
        "what its score is made of": ("gives", "share", "source's score", "its links", "source"),
        "spellings": ("precedence", "captures", "links", "URI"),
    },
    "inspect": {
        "archives (": ("archive", "format", "size", "records", "captures", "links", "damage"),
        "in all": ("archives", "size", "records", "captures", "hosts", "links", "time"),
        "captures by status": ("count", "status", "200"),
        "links by hop": ("count", "hop", "which is", "reader"),
        "left out": ("count", "reason", "which is"),
        "not readable": ("archive", "found", "an empty file"),
        "damage": ("count", "reason", "which is", "truncated"),
        "where": ("reason", "offset", "archive"),
    },
    "step validate-opic": {
        "PageRank by OPIC": ("shares are wrong by at most", "(eta)", "classes agree"),
        "pages by class": ("1", "2", "3", "4", "5"),
    },
    "plan": {
        "pages": ("planned", "visited twice or more"),
        "classes, fifths": ("class", "pages", "fetches a day", "fresh"),
        "fetches": ("a day, by the budget", "pages that are fetched"),
        "plans of the same budget": ("this plan", "every page as often as others"),
    },
    "audit": {
        "the log": ("lines", "URIs", "answered"),
        "the precedence file": ("URIs listed", "fetched", "never in the log"),
        "order of fetches": ("URIs", "pairs", "in order", "tau-b", "all listed"),
        "classes": ("precedence", "listed", "fetched", "first fetch"),
    },
}


SOME = Bracket(900, 1000, 1200)
#: what a dry run would say
ESTIMATE = RunEstimate(
    runner="embedded", archives=1, size=10**6, sampled=10**5, seconds=SOME, steps={}, memory=SOME,
    disk_end=SOME, disk_most=SOME, rows=dict.fromkeys(ROWS, SOME), cluster=None, unreadable={},
)  # fmt: skip


class Shown(NamedTuple):
    """What a call has shown: its tables, and its output and its messages in a pipe."""

    call: str
    tables: list[TextTable]
    piped: str
    said: str


class CrawlTables(NamedTuple):
    """The tables of a crawl: by command, what was shown; which functions made tables; the
    folder."""

    shown: dict[str, list[Shown]]
    made: set[tuple[str, str]]
    folder: Path
    names: dict[str, object]


def long_archives(folder: Path) -> tuple[Path, Path]:
    """Two crawls of a site with URIs of 2,000 characters that differ in their middle alone."""

    def uri(page: int) -> str:
        return f"http://a.example/{'x' * 900}/{page}/{'y' * 1060}"

    home = "http://a.example/"
    web = {home: [uri(page) for page in range(12)]}
    web |= {uri(page): [uri(page + 1), uri(page * 3), uri(1), "mailto:" + "m" * 99, home, home]
            for page in range(12)}  # fmt: skip
    paths = (folder / FOLDER / "first.warc.gz", folder / FOLDER / "second.warc.gz")
    paths[0].parent.mkdir(parents=True)
    for path, pages in zip(paths, (list(web), list(web)[3:]), strict=True):
        records = []
        for page in pages:
            links = "".join(f'<a href="{target}">x</a>' for target in web[page])
            records.append(response(page, f"<!doctype html>{links}".encode()))
        write_records(path, records)
    return paths


def archives_of(crawl: str, folder: Path) -> tuple[Path, Path]:
    if crawl == "long":
        return long_archives(folder)
    if not ICS.is_dir():
        pytest.skip("no reference data here")
    first, second = sorted(ICS.glob("*.warc.gz"))
    return first, second


def prepared(crawl: str, folder: Path) -> dict[str, object]:
    """The names that calls take, after all that they read was made."""
    first, second = archives_of(crawl, folder)
    names: dict[str, object] = {"a": first, "b": second, "w": folder, "samples": SAMPLES}
    (folder / "junk.warc.gz").write_bytes(b"")
    data = LOOPBACK.read_bytes()
    (folder / "cut.warc.gz").write_bytes(data[: len(data) * 3 // 4])
    write_warc(folder / "small.warc.gz", WEB)
    for line in PREPARE:
        call(line, names)
    for name, more in (("l", ""), ("lt", " --timestamps --canonical")):
        captures = name.replace("l", "c")
        out = f"--output {{w}}/{name}.txt --captures {{w}}/{captures}.txt"
        call(f"step extract-links {{a}} {out}{more}", names)
    names["uri"] = best_uri(folder / "work")
    make_further(folder, names)
    return names


def make_further(folder: Path, names: dict[str, object]) -> None:
    """Folders of states that are rare: spoilt, imported, with pages in other charsets."""
    shutil.copytree(folder / "damaged", folder / "spoilt")
    (folder / "spoilt/precedence.txt").write_bytes(b"spoilt\n")
    call("step import-text --links {w}/l.txt --captures {w}/c.txt --work {w}/imported", names)
    page = b'<meta charset="windows-1250"><a href="http://a.example/?q=\xe8">x</a>'
    pages = {"http://a.example/": page, "http://a.example/?q=%E8": b"<a href='/'>x</a>"}
    write_records(folder / "charset.warc.gz", [response(*item) for item in pages.items()])
    call("run {w}/charset.warc.gz --work {w}/charsets --no-validate", names)
    ratings = [f"{uri},{rater},{1 + n % 4}\n" for n, uri in enumerate(uris(folder))
               for rater in ("ann", "ben")]  # fmt: skip
    unknown = "http://nowhere.example/,ann,1\n"
    (folder / "ratings.csv").write_text("page,rater,rating\n" + "".join(ratings) + unknown)
    log = LOG.read_text()
    (folder / "crawl.log").write_text(log + "no line of a log\n")


def uris(folder: Path) -> list[str]:
    """URIs of different pages, the best first."""
    out = folder / "pages.csv"
    call("export {w}/work --format csv --output {w}/pages.csv", {"w": folder})
    with out.open(newline="") as file:
        return [row["url"] for row in islice(csv.DictReader(file), 12) if "," not in row["url"]]


def best_uri(work: Path) -> str:
    return (work / "precedence.txt").read_text().partition(" ")[0]


def call(line: str, names: dict[str, object]) -> Said:
    """The exit code must be as expected."""
    line, _, code = line.partition(" =")
    said = crawlrank(*(word.format_map(names) for word in line.split()))
    assert said.code == int(code or 0), (line, said)
    return said


def shown_by(line: str, names: dict[str, object]) -> tuple[Shown, set[tuple[str, str]]]:
    """What a call shows, and the functions that make tables in it."""
    with TablesSeen() as seen:
        if names["dry"] or "--dry-run" not in line:
            said = call(line, names)
        else:
            said = Said(0, "\n".join(estimate_table(ESTIMATE).lines(None)), "")
    return Shown(line, seen.shown, said.out, said.err), seen.made


CRAWLS = [
    pytest.param("long", marks=pytest.mark.slow),
    pytest.param("ics-uci", marks=pytest.mark.real),
]


@pytest.fixture(scope="module", params=CRAWLS)
def crawl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CrawlTables:
    folder = tmp_path_factory.mktemp(request.param)
    names = prepared(request.param, folder)
    names["dry"] = request.param != "long"  # whether to make a dry run, which takes seconds
    shown = defaultdict[str, list[Shown]](list)
    made: set[tuple[str, str]] = set()
    for command, calls in CALLS.items():
        for line in calls:
            each, makers = shown_by(line, names)
            shown[command].append(each)
            made |= makers
    with TablesSeen() as seen:
        list(Verification().tables())
    return CrawlTables(shown, made | seen.made, folder, names)


def every_table(crawl: CrawlTables) -> Iterator[tuple[str, TextTable]]:
    for shown in crawl.shown.values():
        for each in shown:
            for table in each.tables:
                yield f"{each.call}: {table.title}", table


def test_every_command_is_called_or_known_to_show_no_table() -> None:
    assert {*CALLS, *SILENT} == {*COMMANDS}
    assert not {*CALLS} & {*SILENT}
    assert {*MUST} <= {*CALLS}


def test_every_function_that_makes_a_table_was_called(crawl: CrawlTables) -> None:
    """Functions of `recrawl` need a job of Heritrix; its tests call them."""
    makers = set()
    for path in sorted((ROOT / "crawlrank" / "pipeline").rglob("*.py")):  # as Python names it
        source = path.read_text()
        if "TextTable(" not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and "TextTable(" in ast.unparse(node):
                makers.add((str(path), node.name))
    unseen = {name for path, name in makers - crawl.made}
    assert unseen == {"_show_change", "_show_growth", "_show_lines", "_show_quotas"}
    assert len(makers) > 40


def test_no_other_tables_are_made() -> None:
    for path in (ROOT / "pipeline").rglob("*.py"):
        assert "rich.table" not in path.read_text(), path


def empty_columns(table: TextTable) -> set[str]:
    """The names of columns of text that are left out, as no row has anything there."""
    return {
        column.name
        for number, column in enumerate(table.columns)
        if number and column.kind in (ColumnKind.TEXT, ColumnKind.PROSE)
        if table.rows and not any(row[number] for row in table.rows)
    }


def test_each_table_shows_what_a_reader_must_see(crawl: CrawlTables) -> None:
    for command, titles in MUST.items():
        tables = [table for shown in crawl.shown[command] for table in shown.tables]
        for title, wanted in titles.items():
            chosen = [table for table in tables if table.title.startswith(title)]
            assert any(table.row_count for table in chosen), (command, title)
            left_out = set.intersection(*(empty_columns(each) for each in chosen))
            for width in (None, *WIDTHS):
                text = " ".join(" ".join(each.lines(width)) for each in chosen)
                words = {word.strip(",:") for word in text.split()}
                for phrase in {*wanted} - left_out:
                    asked = {word.strip(",:") for word in phrase.split()}
                    assert asked <= words, (command, title, phrase, width)


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_on_a_terminal(width: int, crawl: CrawlTables) -> None:
    for name, table in every_table(crawl):
        lines = list(table.lines(width))
        assert max(map(cell_len, lines)) <= width, name
        assert [line for line in lines if line != line.rstrip()] == [], name
        words = set(" ".join(lines).split())
        for number, column in enumerate(table.columns):
            if column.name in empty_columns(table):
                continue
            assert {*column.name.split()} <= words, (name, column.name)
            values = {row[number] for row in table.rows}
            if column.kind is ColumnKind.NUMBER:
                assert {word for value in values for word in value.split()} <= words, name
            if column.kind in CUT:
                assert_distinguishable(name, values, lines, width)


def assert_distinguishable(name: str, values: set[str], lines: list[str], width: int) -> None:
    """Different values of a column stand in different words; each begins as the value does."""
    cut = {value for value in values if not any(value.strip() in line for line in lines)}
    shown = {word for line in lines for word in re.split(r"  +", line.strip()) if "…" in word}
    if any(value.startswith("http") for value in cut):
        assert len({word for word in shown if "…" in word}) >= len(cut), name
        beginnings = {word.partition("…")[0] for word in shown}
        for value in cut:
            assert any(value.startswith(begin) for begin in beginnings if begin), (name, value)


def test_tables_in_a_pipe(crawl: CrawlTables) -> None:
    """A line for each row with whole values; the output is the lines of these tables."""
    for shown in (each for all_of in crawl.shown.values() for each in all_of):
        output = shown.piped.splitlines()
        assert [line for line in output if line != line.rstrip()] == [], shown.call
        for table in shown.tables:
            lines = list(table.lines(None))
            assert len(lines) == bool(table.title) + 1 + len(table.rows) + len(table.notes)
            if table.title:  # those without stand on standard error
                assert "\n".join(lines) in shown.piped + shown.said, shown.call
            for row, line in zip(table.rows, lines[1 + bool(table.title) :], strict=False):
                assert all(cell.rstrip() in line for cell in row), (shown.call, table.title)
                blanks = max(map(len, re.findall(r" +", line)), default=0)
                assert blanks < 80 + 62 * line.count("  "), shown.call


def test_no_sentence_has_a_number_with_the_wrong_noun(crawl: CrawlTables) -> None:
    wrong = re.compile(r"(?<![\d.,])1 (pages|links|archives|URIs|lines|captures|others|sites)\b")
    for all_of in crawl.shown.values():
        for each in all_of:
            assert not wrong.search(each.piped), (each.call, wrong.search(each.piped))


ON_TERMINALS = (("status", 80), ("explain", 120), ("diff", 200), ("audit", 80))


@pytest.mark.slow
@pytest.mark.parametrize("crawl", ["long"], indirect=True)
@pytest.mark.parametrize(("command", "width"), ON_TERMINALS)
def test_a_real_terminal_gets_these_lines(command: str, width: int, crawl: CrawlTables) -> None:
    """The command as a process with a terminal: its tables are those of the one without."""
    shown = crawl.shown[command][0]
    words = [word.format_map(crawl.names) for word in shown.call.split()]
    output = on_terminal(width, *words)
    for table in shown.tables:
        if table.row_count and table.title and "seconds" not in str(table.columns):
            assert "\n".join(table.lines(width)) in output, (shown.call, table.title)
    assert "\x1b" not in output
