"""The words of a command line: WORK as an argument, former names of commands and options, and which
options go together."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.paths import LOOPBACK, SAMPLES
from support.runs import finished

from crawlrank.pipeline.cli.commands import COMMANDS, loaded
from crawlrank.pipeline.cli.parameters.words import COMMANDS as FORMER
from crawlrank.pipeline.cli.parameters.words import TABLES, renamed, spelled_out

ABOUT = "http://127.0.0.1:18081/"


@pytest.mark.parametrize(
    ("command", "words", "expected"),
    [
        ("status", "w", "--work=w"),
        ("status", "--json - w", "--work=w --json -"),
        ("status", "-v w --check", "--work=w -v --check"),
        ("status", "-- w", "--work=w --"),
        ("status", "--work w", "--work w"),
        ("status", "--work=w v", "--work=w v"),
        ("status", "", ""),
        ("explain", "w http://a/", "--work=w http://a/"),
        ("explain", "--links 3 w http://a/", "--work=w --links 3 http://a/"),
        ("explain", "http://a/", "http://a/"),
        ("explain", "http://a/ --work w", "http://a/ --work w"),
        ("plan", "a b --budget 5/day c", "--work=a --work=b --work=c --budget 5/day"),
        ("export", "w --out=x", "--work=w --output=x"),
        ("cluster package", "--out x", "--output x"),
        ("run", "a.warc --work w", "a.warc --work w"),
    ],
)
def test_the_first_argument_is_the_work_folder(command: str, words: str, expected: str) -> None:
    assert spelled_out(loaded(command), words.split()) == expected.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("check --work w", "status --check --work w"),
        ("agree w", "diff w"),
        ("page-rank g --output r", "step page-rank g --output r"),
        ("export-precedence --work w", "export --work w"),
        ("export-precedence --work=w", "export --work=w"),
        ("export-precedence scores --uris u", "step export-precedence scores --uris u"),
        ("export-precedence --lint p.txt", "audit p.txt"),
        ("export-precedence --lint=p.txt", "audit p.txt"),
        ("export-sites --work w", "export --format sites --work w"),
        ("watch", "lab watch"),
    ],
)
def test_a_former_name_has_todays_words(words: str, expected: str) -> None:
    today, warning = renamed(words.split())
    assert today == expected.split()
    assert warning.startswith(f"`crawlrank {words.split()[0]}` is now `crawlrank {today[0]}")


def test_every_former_name_leads_to_a_command() -> None:
    for name, words in FORMER.items():
        assert name not in COMMANDS
        assert words[0] in COMMANDS or " ".join(words[:2]) in COMMANDS
    assert {words.split()[-1] for words in COMMANDS} >= {*TABLES.values()}


@pytest.mark.parametrize("words", [[], ["run", "x"], ["--help"], ["step", "page-rank"]])
def test_words_of_today_stay(words: list[str]) -> None:
    assert renamed(words) == (words, "")


def test_a_former_name_does_the_same_and_says_the_new_one() -> None:
    work = finished(LOOPBACK)
    former = ok(*["check"], "--work", work)
    today = ok("status", work, "--check")
    assert former.out == today.out
    assert former.err == (
        "crawlrank: `crawlrank check` is now `crawlrank status --check`; the former name will go.\n"
    )
    assert not today.err


@pytest.mark.slow
def test_the_work_folder_as_argument_and_as_option() -> None:
    work = finished(LOOPBACK)
    assert ok("explain", work, ABOUT).out == ok("explain", ABOUT, "--work", work).out
    assert ok("hosts", work).out == ok("hosts", "--work", work).out


@pytest.mark.parametrize("command", ["status", "report", "export", "explain"])
def test_a_missing_work_folder_is_named(command: str) -> None:
    said = crawlrank(command)
    assert said.code == 2
    assert "Missing argument 'WORK'" in said.err or "Missing argument 'URI'" in said.err


def test_the_files_of_a_text_export_are_named(tmp_path: Path) -> None:
    said = ok("export", finished(LOOPBACK), "--format", "text", "--output", tmp_path / "text")
    assert str(tmp_path / "text" / "precedence.txt") in said.out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("export w --format text --output t --bins 3", "--bins goes with lists of pages"),
        ("export w --format sites --output s.csv --status 200", "--status goes with lists"),
        ("status w --check --json -", "--check goes without --json"),
        ("status w --check-archives full", "--check-archives goes with --check"),
        ("diff a b --ranking x --ranking y", "go with one work folder"),
        ("diff a b --ratings r.csv", "go with one work folder"),
        ("diff a --links 3", "--links goes with two work folders"),
        ("diff a b c", "3 work folders; expected one or two"),
        ("audit p.txt --state s --by line", "--by does not go with --state"),
        ("audit p.txt crawl.log --heritrix h", "--heritrix does not go with LOGS"),
        ("audit p.txt --json -", "--json does not go with PRECEDENCE alone"),
    ],
)
def test_options_that_do_not_go_together(
    words: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("w", "a", "b", "c", "s", "h"):
        (tmp_path / name).mkdir()
    said = crawlrank(*words.split())
    assert (said.code, reason in said.err) == (2, True), said


def test_a_state_needs_heritrix(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HERITRIX_HOME", raising=False)
    said = crawlrank("audit", SAMPLES / "heritrix-loopback.crawl.log", "--state", tmp_path)
    assert (said.code, "--state needs --heritrix" in said.err) == (2, True), said


@pytest.mark.parametrize(
    "words", [(), ("export",), ("step", "canonicalize"), ("step",), ("check",)], ids=" ".join
)
def test_help_is_a_command_too(words: tuple[str, ...]) -> None:
    assert ok("help", *words) == ok(*words, "--help")


def test_help_for_a_command_that_is_none() -> None:
    said = crawlrank("help", "nothing")
    assert (said.code, "No such command 'nothing'" in said.err) == (2, True)
