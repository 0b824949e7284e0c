"""Targets of make that have passed on a commit are not run again on it, and no others are left
out."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from run_targets import main

MAKEFILE = """\
COUNT ?= 1
good bad writes:
	@echo $@ >> ran
	@echo 3 passed from $$PYTHONPATH.
	@if [ $@ = bad ]; then exit 1; fi
	@if [ $@ = writes ]; then echo >> Makefile; fi
"""


def git(tree: Path, *words: str) -> None:
    settings = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *settings, *words], cwd=tree, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("COUNT", "CRAWLRANK_SEED"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / ".gitignore").write_text("work\nran\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--allow-empty", "--message", "a change")


def ran(tree: Path, *words: str) -> list[str]:
    """The targets that a call has run."""
    main([*words, "--tree", str(tree)])
    path = tree / "ran"
    names = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return names


def test_another_checkout_is_not_tested(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/another")
    assert ran(tree, "good") == ["good"]
    assert (tree / "work" / "targets" / "good.log").read_text() == "3 passed from .\n"


def test_what_has_passed_is_taken_over(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(tree, "bad", "good") == ["bad", "good"]
    assert ran(tree, "good", "bad") == ["bad"]
    assert ran(tree, "good", "bad", "--again") == ["good", "bad"]
    capsys.readouterr()
    assert main(["good", "--tree", str(tree)]) == 0
    assert main(["good", "bad", "--tree", str(tree)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("3 tests       passed before")
    assert lines[-2].endswith("3 tests       failed: work/targets/bad.log")


def test_another_commit_is_another_state(tree: Path) -> None:
    assert ran(tree, "good") == ["good"]
    commit(tree)
    assert ran(tree, "good") == ["good"]
    assert ran(tree, "good") == []


def test_changes_are_tested_each_time(tree: Path) -> None:
    (tree / "new").touch()
    assert ran(tree, "good") == ["good"]
    assert ran(tree, "good") == ["good"]
    (tree / "new").unlink()
    assert ran(tree, "good") == ["good"]
    assert ran(tree, "good") == []


def test_a_change_while_a_target_runs(tree: Path) -> None:
    assert ran(tree, "writes") == ["writes"]
    git(tree, "checkout", "Makefile")
    assert ran(tree, "writes") == ["writes"]


@pytest.mark.parametrize("name", ["COUNT", "CRAWLRANK_SEED"])
def test_other_settings_are_another_state(
    name: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ran(tree, "good") == ["good"]
    monkeypatch.setenv(name, "2")
    assert ran(tree, "good") == ["good"]
    assert ran(tree, "good") == []


def test_no_checkout_is_tested_each_time(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    assert ran(tmp_path, "good") == ["good"]
    assert ran(tmp_path, "good") == ["good"]
