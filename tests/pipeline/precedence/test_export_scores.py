"""`export --format` for other crawlers: read back as those read, against plain lines."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from support.crawls import INLINE, crawlrank, ok
from support.inputs.samples import write
from support.paths import LOOPBACK
from support.runs import copy_of, finished

from crawlrank.pipeline.precedence.score_formats import exclusion

#: Java's Float.parseFloat takes these, and so do all others
DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?")


@pytest.fixture(scope="module")
def works() -> dict[str, Path]:
    given = LOOPBACK, "--iterations", 15, "--no-validate"
    return {"columns": finished(*given), "text": finished(*given, *INLINE)}


def exported(work: Path, output: Path, *options: object) -> Path:
    uris = "--uris", work / "uris"
    ok("export-precedence", work / "scores", *uris, "--output", output, *options)
    return output


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream, strict=True))


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("engine", ["columns", "text"])
def test_csv_has_every_page_once_as_the_datasets_say(
    engine: str, works: dict[str, Path], tmp_path: Path
) -> None:
    path = exported(works[engine], tmp_path / "new" / "pages.csv", "--format", "csv")
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    assert [file.name for file in path.parent.iterdir()] == ["pages.csv"]
    rows = rows_of(path)
    text = works["text"]
    scores = sorted(
        (line for part in (text / "scores").glob("part-*") for line in lines(part)),
        key=lambda line: (-round(float(line[0]), 9), line[2]),
    )
    uris = [line for part in (text / "uris").glob("part-*") for line in lines(part)]
    captures = dict.fromkeys((line[0] for line in uris), 0)
    for key, _, count, _, _ in uris:
        captures[key] += int(count)
    scored = {line[2] for line in scores}
    alone = sorted(key for key, count in captures.items() if count and key not in scored)
    assert [row["key"] for row in rows] == [line[2] for line in scores] + alone and alone
    precedence_of = dict(lines(text / "precedence.txt", " "))
    for place, (row, (score, url, key)) in enumerate(zip(rows, scores, strict=False), 1):
        assert (row["url"], float(row["score"]), row["position"]) == (url, float(score), str(place))
        assert (row["class"], row["captures"]) == (precedence_of[url], str(captures[key]))
    for row in rows[len(scores) :]:
        assert (row["score"], row["position"], row["class"]) == ("", "", "5")
        assert row["url"] in precedence_of


def lines(path: Path, separator: str = "\t") -> list[list[str]]:
    return [line.split(separator) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_jsonl_says_what_csv_says(works: dict[str, Path], tmp_path: Path) -> None:
    work = works["columns"]
    rows = rows_of(exported(work, tmp_path / "a.csv", "--format", "csv"))
    found = exported(work, tmp_path / "a.jsonl", "--format", "jsonl").read_text().splitlines()
    as_text = [
        {name: "" if value is None else str(value) for name, value in json.loads(line).items()}
        for line in found
    ]
    assert as_text == rows


def test_browsertrix_gets_a_scope_by_class(works: dict[str, Path], tmp_path: Path) -> None:
    rows = rows_of(exported(works["columns"], tmp_path / "a.csv", "--format", "csv"))
    path = exported(works["columns"], tmp_path / "a.yaml", "--format", "browsertrix")
    config = yaml.safe_load(path.read_text())
    scopes = {"1": {"scopeType": "host", "depth": 1}}
    assert config["seeds"] == [
        {"url": row["url"]} | scopes.get(row["class"], {"scopeType": "page"})
        for row in rows
        if row["class"] != "5"
    ]
    last = [row["url"] for row in rows if row["class"] == "5"]
    assert len(config["exclude"]) == len(last) > 3
    for pattern, url in zip(config["exclude"], last, strict=True):
        assert [row["url"] for row in rows if re.search(pattern, row["url"])] == [url]
    all_one = exported(
        works["columns"], tmp_path / "b.yaml", "--format", "browsertrix", "--bins", 1
    )
    assert "exclude" not in yaml.safe_load(all_one.read_text())


@pytest.mark.parametrize(
    ("uri", "other"),
    [
        ("http://www.a.example/b.c?z=1&a=2&a=1", "https://a.example/b.c?a=2&a=1&z=1"),
        ("https://a.example/(x)[1]{2}^$*+|\\", "http://www3.a.example/(x)[1]{2}^$*+|\\"),
    ],
)
def test_an_excluded_page_is_that_of_browsertrix(uri: str, other: str) -> None:
    assert re.search(exclusion(uri), other)
    assert not re.search(exclusion(uri), other.replace("/", "/x", 3))


def test_nutch_takes_the_lines_apart_at_tabs(works: dict[str, Path], tmp_path: Path) -> None:
    work = works["text"]
    rows = rows_of(exported(work, tmp_path / "a.csv", "--format", "csv"))
    seeds = lines(exported(work, tmp_path / "seeds.txt", "--format", "nutch"))
    for (url, metadata), row in zip(seeds, rows, strict=True):
        name, _, value = metadata.partition("=")
        assert (url, name) == (row["url"], "nutch.score") and DECIMAL.fullmatch(value)
        assert float(value) == pytest.approx(float(row["score"] or 0.15), rel=1e-8)


def test_nutch_fetches_pages_without_a_score_last(works: dict[str, Path], tmp_path: Path) -> None:
    work = copy_of(works["text"], tmp_path / "work")
    ok("rank", work, "--method", "hits", "--name", "hubs")
    form = "--ranking", "hubs", "--format"
    ok("export", work, *form, "csv", "--output", tmp_path / "a.csv")
    assert {bool(row["score"]) for row in rows_of(tmp_path / "a.csv")} == {True, False}
    ok("export", work, *form, "nutch", "--output", tmp_path / "seeds.txt")
    seeds = lines(tmp_path / "seeds.txt")
    given = [float(metadata.partition("=")[2]) for _, metadata in seeds]
    assert given == sorted(given, reverse=True) and given[-1] < 0.15


def test_urls_that_need_quotes(tmp_path: Path) -> None:
    urls = ['http://a.example/"x",y', "http://a.example/é", "http://a.example/,"]
    keys = ['example,a)/"x",y', "example,a)/%c3%a9", "example,a)/,"]
    scores = [
        f"{n}.5e-05\t{url}\t{key}".encode()
        for n, (url, key) in enumerate(zip(urls, keys, strict=True), 1)
    ]
    write(tmp_path / "scores.txt", scores)
    asked = "export-precedence", tmp_path / "scores.txt", "--output"
    ok(*asked, tmp_path / "a.csv", "--format", "csv")
    rows = rows_of(tmp_path / "a.csv")
    assert [(row["url"], row["key"]) for row in rows] == list(zip(urls, keys, strict=True))[::-1]
    assert {row["captures"] for row in rows} == {""}  # nobody knows
    ok(*asked, tmp_path / "a.jsonl.gz", "--format", "jsonl")
    ok(*asked, tmp_path / "a.txt", "--format", "nutch")
    assert (tmp_path / "a.txt").read_text().splitlines()[0].endswith(",\tnutch.score=3.5e-05")


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.csv", "csv"), ("a.JSONL.gz", "jsonl"), ("a.parquet", "parquet"), ("a.txt", "heritrix"),
     ("csv", "heritrix")],
)  # fmt: skip
@pytest.mark.few(1)
def test_the_ending_says_the_format(
    name: str, form: str, works: dict[str, Path], tmp_path: Path
) -> None:
    ok("export", works["text"], "--output", tmp_path / name)
    ok("export", works["text"], "--output", tmp_path / "same" / name, "--format", form)
    assert (tmp_path / name).read_bytes() == (tmp_path / "same" / name).read_bytes()


@pytest.mark.slow
def test_a_pipe_gets_the_pages(works: dict[str, Path]) -> None:
    for form in ("seeds", "heritrix"):
        given = "export", works["text"], "--format", form
        assert ok(*given).out == ok(*given, "--output", "-").out != ""
    said = crawlrank("export", works["text"], "--format", "text")
    assert (said.code, "--output is needed" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("csv", "b.parquet"),
        ("heritrix", "z.csv"),
        ("heritrix", "z.parquet"),
        ("jsonl", "z.csv.gz"),
        ("seeds", "z.JSONL"),
    ],
)
def test_a_name_of_another_format(
    form: str, name: str, works: dict[str, Path], tmp_path: Path
) -> None:
    given = "--work", works["text"], "--format", form, "--output", tmp_path / name
    said = crawlrank("export-precedence", *given)
    assert (said.code, f"its format is {form}" in said.err) == (2, True), said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("export --output p", "Missing argument 'WORK'"),
        ("export s.txt --work w --output p", "unexpected extra argument (s.txt)"),
        ("step export-precedence --output p", "Missing argument 'SCORES'"),
        ("step export-precedence s.txt --output p --work w", "No such option '--work'"),
    ],
)
def test_the_missing_source_is_named(given: str, reason: str) -> None:
    said = crawlrank(*given.split())
    assert (said.code, reason in said.err) == (2, True), said


def test_counts_are_in_words(works: dict[str, Path], tmp_path: Path) -> None:
    given = "export", "--work", works["text"], "--output"
    said = ok(*given, tmp_path / "a.csv", "--format", "csv")
    assert "pages without a score" in said.err
    assert "which is" not in said.err and "_" not in said.err
    assert "lines of the precedence file" in ok(*given, tmp_path / "p.txt").err


def test_heritrix_is_the_default(works: dict[str, Path], tmp_path: Path) -> None:
    usual, named = tmp_path / "usual", tmp_path / "named"
    exported(works["text"], usual / "precedence.txt")
    exported(works["text"], named / "precedence.txt", "--format", "heritrix")
    files = {path.name: path.read_bytes() for path in usual.iterdir()}
    assert files == {path.name: path.read_bytes() for path in named.iterdir()} and len(files) == 3
    whole = (works["text"] / "precedence.txt").read_bytes()
    assert files["precedence.txt"] == whole


def test_refused(works: dict[str, Path], tmp_path: Path) -> None:
    scores = works["text"] / "scores"
    for option in (("--unlisted", 5), ("--spellings", "all")):
        given = "--output", tmp_path / "a.csv", "--format", "csv", *option
        said = crawlrank("export-precedence", scores, *given)
        assert (said.code, "--format heritrix" in said.err) == (2, True)
    write(tmp_path / "keys.txt", [b"1.0\texample,a)/\texample,a)/"])
    given = "--output", tmp_path / "a.csv", "--format", "csv"
    said = crawlrank("export-precedence", tmp_path / "keys.txt", *given)
    assert (said.code, "no URI in it" in said.err) == (3, True)
    assert not (tmp_path / "a.csv").exists()
    write(tmp_path / "twice.txt", [b"1.0\thttp://a/\ta)/"] * 2)
    assert crawlrank("export-precedence", tmp_path / "twice.txt", *given).code == 3


FORMULAS = ("=hyperlink(a1)/", "+1+(2/3)", "-1(a1)/", "@sum(a1)/", "'quoted)/", "example,a)/")


def test_a_key_is_no_formula(tmp_path: Path) -> None:
    """A spreadsheet calculates what begins with these; a reader takes one apostrophe off."""
    scores = write(
        tmp_path / "scores.txt",
        [b"%d.0\thttp://a.example/%d\t%s" % (9 - n, n, k.encode()) for n, k in enumerate(FORMULAS)],
    )
    output = tmp_path / "pages.csv"
    ok("step", "export-precedence", scores, "--output", output, "--format", "csv")
    keys = [row["key"] for row in rows_of(output)]
    assert keys == [*(f"'{key}" for key in FORMULAS[:-1]), FORMULAS[-1]]
    assert [key.removeprefix("'") for key in keys[:-1]] == list(FORMULAS[:-1])
    output = tmp_path / "pages.jsonl"
    ok("step", "export-precedence", scores, "--output", output, "--format", "jsonl")
    assert [json.loads(line)["key"] for line in output.read_text().splitlines()] == list(FORMULAS)


def test_a_file_of_any_name_is_replaced(tmp_path: Path) -> None:
    scores = write(tmp_path / "scores.txt", [b"1.0\thttp://a.example/\ta,example)/"])
    for _ in range(2):
        ok("step", "export-precedence", scores, "--output", tmp_path / "precedence")
    assert (tmp_path / "precedence").read_text() == "http://a.example/ 1\n"
