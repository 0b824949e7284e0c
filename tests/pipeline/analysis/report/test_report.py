"""The numbers of a report: what other commands say of the same work folder, and of no other."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from support.crawls import INLINE, Said, crawlrank, ok, write_warc
from support.paths import LOOPBACK, SAMPLES
from support.runs import copy_of, finished, ranked, shared_warc
from support.work_folders import edit_manifest

from crawlrank.pipeline.analysis.report import score_section
from crawlrank.pipeline.analysis.report.html import report_page
from crawlrank.pipeline.cli.commands import loaded
from crawlrank.pipeline.workfolder.manifest import Manifest

CRAWLS = SAMPLES / "several-crawls"


def report_of(work: Path, *options: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ok("report", "--work", work, "--json", "-", *options).out)
    return document


def both_of(work: Path, tmp_path: Path) -> tuple[dict[str, Any], str]:
    """The JSON of a report and its page, which one command writes."""
    data, page = tmp_path / "report.json", tmp_path / "report.html"
    ok("report", "--work", work, "--output", page, "--json", data)
    return json.loads(data.read_text()), page.read_text()


def json_of(*command: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(ok(*command, "--json", "-").out)
    return document


@pytest.fixture(scope="module")
def work() -> Path:
    return ranked(finished(CRAWLS / "crawl-2.warc.gz"), "--method", "hits")


@pytest.fixture(scope="module")
def text_work() -> Path:
    return finished(CRAWLS / "crawl-2.warc.gz", *INLINE, "--tolerance", 1e-9)


@pytest.fixture(scope="module")
def document(work: Path) -> dict[str, Any]:
    return report_of(work, "--ranking", "run", "--ranking", "hits")


def test_best_pages_are_as_explained(work: Path, document: dict[str, Any]) -> None:
    rows = document["scores"]["best"]
    assert [row["position"] for row in rows] == list(range(1, document["scores"]["pages"] + 1))
    for row in rows[:3] + rows[-2:]:
        page = json_of("explain", row["uri"], "--work", work, "--links", score_section.REASONS)
        assert page["shown"] == row["uri"]
        assert page["score"] == row["score"]
        assert page["links"] == row["inlinks"]
        assert page["capture_count"] == row["captures"]
        assert page["standing"]["position"] == row["position"]
        assert page["standing"]["precedence"] == row["class"]
        assert [(link["uri"], link["gives"]) for link in page["given"]] == [
            (link["uri"], link["gives"]) for link in row["why"]
        ]
        last = max((capture["timestamp"] for capture in page["captures"]), default=None)
        assert row["last"] == last


def test_sources_of_links_are_named_by_their_positions(document: dict[str, Any]) -> None:
    rows = document["scores"]["best"]
    uris = {row["position"]: row["uri"] for row in rows}
    links = [link for row in rows for link in row["why"]]
    assert links
    assert all(uris[link["position"]] == link["uri"] for link in links)


def test_files_of_the_run_are_taken_as_they_are(work: Path, document: dict[str, Any]) -> None:
    assert document["classes"] == json.loads((work / "precedence.summary.json").read_text())
    assert document["opic"] == json.loads((work / "report" / "report.json").read_text())
    assert document["beans"] == (work / "crawler-beans-fragment.xml").read_text()
    rounds = Manifest(work).steps["page-rank"]["rounds"]
    assert [row["certificate"] for row in document["rounds"]["rounds"]] == [
        entry["certificate"] for entry in rounds
    ]
    assert document["graph"]["edges"] == rounds[-1]["edges"]


def test_counters_are_those_of_the_archives(document: dict[str, Any]) -> None:
    inspected = json_of("inspect", CRAWLS / "crawl-2.warc.gz")["total"]
    given = document["input"]
    assert given["captures"] == inspected["captures"]["count"]
    statuses = {row["status"]: row["count"] for row in given["by_status"]}
    assert statuses == inspected["captures"]["by_status"]
    hops = {row["hop"]: row["count"] for row in document["links"]["by_hop"]}
    assert hops == {hop: count for hop, count in inspected["links"]["by_hop"].items() if count}
    assert sum(row["count"] for row in given["by_type"]) == given["captures"]
    assert sum(row["count"] for row in document["captured_hosts"]["listed"]) == given["captures"]
    assert sum(row["count"] for row in document["links"]["by_hop"]) == document["links"]["links"]


def test_hosts_are_those_of_the_pages(document: dict[str, Any]) -> None:
    """Counted anew from the rows of all pages, which are few here."""
    rows = document["scores"]["best"]
    by_host = Counter(row["uri"].split("/")[2].removeprefix("www.") for row in rows)
    listed = document["hosts"]["listed"]
    assert {row["host"]: row["pages"] for row in listed} == by_host
    assert sum(row["share"] for row in listed) == pytest.approx(1)
    hosts = document["hosts"]
    assert hosts["links_within"] + hosts["links_between"] == document["graph"]["edges"]
    assert sum(map(sum, hosts["linked"])) == document["graph"]["edges"]
    for row, links in zip(listed, hosts["linked"], strict=False):
        assert sum(links) == row["within"] + row["outgoing"]
        assert sum(row["classes"]) == row["pages"]


@pytest.mark.slow
def test_engines_agree(document: dict[str, Any], text_work: Path) -> None:
    other = report_of(text_work)
    for name in ("input", "links", "graph", "captured_hosts"):
        assert other[name] == document[name], name
    ours, theirs = ({**each["structure"]} for each in (document, other))
    assert ours.pop("gini") == pytest.approx(theirs.pop("gini"), abs=1e-8)
    assert ours == theirs
    for row, mirrored in zip(document["scores"]["best"], other["scores"]["best"], strict=True):
        assert mirrored["uri"] == row["uri"]
        assert mirrored["score"] == pytest.approx(row["score"], rel=1e-8)
        for name in ("class", "inlinks", "outlinks", "captures", "last"):
            assert mirrored[name] == row[name]
    ours, theirs = ({**d["hosts"], "listed": None} for d in (document, other))
    assert ours == theirs


def test_other_rankings_agree_as_agree_says(work: Path, document: dict[str, Any]) -> None:
    (pair,) = json_of("agree", work, "--ranking", "run", "--ranking", "hits", "--top", 0)["pairs"]
    (other,) = document["rankings"]
    assert other["label"] == "hits"
    assert other["agreement"] == pair
    first = report_of(work, "--ranking", "hits")
    assert first["rankings"] == []
    assert first["scores"]["best"][0]["uri"] == other["best"][0]["uri"]
    assert first["rounds"]["method"] == "HITS"


@pytest.mark.slow
def test_changes_are_those_of_diff(work: Path) -> None:
    older = finished(CRAWLS / "crawl-1.warc.gz")
    changes = report_of(work, "--against", older, "--ranking", "run")["changes"]
    expected = json_of("diff", older, work, "--top", 10, "--links", 3)
    assert {name: expected[name] for name in changes} == changes
    assert changes["common"] > 0


def test_top_bounds_the_pages(work: Path) -> None:
    assert len(report_of(work, "--top", 7)["scores"]["best"]) == 7


@pytest.mark.slow
@pytest.mark.parametrize(
    "letter", ["ü", *(pytest.param(letter, marks=pytest.mark.slow) for letter in ("x", "%3C"))]
)
def test_long_uris_do_not_fill_a_report(tmp_path: Path, letter: str) -> None:
    long = [f"/{number:04}{letter * (7800 // len(quote(letter)))}" for number in range(1000)]
    archive = write_warc(tmp_path / "long.warc.gz", {"http://a.example/": long})
    ok("run", archive, "--work", tmp_path / "w")
    document, page = both_of(tmp_path / "w", tmp_path)
    assert len(document["scores"]["best"]) == 1000
    assert len(page.encode()) < 5_000_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "letter"),
    [
        (40, "x"),
        (1990, "<"),
        pytest.param(1990, "x", marks=pytest.mark.slow),
        pytest.param(300, "ü", marks=pytest.mark.slow),
    ],
)
def test_many_pages_do_not_fill_a_report(
    document: dict[str, Any], length: int, letter: str
) -> None:
    """10,000 pages, each with reasons of its own, of any length."""
    link = {"position": 1, "gives": 1 / 3}
    best = [
        document["scores"]["best"][0]
        | {
            "position": number,
            "uri": f"http://h/{number}".ljust(length, letter),
            "why": [
                link | {"uri": f"http://h/{number}/{n}".ljust(length, letter)} for n in range(3)
            ],
        }
        for number in range(1, 10_001)
    ]
    text = report_page({**document, "scores": document["scores"] | {"best": best}})
    assert len(text.encode()) < 5_000_000
    (shown,) = re.findall("The best ([0-9,]+) of", text)
    assert (length == 40) == (shown == "10,000")


def unfinished(tmp_path: Path, until: str) -> Path:
    """A run that was stopped before a step."""
    work = copy_of(finished(LOOPBACK), tmp_path / "w")

    def cut(data: dict[str, Any]) -> None:
        names = [*data["steps"]]
        for name in names[names.index(until) :]:
            del data["steps"][name]

    edit_manifest(work, cut)
    return work


@pytest.mark.parametrize("until", ["extract-links", "gen-graph", "page-rank", "export-precedence"])
def test_an_unfinished_run_is_shown_as_far_as_it_is(tmp_path: Path, until: str) -> None:
    work = unfinished(tmp_path, until)
    document, page = both_of(work, tmp_path)
    assert until in document["run"]["to_do"]
    assert document["scores"] is None
    assert (document["graph"] is None) == (until in ("extract-links", "gen-graph"))
    assert f"This run is not finished: {document['run']['to_do'][0]}" in page


def test_validation_may_be_left_out() -> None:
    document = report_of(finished(LOOPBACK, "--no-validate"))
    assert document["opic"] is None
    assert document["scores"] is not None


GRAPH = "0\t1.0\tO:1\n1\t1.0\tO:0\n2\t1.0\tO:0,1\ndummy\t1.0\tO:dummy\n"


def test_an_imported_graph_has_no_captures(tmp_path: Path) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text(GRAPH)
    ok("step", "import-text", "--graph", graph, "--work", tmp_path / "w")
    ok("run", "--work", tmp_path / "w")
    document, page = both_of(tmp_path / "w", tmp_path)
    assert document["input"] is document["classes"] is document["captured_hosts"] is None
    assert document["graph"]["nodes"] == 3
    assert [row["captures"] for row in document["scores"]["best"]] == [None] * 3
    assert "The graph was imported from text files" in page


def test_one_page(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "one.warc.gz", {"http://a.example/": []})
    ok("run", archive, "--work", tmp_path / "w", "--nodes", "all")
    document, page = both_of(tmp_path / "w", tmp_path)
    (row,) = document["scores"]["best"]
    assert (row["uri"], row["inlinks"], row["outlinks"]) == ("http://a.example/", 0, 0)
    assert "1 page and 0 links" in page


@pytest.mark.slow
def test_datasets_at_a_url(tmp_path: Path) -> None:
    far, options = tmp_path / "far", (*INLINE, "--iterations", 3)
    data = (tmp_path / "data").as_uri()
    ok("run", LOOPBACK, *options, "--quiet", "--work", far, "--data", data)
    ours, theirs = report_of(finished(LOOPBACK, *options)), report_of(far)
    for name in ("input", "links", "graph", "structure", "scores", "hosts", "captured_hosts"):
        assert ours[name] == theirs[name], name


@pytest.mark.slow
def test_sites_are_those_of_export_sites(work: Path, tmp_path: Path) -> None:
    work = ranked(work, "--method", "site")
    table = tmp_path / "sites.csv"
    ok("export", "--format", "sites", "--work", work, "--ranking", "site", "--output", table)
    with table.open() as file:
        expected = [row["site"] for row in csv.DictReader(file)]
    document = report_of(work, "--ranking", "run", "--ranking", "site")
    assert document["sites"] is None
    assert [row["site"] for row in document["rankings"][0]["sites"]] == expected
    assert [row["site"] for row in report_of(work, "--ranking", "site")["sites"]] == expected


def test_damage_is_listed_with_its_place(tmp_path: Path) -> None:
    work = finished(sorted((SAMPLES / "damaged").glob("*.gz")), "--nodes", "all")
    document, page = both_of(work, tmp_path)
    given = document["input"]
    assert given["damage"] == len(given["damage_places"]) == 3
    assert {row["reason"]: row["count"] for row in given["damage_by_reason"]} == dict(
        Counter(place["reason"] for place in given["damage_places"])
    )
    assert "3 places in the archives are damaged" in page


@pytest.fixture(scope="module")
def unlinked() -> Path:
    """Pages without links, ranked by indegree: all scores are 0."""
    web: dict[str, list[str]] = {"http://a.example/": [], "http://b.example/": []}
    return finished(shared_warc("unlinked.warc.gz", web), "--nodes", "all", "--method", "degree")


def test_scores_of_nothing(unlinked: Path, tmp_path: Path) -> None:
    document, page = both_of(unlinked, tmp_path)
    assert [row["share"] for row in document["hosts"]["listed"]] == [0, 0]
    assert "The scores, by indegree, are exact." in page
    assert "not checked by OPIC" not in page


def test_a_ranking_that_never_began(tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "a.warc.gz", {"http://a.example/": []})
    said = crawlrank("run", archive, "--work", tmp_path / "w", "--nodes", "all", "--method", "hits")
    assert said.code
    document, page = both_of(tmp_path / "w", tmp_path)
    assert "page-rank" in document["run"]["to_do"]
    assert "This run is not finished" in page


@pytest.mark.slow
def test_many_rounds_are_thinned_out(tmp_path: Path) -> None:
    work = finished(LOOPBACK, "--iterations", 1001)
    document, page = both_of(work, tmp_path)
    rounds = document["rounds"]
    numbers = [row["round"] for row in rounds["rounds"]]
    assert rounds["count"] == numbers[-1] == 1001
    assert numbers[0] == 1
    assert 100 < len(numbers) <= 200
    assert "rounds are shown" in page


@pytest.mark.slow
def test_a_stale_ranking_is_left_out_unless_it_is_asked_for(tmp_path: Path) -> None:
    older = ranked(finished(CRAWLS / "crawl-1.warc.gz"), "--method", "hits")
    work = copy_of(older, tmp_path / "w")
    ok("run", CRAWLS / "crawl-1.warc.gz", "--work", work, "--nodes", "all", "--force")
    document, page = both_of(work, tmp_path)
    assert document["left_out"] == ["hits"]
    assert document["rankings"] == []
    assert "made of an older graph: hits" in page
    assert bad("report", "--work", work, "--ranking", "hits", "--json", "-").code == 3


RUNS = (
    (
        *("--fold", "redirects", "--fold", "canonical", "--captures", "latest"),
        *("--link-weight", "internal=1,external=2", "--ties", "links"),
    ),
    (
        *("--runner", "inline", "--nodes", "all", "--no-validate", "--bins", "7"),
        *("--iterations", "3"),
    ),
    ("--method", "site", "--site-by", "domain"),
)


def parsed(line: str) -> dict[str, Any]:
    """The options of a command line, as click reads them."""
    program, name, *words = shlex.split(line)
    assert program == "crawlrank"
    return loaded(name).make_context(name, words).params


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("options", RUNS)
def test_the_command_of_the_run_can_be_run_again(tmp_path: Path, options: tuple[str, ...]) -> None:
    given = ("run", str(LOOPBACK), "--work", str(tmp_path / "w"), *options)
    ok(*given)
    again = report_of(tmp_path / "w")["commands"]["again"]
    expected, actual = parsed(shlex.join(["crawlrank", *given])), parsed(again)
    if "inline" in options:  # gives what local gives
        expected["runner"] = "local"
    assert actual == expected


def test_commands_are_those_of_the_ranking(work: Path) -> None:
    commands = report_of(work, "--ranking", "hits")["commands"]
    assert parsed(commands["again"])["method"] == "hits"
    assert commands["again"].startswith("crawlrank rank ")
    assert commands["look_up"] == f"crawlrank explain {work} URI --ranking hits"
    assert all("--ranking hits" in commands[name] for name in ("recrawl", "other_crawlers"))


def bad(*command: object) -> Said:
    said = crawlrank(*command)
    assert said.code in (2, 3), said
    return said


def test_bad_input(work: Path, tmp_path: Path) -> None:
    assert "--output" in bad("report", "--work", work).err
    assert "no manifest.json" in bad("report", "--work", tmp_path, "--output", "r.html").err
    folder = bad("report", "--work", work, "--output", tmp_path)
    assert "a folder" in folder.err
    label = bad("report", "--work", work, "--ranking", "none", "--json", "-")
    assert "no ranking none" in label.err
    for name in ("manifest.json", "precedence.txt", "links/report.html"):
        said = bad("report", "--work", work, "--output", work / name)
        assert "a path of its own" in said.err
    older = bad("report", "--work", work, "--against", tmp_path, "--json", "-")
    assert "no manifest.json" in older.err


@pytest.mark.parametrize(
    "name", ["precedence.summary.json", "report/report.json", "crawler-beans-fragment.xml"]
)
def test_a_damaged_small_file_is_named(tmp_path: Path, name: str) -> None:
    work = copy_of(finished(LOOPBACK), tmp_path / "w")
    path = work / name
    path.write_bytes(b"\xff" * path.stat().st_size)
    assert name.partition("/")[0] in bad("report", "--work", work, "--json", "-").err


def test_too_little_memory_says_what_is_enough(tmp_path: Path) -> None:
    work = copy_of(finished(LOOPBACK), tmp_path / "w")

    def enlarge(data: dict[str, Any]) -> None:
        data["steps"]["page-rank"]["rounds"][-1]["nodes"] = 10**8

    edit_manifest(work, enlarge)
    said = bad("report", "--work", work, "--json", "-", "--memory", "2GB")
    (enough,) = re.findall(r"Give --memory ([0-9]+MB)", said.err)
    again = crawlrank("report", "--work", work, "--json", "-", "--memory", enough)
    assert "--memory" not in again.err


def test_a_damaged_dataset_is_named(tmp_path: Path) -> None:
    work = copy_of(finished(LOOPBACK), tmp_path / "w")
    scores = work / "scores" / "scores.parquet"
    scores.write_bytes(scores.read_bytes()[:-40])
    said = bad("report", "--work", work, "--output", tmp_path / "r.html")
    assert "scores" in said.err
    assert not (tmp_path / "r.html").exists()
