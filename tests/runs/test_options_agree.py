"""A run on a cluster of several reducers gives what the embedded engine gives, with every option
that changes data: the same bytes after three rounds, scores within the certificates after a
tolerance, on one packed partition and on several.

The cluster is simulated (cluster.py), its datasets lie at a URL; `make test-spark` has a real
Spark. Options come in pairs: in a few runs every two of them meet with both on, both off, and
either alone.
"""

from __future__ import annotations

import importlib.util
import zipfile
from collections.abc import Iterator
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from support.crawls import ok, response, write_records
from support.inputs.archive_samples import made_pdf
from support.inputs.several_crawls import SITE, first_crawl, html_record, page, second_crawl
from support.paths import SAMPLES
from support.systems.cluster import on_cluster
from support.systems.own_engine import with_engine
from support.work_folders import assert_same_counters, manifest_of

from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.engines.text.engine import TextEngine
from crawlrank.pipeline.options import RunOptions

OPTIONS: dict[str, tuple[str, ...]] = {
    "pdf": ("--pdf",) if importlib.util.find_spec("pypdf") else (),
    "latest": ("--captures", "latest"),
    "redirects": ("--fold", "redirects"),
    "canonical": ("--fold", "canonical"),
    "all nodes": ("--nodes", "all"),
    "www": ("--keep-www",),
    "all links": ("--links", "all"),
    "both outlinks": ("--outlinks", "both"),
    "all stages": (),  # of jobs, as of large data
}
#: which of the options are on; every two columns have 00, 01, 10 and 11 in some line
PAIRWISE = (
    "111111111", "110100100", "000000000", "000000111", "000111000", "011001001", "101010010",
)  # fmt: skip
#: method -> the option that gives it weights of pages
METHODS = {
    "pagerank": "", "hits": "", "personalized": "--teleport", "trustrank": "--seeds",
}  # fmt: skip
QUIET = ("--no-validate", "--quiet", "--jobs", 1)
TEXTS = (
    "links", "canonicalized_links", "input_links", "map", "pr0", "pr3", "pr", "score_uri",
    "precedence",
)  # fmt: skip
WWW = "http://www.site.example"


