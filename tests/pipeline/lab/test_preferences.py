"""What a crawler prefers, and the order of its log, in the laboratory."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK, SAMPLES
from support.runs import finished
from surt import surt

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.lab.chain import exact_importance
from crawlrank.pipeline.lab.webs import CrawlPreferences, crawled_web

LOG = SAMPLES / "heritrix-loopback.crawl.log"
P1 = r"127\.0\.0\.3:18083/p1\.html"


@pytest.fixture(scope="module")
def work() -> Path:
    return finished(LOOPBACK)


@pytest.fixture(scope="module")
def anchors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("anchors")
    outputs = ("--output", folder / "l.txt", "--captures", folder / "c.txt")
    ok("step", "extract-links", LOOPBACK, *outputs, "--anchors", folder / "anchors.txt")
    return folder / "anchors.txt"


def uris_of(work: Path, text: Path) -> list[str]:
    ok("export", "--format", "text", "--work", work, "--out", text)
    return [line.split()[1] for line in (text / "map.txt").read_text().splitlines()]


def test_a_pattern(work: Path, tmp_path: Path) -> None:
    favour = crawled_web(work, CrawlPreferences(patterns=((P1, 5.0), (r"p[12]\.html", 2.0)))).favour
    assert favour is not None
    expected = [
        5.0
        if key == "3,0,0,127:18083)/p1.html"
        else 2.0
        if key.endswith(("p1.html", "p2.html"))
        else 1.0
        for key in uris_of(work, tmp_path)
    ]
    assert favour.tolist() == expected
    assert sorted(set(expected)) == [1.0, 2.0, 5.0]


def test_words_that_are_not_utf_8_are_refused_with_their_line(work: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_bytes(b"\xef\xbb\xbfart\nM\xedsto\n")
    asked = CrawlPreferences(words=((str(tmp_path / "words.txt"), 3.0),))
    with pytest.raises(BadInput, match="line 2: the byte 0xed, which is no UTF-8"):
        crawled_web(work, asked)


def test_words_of_links(work: Path, anchors: Path, tmp_path: Path) -> None:
    lines = [line.split("\t") for line in anchors.read_text().splitlines()]
    word = lines[0][2].split()[0]
    (tmp_path / "words.txt").write_text(f"\ufeffnowhere\n\n {word.upper()} \n")
    asked = CrawlPreferences(words=((str(tmp_path / "words.txt"), 3.0),), anchors=anchors)
    favour = crawled_web(work, asked).favour
    assert favour is not None
    linked = {target for target, _, words, _ in lines if word in words.split()}
    assert 0 < (favour == 3).sum() <= len(linked)
    assert set(favour.tolist()) <= {1.0, 3.0}


def test_the_order_of_a_log(work: Path, tmp_path: Path) -> None:
    order = crawled_web(work, CrawlPreferences(logs=(LOG,))).order
    assert order is not None
    keys = uris_of(work, tmp_path)
    lines = sorted(LOG.read_text().splitlines(), key=begin_of)
    fetched = [surt(line.split()[3], with_scheme=False) for line in lines if " http" in line]
    assert [keys[node] for node in order.tolist()] == [key for key in fetched if key in keys]
    by_captures = crawled_web(work).order
    assert by_captures is not None
    assert set(by_captures.tolist()) <= set(order.tolist())


def begin_of(line: str) -> str:
    return line.split()[8].partition("+")[0]


def test_favour_changes_the_importance_and_the_total_stays(work: Path) -> None:
    web = crawled_web(work, CrawlPreferences(patterns=((P1, 50.0),)))
    assert web.favour is not None
    plain, preferred = (exact_importance(web.chain(), favour) for favour in (None, web.favour))
    page = int(np.argmax(web.favour))
    assert preferred[page] > 2 * plain[page]
    assert preferred.sum() == pytest.approx(plain.sum())


@pytest.mark.slow
def test_the_command(work: Path, anchors: Path, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text(anchors.read_text().split("\t")[2].split()[0])
    lab = ("aopic-lab", "--figures", "2", "--work", work)
    ok(*lab, "--output", tmp_path / "plain")
    options = ("--favour", f"{P1}=9", "--favour-words", f"{tmp_path / 'words.txt'}=2")
    options += ("--anchors", anchors, "--discover", 4, "--crawl-log", LOG)
    ok(*lab, *options, "--output", tmp_path / "preferred")
    report = (tmp_path / "preferred" / "report.md").read_text()
    assert "4 times as much" in report
    assert "preferred" in report
    rows = [
        list(csv.DictReader((tmp_path / name / "policies.csv").read_text().splitlines()))
        for name in ("plain", "preferred")
    ]
    assert rows[0] != rows[1]
    last = {row["policy"]: float(row["error"]) for row in rows[1]}
    assert last["offline"] < 1
    assert last["cycle"] < 100


@pytest.mark.parametrize(
    ("preferences", "what"),
    [
        (CrawlPreferences(patterns=(("nowhere", 2.0),)), "no page is preferred"),
        (CrawlPreferences(words=(("/nowhere/words", 2.0),)), "no such file"),
        (CrawlPreferences(logs=(LOOPBACK,)), "a WARC file"),
    ],
)
def test_preferences_that_cannot_be_used(
    preferences: CrawlPreferences, what: str, work: Path
) -> None:
    with pytest.raises(BadInput, match=what):
        crawled_web(work, preferences)


@pytest.mark.parametrize(
    "options",
    [
        ("--favour", "x=2"), ("--favour", "x"), ("--favour", "(=2"), ("--favour", "x=-1"),
        ("--favour", "x=nan"), ("--discover", "0.5"), ("--favour-words", "f=2", "--work", "w"),
        ("--anchors", "a", "--work", "w"), ("--crawl-log", "log"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(options: tuple[str, ...], tmp_path: Path) -> None:
    said = crawlrank("lab", "aopic", *options, "--output", tmp_path / "out")
    assert said.code == 2, said
    assert not (tmp_path / "out").exists()
