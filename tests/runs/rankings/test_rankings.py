"""Rankings beside that of a run: what is theirs, what they share, and when they hold no longer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.crawls import INLINE, MORE_WEB, WEB, crawlrank, ok, write_warc
from support.runs import copy_of, finished, ranked, shared_warc
from support.work_folders import files_of

URI = "http://a.example/about"
ROUNDS = ("--iterations", 7, "--quiet")
SOME = ("--iterations", 30)
CUT = ("--bins", 3, "--ties", "links")
OTHERWISE = ("--iterations", 10, *CUT)
OWN = ("ranks", "scores", "precedence.txt", "precedence.summary.json", "report")


@pytest.fixture
def archive() -> Path:
    return shared_warc("web.warc.gz", WEB)


@pytest.fixture
def work(tmp_path: Path, archive: Path) -> Path:
    return copy_of(finished(archive), tmp_path / "work")


@pytest.fixture
def made(tmp_path: Path, archive: Path) -> Path:
    """One that has a ranking already, `pagerank`."""
    return copy_of(ranked(finished(archive), "--iterations", 7), tmp_path / "work")


def own_files(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files_of(folder).items() if name.startswith(OWN)}


@pytest.mark.slow
def test_a_ranking_is_what_a_run_with_its_options_makes(tmp_path: Path, archive: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    options = (*OTHERWISE, "--quiet", "--jobs", 1)
    ok("run", archive, "--work", work, "--quiet", "--iterations", 2, "--no-validate", "--jobs", 1)
    before = files_of(work)
    ok("rank", "--work", work, "--name", "seven", *options)
    ok("run", archive, "--work", other, *options)
    folder = work / "rankings" / "seven"
    seconds = {"report/report.json"}  # its time is in it
    assert own_files(folder).keys() == own_files(other).keys()
    for name in own_files(other).keys() - seconds:
        assert own_files(folder)[name] == own_files(other)[name], name
    assert {name: files_of(work)[name] for name in before} == before


@pytest.mark.slow
def test_a_ranking_by_jobs(archive: Path, tmp_path: Path) -> None:
    """In processes of its own, whichever runner of this machine made the run."""
    work = ranked(finished(archive, *INLINE), *OTHERWISE, "--name", "one", "--jobs", 1)
    folder, other = work / "rankings" / "one", finished(archive, *INLINE, *OTHERWISE)
    for name in ("precedence.txt", "precedence.summary.json"):
        assert (folder / name).read_bytes() == (other / name).read_bytes()
    check_exports(work, folder, tmp_path / "out.txt")


@pytest.mark.slow
def test_every_command_reads_a_ranking(made: Path, tmp_path: Path) -> None:
    work, named = made, ("--work", made, "--ranking", "pagerank")
    assert "round" in ok("status", *named).out
    assert "pagerank" in ok("status", "--work", work).out
    assert "of 1e-09" not in ok("explain", *named, URI).out
    ok("status", "--check", *named)
    ok("export", "--format", "text", *named, "--out", tmp_path / "text")
    text = (tmp_path / "text" / "precedence.txt").read_bytes()
    assert text == (work / "rankings" / "pagerank" / "precedence.txt").read_bytes()
    ok("diff", work, work, "--ranking", "pagerank")
    ok("diff", work, work / "rankings" / "pagerank")


@pytest.mark.slow
def test_other_options_need_force(work: Path) -> None:
    rank = ("rank", "--work", work, "--name", "one", *ROUNDS)
    ok(*rank)
    first = own_files(work / "rankings" / "one")
    refused = crawlrank(*rank, "--bins", 2)
    assert refused.code == 3
    assert "was made with --bins 5, now it is run with --bins 2" in refused.err
    assert own_files(work / "rankings" / "one") == first
    ok(*rank, "--bins", 2, "--force")
    assert own_files(work / "rankings" / "one") != first
    ok(*rank, "--force")
    again = own_files(work / "rankings" / "one")
    del first["report/report.json"], again["report/report.json"]
    assert again == first


@pytest.mark.slow
def test_a_ranking_of_a_graph_that_was_made_anew_is_stale(
    made: Path, archive: Path, tmp_path: Path
) -> None:
    work, more = made, write_warc(tmp_path / "more.warc.gz", MORE_WEB)
    ok("run", archive, more, "--work", work, "--quiet", "--jobs", 1)
    status = ok("status", "--work", work).out
    assert "stale" in status
    refused = crawlrank("explain", "--work", work, "--ranking", "pagerank", URI)
    assert refused.code == 3
    assert "crawlrank rank" in refused.err
    ok("rank", "--work", work, *ROUNDS)
    assert "stale" not in ok("status", "--work", work).out
    ok("run", archive, more, "--work", tmp_path / "other", *ROUNDS, "--jobs", 1)
    folder = work / "rankings" / "pagerank"
    assert (folder / "scores").is_dir()
    assert own_files(folder)["precedence.txt"] == own_files(tmp_path / "other")["precedence.txt"]


def test_another_ranking_of_the_run_leaves_rankings_as_they_are(made: Path, archive: Path) -> None:
    """Only the graph is shared."""
    work, before = made, files_of(made / "rankings" / "pagerank")
    ok("run", archive, "--work", work, "--quiet", "--iterations", 30, "--force")
    assert files_of(work / "rankings" / "pagerank") == before
    assert "stale" not in ok("status", "--work", work).out


def test_a_work_folder_may_be_moved(made: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere" / "moved"
    moved.parent.mkdir()
    made.rename(moved)
    ok("explain", "--work", moved, "--ranking", "pagerank", URI)
    ok("status", "--check", "--work", moved, "--ranking", "pagerank")


@pytest.mark.parametrize("dataset", ["scores", "ranks", "precedence.txt"])
def test_what_is_damaged_is_told_and_made_again(made: Path, dataset: str) -> None:
    work, folder = made, made / "rankings" / "pagerank"
    rank = ("rank", "--work", work, *ROUNDS)
    before = own_files(folder)
    path = folder / dataset
    shutil.rmtree(path) if path.is_dir() else path.write_bytes(b"http://a.example/ 1\n")
    told = crawlrank("status", "--check", "--work", work, "--ranking", "pagerank")
    assert told.code == 3
    assert "`crawlrank rank` again" in told.err
    ok(*rank)
    after = own_files(folder)
    del before["report/report.json"], after["report/report.json"]
    assert after == before


def test_a_damaged_graph_is_left_to_the_run(work: Path, archive: Path) -> None:
    graph = next((work / "graph").iterdir())
    data = bytearray(graph.read_bytes())
    data[-1] ^= 1
    graph.write_bytes(data)
    refused = crawlrank("rank", "--work", work, *ROUNDS)
    assert refused.code == 3
    assert "`crawlrank run` on the work folder around it" in refused.err
    ok("run", archive, "--work", work, "--quiet", "--iterations", 30, "--force")
    ok("rank", "--work", work, *ROUNDS)


def test_a_label_is_a_name(work: Path) -> None:
    for label in ("", "../up", "a/b", ".hidden", "a" * 65, "a b", "ä"):
        refused = crawlrank("rank", "--work", work, "--name", label, *ROUNDS)
        assert (refused.code, "no label" in refused.err) == (2, True)
        assert not (work.parent / "up").exists()


def test_a_label_is_that_of_one_ranking(made: Path) -> None:
    for label in ("run", "Run", "PageRank"):
        assert crawlrank("rank", "--work", made, "--name", label, *ROUNDS).code == 2
    assert sorted(path.name for path in (made / "rankings").iterdir()) == ["pagerank"]
    own = ok("export", "--work", made, "--format", "csv", "--output", "-").out
    asked = ("export", "--work", made, "--format", "csv", "--output", "-")
    assert ok(*asked, "--ranking", "run").out == own
    assert ok(*asked, "--ranking", "pagerank").out != own


def test_an_unknown_ranking_is_refused_with_those_there_are(made: Path) -> None:
    refused = crawlrank("explain", "--work", made, "--ranking", "yours", URI)
    assert refused.code == 3
    assert "no ranking yours" in refused.err
    assert "pagerank" in refused.err


def test_a_folder_without_a_graph_is_refused(tmp_path: Path) -> None:
    assert crawlrank("rank", "--work", tmp_path / "none", *ROUNDS).code == 3
    assert not (tmp_path / "none").exists()


def test_a_run_in_a_ranking_is_refused(made: Path, archive: Path) -> None:
    refused = crawlrank("run", archive, "--work", made / "rankings" / "pagerank")
    assert refused.code == 3
    assert "lies inside the work folder" in refused.err


def test_a_ranking_of_imported_text(tmp_path: Path) -> None:
    graph = tmp_path / "graph.txt"
    graph.write_text("0\t1.0\tO:1\n1\t1.0\tO:0,2\n2\t1.0\tO:0\ndummy\t1.0\tO:dummy\n")
    work = tmp_path / "work"
    ok("step", "import-text", "--work", work, "--graph", graph)
    ok("run", "--work", work, "--quiet")
    ok("rank", "--work", work, *ROUNDS)
    assert (work / "rankings" / "pagerank" / "scores").is_dir()
    ok("status", "--work", work, "--ranking", "pagerank")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("method", "stop"),
    [
        *(("opic", ()), ("opic-hits", SOME)),
        pytest.param("opic", SOME, marks=pytest.mark.slow),
        pytest.param("opic-hits", (), marks=pytest.mark.slow),
    ],
)
def test_rankings_by_cash_are_what_a_run_makes(
    tmp_path: Path, archive: Path, work: Path, method: str, stop: tuple[object, ...]
) -> None:
    """explain adds up what links give: that is the score."""
    other = tmp_path / "other"
    ok("rank", "--work", work, "--method", method, "--quiet", *stop)
    ok("run", archive, "--work", other, "--method", method, "--quiet", *stop)
    ranking = work / "rankings" / method
    assert own_files(ranking) == own_files(other)
    ok("status", "--check", "--work", work, "--ranking", method)
    page = json.loads(ok("explain", "--work", work, "--ranking", method, URI, "--json", "-").out)
    given = [link["gives"] for link in page["given"]]
    assert page["base"] == 1
    assert page["base"] + sum(given) + page["others_give"] == pytest.approx(page["score"], rel=1e-6)


@pytest.mark.slow
def test_relevance_of_a_page_is_passed_on_to_its_hubs(work: Path, tmp_path: Path) -> None:
    """All pages that are not named have 0.5, so naming one with 0.5 changes nothing."""
    relevance = tmp_path / "relevance.txt"
    rank = ("rank", "--work", work, "--method", "opic-hits", "--quiet")
    ok(*rank, "--name", "plain")
    hubs = {}
    for label, value in (("same", 0.5), ("more", 0.9), ("less", 0)):
        relevance.write_text(f"{URI} {value}\n")
        ok(*rank, "--name", label, "--relevance", relevance)
        ok(
            "export",
            "--format",
            "text",
            "--work",
            work,
            "--ranking",
            label,
            "--out",
            tmp_path / label,
        )
        lines = (tmp_path / label / "hubs.txt").read_text().splitlines()
        hubs[label] = sorted(float(line.split()[1]) for line in lines)
    scores = [
        np.load(work / "rankings" / label / "ranks" / "scores.npy") for label in ("plain", "same")
    ]
    assert (scores[0] == scores[1]).all()
    assert hubs["less"] != hubs["same"] != hubs["more"]
    relevance.write_text(f"{URI} 1.5\n")
    refused = crawlrank(*rank, "--name", "wrong", "--relevance", relevance)
    assert refused.code == 3
    assert "from 0 to 1" in refused.err
    refused = crawlrank("rank", "--work", work, "--method", "opic", "--relevance", relevance)
    assert refused.code == 2


def check_exports(work: Path, folder: Path, out: Path) -> None:
    """export-precedence of a work folder and of a ranking in it."""
    label = folder.name
    for ranking, made in (((), work), (("--ranking", label, *CUT), folder)):
        ok("export", "--work", work, *ranking, "--output", out)
        assert out.read_bytes() == (made / "precedence.txt").read_bytes()
    ok("export", "--work", work, "--bins", 2, "--format", "csv", "--output", out)
    assert out.read_text().startswith("url,")
    for wrong in (("--uris", "x"), ("--report", "x"), (work / "scores",)):
        said = crawlrank("export", "--work", work, *wrong, "--output", out)
        assert said.code == 2, said
    assert crawlrank("step", "export-precedence", "--ranking", label, work / "scores").code == 2


def test_export_precedence_of_a_work_folder(archive: Path, tmp_path: Path) -> None:
    work = ranked(finished(archive), *OTHERWISE, "--name", "one")
    check_exports(work, work / "rankings" / "one", tmp_path / "out.txt")