@pytest.mark.slow
def test_every_two_options_meet_in_all_four_ways() -> None:
    assert {len(line) for line in PAIRWISE} == {len(OPTIONS)}
    for one, other in combinations(range(len(OPTIONS)), 2):
        assert {(line[one], line[other]) for line in PAIRWISE} == set(product("01", repeat=2))


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two crawls of a site, and what the other options see: a PDF, embedded images, a script, a
    host by two names, outlinks beside a page that are not in it, a query in two charsets, and a
    page that no link leads to."""
    folder = tmp_path_factory.mktemp("crawls")
    body = (
        "<a href=/paper.pdf>p</a><img src=/logo.png><script>go('/by-script.html')</script>"
        f"<a href={SITE}/www>w</a><a href={WWW}/www>w</a><a href=/a>a</a>"
    )
    links = [f"{SITE}/from-paper", f"{SITE}/c"]
    pdf = made_pdf(*links) if importlib.util.find_spec("pypdf") else b"%PDF-1.4"
    paper = response(f"{SITE}/paper.pdf", pdf).replace(b"text/html", b"application/pdf", 1)
    records = [
        *page("/more", body, 3, outlinks=("/only-seen-by-heritrix", "/c")),
        paper.replace(b"Content-Length: ", b"Content-Length:", 1),
        html_record(f"{WWW}/www", "<a href=/more>m</a>", 3),
        html_record(f"{SITE}/www", "<a href=/a>a</a>", 4),
        response(f"{SITE}/a", b"<meta charset=latin1><a href='/find?q=caf\xe9'>f</a>"),
        html_record(f"{SITE}/find?q=caf%C3%A9", "<a href=/c>c</a>", 3),
        html_record(f"{SITE}/found-by-no-link", "<a href=/c>c</a>", 3),
    ]
    third = write_records(folder / "three.warc.gz", records)
    return [first_crawl(folder), second_crawl(folder), third]


def words_of(line: str) -> list[str]:
    """The words of a command line, for the options that are on; of two folds the last would
    count."""
    on = [name for name, mark in zip(OPTIONS, line, strict=True) if mark == "1"]
    given = [word for name in on for word in OPTIONS[name] if OPTIONS[name][0] != "--fold"]
    folds = [OPTIONS[name][1] for name in on if OPTIONS[name][:1] == ("--fold",)]
    return [*given, *(word for fold in folds for word in ("--fold", fold))]


def lines(first: int) -> Any:
    """All lines of PAIRWISE, of which the first take part in `make test`."""
    params = [
        pytest.param(line, id=line, marks=[pytest.mark.slow] * (number >= first))
        for number, line in enumerate(PAIRWISE)
    ]
    return pytest.mark.parametrize("line", params)


def far(
    work: Path, archives: list[Path], line: str, *options: object, partitions: int | None = None
) -> Path:
    """A run with the options of a line, on a cluster of these reducers with an order of lines of
    its own."""
    number = PAIRWISE.index(line)
    job_class = on_cluster(2 + number % 3, seed=number)
    small = 0 if line[-1] == "1" else 1 << 28

    def engine(work: Path, options: RunOptions, tmp: Path, *_: object) -> TextEngine:
        launcher = Launcher("inline", tmp, data=options.data, ranges=3, job_class=job_class,
                            small=small, partitions=partitions)  # fmt: skip
        return TextEngine(work, launcher)

    where = ("--runner", "inline", "--data", f"file://{work}/data", "--reducers", 3)
    words = ("run", *archives, "--work", work / "far", *where, *options, *words_of(line), *QUIET)
    done = CliRunner().invoke(with_engine(engine), [*map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return work / "far"


def near(work: Path, archives: list[Path], *options: object) -> Path:
    ok("run", *archives, "--work", work / "near", *options, *QUIET)
    return work / "near"


def texts(work: Path) -> dict[str, bytes]:
    out = work.with_name(f"{work.name}-text")
    ok("export", "--format", "text", "--work", work, "--out", out)
    found = {path.stem: path.read_bytes() for path in out.iterdir()}
    for name in ("links", "captures"):  # in the order of archives
        found[name] = b"".join(sorted(found[name].splitlines(keepends=True)))
    return found


@pytest.mark.slow
@lines(first=1)
def test_after_three_rounds_the_same_bytes(line: str, archives: list[Path], tmp_path: Path) -> None:
    rounds = ("--iterations", 3)
    one = far(tmp_path, archives, line, *rounds)
    other = near(tmp_path, archives, *rounds, *words_of(line))
    found, expected = texts(one), texts(other)
    for name in TEXTS:
        assert found[name] == expected[name], name
    assert found.keys() == expected.keys()
    assert_same_counters(other, one)


@pytest.mark.spark
@pytest.mark.parametrize("line", PAIRWISE)
def test_on_spark_the_same_bytes(line: str, archives: list[Path], tmp_path: Path) -> None:
    """Each ranking that jobs know, in turn, also of an ARC, and of a WACZ that has one of the
    archives."""
    wacz = tmp_path / "one.wacz"
    with zipfile.ZipFile(wacz, "w") as file:
        file.write(archives[0], f"archive/{archives[0].name}")
    given = [wacz, *archives[1:], SAMPLES / "aut-example.arc.gz"]
    method = list(METHODS)[PAIRWISE.index(line) % len(METHODS)]
    weights = tmp_path / "weights.txt"
    weights.write_text(f"{SITE}/ 2\n" if method == "personalized" else f"{SITE}/\n")
    options = ("--iterations", 3, "--method", method, *words_of(line), *QUIET)
    if METHODS[method]:
        options += (METHODS[method], weights)
    where = ("--runner", "spark", "--data", f"file://{tmp_path}/data", "--reducers", 3)
    ok("run", *given, "--work", tmp_path / "far", *where, *options)
    ok("run", *given, "--work", tmp_path / "near", *options)
    one, other = tmp_path / "far", tmp_path / "near"
    found, expected = texts(one), texts(other)
    assert found.keys() == expected.keys()
    for name in expected:
        assert found[name] == expected[name], name
    assert_same_counters(other, one)


@pytest.mark.slow
@lines(first=1)
def test_after_a_tolerance_within_the_certificates(
    line: str, archives: list[Path], tmp_path: Path
) -> None:
    partitions = 4 if PAIRWISE.index(line) % 2 else 1
    one = far(tmp_path, archives, line, "--tolerance", 1e-4, partitions=partitions)
    other = near(tmp_path, archives, "--tolerance", 1e-12, *words_of(line))
    steps = manifest_of(one)["steps"]
    last = steps["page-rank"]["rounds"][-1]
    assert last["certificate"] <= 1e-4
    assert (last["partitions"] > 1) == (partitions > 1)
    found, exact = scores(one), scores(other)
    assert found.keys() == exact.keys()
    x, y = (np.array([of[node] for node in exact]) for of in (found, exact))
    assert np.abs(x - y).sum() <= (last["certificate"] + 1e-11) * x.sum()
    assert (np.abs(x - y) / y).max() <= last["eta"] + 1e-11


def scores(work: Path) -> dict[bytes, float]:
    rows = [line.split(b"\t") for line in texts(work)["pr"].splitlines()]
    return {node: float(score) for node, score in rows}


@pytest.mark.slow
def test_every_option_changes_what_comes_out(archives: list[Path], tmp_path: Path) -> None:
    """Else the runs above would say little."""

    def files() -> Iterator[tuple[str, dict[str, bytes]]]:
        for number, (name, given) in enumerate({"none": (), **OPTIONS}.items()):
            if given or name == "none":
                (tmp_path / str(number)).mkdir()
                yield name, texts(near(tmp_path / str(number), archives, "--iterations", 3, *given))

    found = dict(files())
    plain = found.pop("none")
    assert [name for name, other in found.items() if other["score_uri"] == plain["score_uri"]] == []
