"""What `recrawl` and `audit --state` do without Heritrix: show changes, and refuse."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import DATA, LOOPBACK
from support.runs import copy_of, finished

PROFILE = DATA / "heritrix" / "profile-crawler-beans.cxml"


@pytest.fixture
def work() -> Path:
    return finished(LOOPBACK)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs" / "site"
    folder.mkdir(parents=True)
    (folder / "crawler-beans.cxml").write_bytes(PROFILE.read_bytes())
    return folder


def test_a_dry_run_shows_the_change_and_changes_nothing(work: Path, job: Path) -> None:
    said = ok("recrawl", "--job", job, "--work", work, "--dry-run")
    assert '+ <bean id="uriPrecedencePolicy"' in said.out
    assert '+    <ref bean="crawlrankPages"/>' in said.out
    assert re.search(r"^pages that were captured +52$", said.out, re.MULTILINE)
    assert "Seeds and scope stay those" in said.out
    assert said.out.endswith("Nothing was changed.\n")
    assert [path.name for path in job.iterdir()] == ["crawler-beans.cxml"]
    assert (job / "crawler-beans.cxml").read_bytes() == PROFILE.read_bytes()
    fewer = ok("recrawl", "--job", job, "--work", work, "--dry-run", "--top", "7")
    assert re.search(r"^pages that were captured +7$", fewer.out, re.MULTILINE)
    found = ok("recrawl", "--job", job, "--work", work, "--dry-run", "--seeds-only")
    assert "The crawl begins with the seeds of the job" in found.out
    assert '+    <ref bean="crawlrankPages"/>' in found.out  # which looks at each host
    wider = ok("recrawl", "--job", job, "--work", work, "--dry-run", "--grow")
    assert re.search(r"^127\.0\.0\.[12]:\d+ +\d+$", wider.out, re.MULTILINE)
    assert re.search(r"^http://\(127\.0\.0\.[12]:\d+\)/\S* +\d+$", wider.out, re.MULTILINE)
    assert "hops count from them" in wider.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--dry-run", "--seeds-only", "--top", "3"], 2, "--seeds-only goes without"),
        (["--dry-run", "--seeds-only", "--grow"], 2, "--seeds-only goes without"),
        (["--dry-run", "--part", "3/2"], 2, "no part such as 1/4"),
        (["--dry-run", "--part", "0/2"], 2, "no part such as 1/4"),
        (["--insecure", "--dry-run"], 2, "go with --rest"),
        (["--rest", "https://h", "--insecure", "--certificate", "00"], 2, "not both"),
        ([], 2, "--heritrix is needed"),
        (["--heritrix", "."], 3, "no heritrix-engine-*.jar in lib"),
        (["--undo"], 2, "--undo goes with --job alone"),
        (["--dry-run", "--ranking", "none"], 3, "no ranking none"),
    ],
)
def test_refusals(
    work: Path, job: Path, options: list[str], code: int, message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("HERITRIX_HOME", raising=False)
    said = crawlrank("recrawl", "--job", job, "--work", work, *options)
    assert said.code == code
    assert message in said.err
    assert (job / "crawler-beans.cxml").read_bytes() == PROFILE.read_bytes()


def test_only_a_job_is_undone(job: Path) -> None:
    for option in ("--dry-run", "--grow", "--no-annotations"):
        said = crawlrank("recrawl", "--job", job, "--undo", option)
        assert (said.code, "--undo goes with --job alone" in said.err) == (2, True), option
    said = crawlrank("recrawl", "--job", job, "--undo")
    assert (said.code, "nothing to undo" in said.err) == (3, True)


@pytest.mark.slow
def test_a_plan_is_one_of_the_rankings_that_are_there(
    work: Path, job: Path, tmp_path: Path
) -> None:
    mine, plan = copy_of(work, tmp_path / "work"), tmp_path / "plan"
    dry = ("recrawl", "--job", job, "--dry-run", "--plan")
    said = crawlrank(*dry, mine)
    assert (said.code, "A work folder is the argument WORK" in said.err) == (3, True)
    ok("plan", "--work", mine, "--budget", "50/day", "--output", plan)
    assert "after them the seeds of the job" in ok(*dry, plan).out
    ok("run", LOOPBACK, "--work", mine, "--quiet", "--nodes", "all", "--force")
    said = crawlrank(*dry, plan)
    assert said.code == 3
    assert f"{mine} was ranked anew since" in said.err
    shutil.rmtree(mine)
    ok(*dry, plan)


def test_inputs_that_are_not_there(work: Path, job: Path, tmp_path: Path) -> None:
    dry = ("--dry-run", "--work", work)
    for path in (tmp_path / "none", tmp_path):
        said = crawlrank("recrawl", "--job", path, *dry)
        assert (said.code, "no files of beans" in said.err) == (3, True)
    (job / "crawler-beans.cxml").write_text("<html/>")
    said = crawlrank("recrawl", "--job", job, *dry)
    assert said.code == 3
    assert "The file was left alone" in said.err
    assert crawlrank("recrawl", "--job", job, "--dry-run").code == 2
    assert crawlrank("recrawl", "--job", job, "--dry-run", "--work", tmp_path).code == 3


def test_a_state_without_precedences(work: Path, job: Path, tmp_path: Path) -> None:
    home = tmp_path / "heritrix"
    (home / "lib").mkdir(parents=True)
    (home / "lib" / "heritrix-engine-3.13.0.jar").touch()
    (job / "state").mkdir()
    said = crawlrank("audit", work / "precedence.txt", "--state", job / "state", "--heritrix", home)
    assert said.code == 3
    assert "no store of Heritrix in it" in said.err
