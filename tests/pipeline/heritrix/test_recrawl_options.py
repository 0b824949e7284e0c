"""What `recrawl` and `verify-precedence` do without Heritrix: show changes, and refuse."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import DATA, ROOT

SAMPLE = ROOT / "sample_data" / "heritrix-loopback.warc.gz"
PROFILE = DATA / "heritrix" / "profile-crawler-beans.cxml"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranked") / "work"
    ok("run", SAMPLE, "--work", folder, "--quiet")
    return folder


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs" / "site"
    folder.mkdir(parents=True)
    (folder / "crawler-beans.cxml").write_bytes(PROFILE.read_bytes())
    return folder


def test_a_dry_run_shows_the_change_and_changes_nothing(work: Path, job: Path) -> None:
    said = ok("recrawl", "--job", job, "--work", work, "--dry-run")
    assert '+ <bean id="uriPrecedencePolicy"' in said.out
    assert '-    <prop key="seeds.textSource.value">' in said.out
    assert "52 pages would be seeds.\nNothing was changed.\n" in said.out
    assert [path.name for path in job.iterdir()] == ["crawler-beans.cxml"]
    assert (job / "crawler-beans.cxml").read_bytes() == PROFILE.read_bytes()
    fewer = ok("recrawl", "--job", job, "--work", work, "--dry-run", "--top", "7")
    assert "7 pages would be seeds." in fewer.out
    kept = ok("recrawl", "--job", job, "--work", work, "--dry-run", "--keep-seeds")
    assert "would be seeds" not in kept.out
    assert "seeds.textSource" not in kept.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--dry-run", "--keep-seeds", "--top", "3"], 2, "--keep-seeds goes without"),
        (["--insecure", "--dry-run"], 2, "go with --rest"),
        (["--rest", "https://h", "--insecure", "--certificate", "00"], 2, "not both"),
        ([], 2, "--heritrix is needed"),
        (["--heritrix", "."], 3, "no heritrix-engine-*.jar in lib"),
        (["--undo"], 3, "nothing to undo"),
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
    said = crawlrank(
        "verify-precedence", work / "precedence.txt", "--state", job / "state", "--heritrix", home
    )
    assert said.code == 3
    assert "no store of Heritrix in it" in said.err
