"""`--workers`: what workers send is reported as one process would report it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT
from support.plugins import forks

FILES = {
    "first": """
        import os, warnings, pytest

        @pytest.fixture(scope="session")
        def process(tmp_path_factory):
            with (tmp_path_factory.mktemp("made") / "file").open("w"):
                yield os.getpid()
            print("the end of a fixture")

        def test_passes(process):
            assert process == os.getpid() != os.getppid()

        def test_fails(tmp_path):
            print("what it said")
            assert tmp_path == 3

        @pytest.mark.parametrize("each", range(3))
        def test_warns(each, process):
            warnings.warn("a warning of a test", UserWarning)
            assert process == os.getpid()
    """,
    "second": """
        import os, signal, pytest

        def test_before(): pass

        def test_dies(): os.kill(os.getpid(), signal.SIGKILL)

        def test_after(): pytest.skip("no reason")

        def test_last(): os._exit(0)
    """,
    "third": """
        import pytest

        @pytest.fixture
        def broken():
            yield
            raise OSError("at the end")

        def test_of_a_fixture(broken): pass
    """,
}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with these tests."""
    for name, text in FILES.items():
        lines = re.sub("^        ", "", text, flags=re.MULTILINE)
        (tmp_path / f"test_{name}.py").write_text(lines)
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str]:
    plugin = ("-p", "support.plugins.forks", "-p", "no:cacheprovider", "--rootdir", str(folder))
    command = [sys.executable, "-m", "pytest", *plugin, "-rA", *words, str(folder)]
    env = {"PYTHONPATH": str(ROOT / "tests"), "PATH": "", "TMPDIR": str(folder)}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # hypothesis and others, which take a second
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def outcomes(said: str) -> list[str]:
    """The lines of the short summary, without reasons, sorted."""
    lines = re.findall(r"^((?:PASSED|FAILED|ERROR) \S+|SKIPPED .*?: no reason)", said, re.MULTILINE)
    return sorted(lines)


def counts(said: str) -> str:
    """What the last line counts."""
    return said.splitlines()[-1].strip("= ").rpartition(" in ")[0]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("count", ["2", "1", "5"])
def test_workers_report_what_one_process_reports(made: Path, count: str) -> None:
    (made / "test_second.py").unlink()
    code, alone = run(made)
    again, said = run(made, "--workers", count)
    assert code == again == 1
    assert outcomes(said) == outcomes(alone)
    for words in ("what it said", "assert PosixPath", "OSError: at the end"):
        assert words in said and words in alone
    assert re.findall("a warning of a test", said) == re.findall("a warning of a test", alone)
    assert counts(said) == counts(alone)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("count", ["1", "3"])
def test_a_test_whose_process_dies_has_failed(made: Path, count: str) -> None:
    code, said = run(made, "--workers", count)
    assert code == 1
    assert said.count("its process ended with -9") and said.count("its process ended with 0")
    names = ("first.py::test_fails", "second.py::test_dies", "second.py::test_last")
    failed = [f"FAILED test_{name}" for name in names]
    assert [line for line in outcomes(said) if line[0] == "F"] == failed
    assert counts(said) == "3 failed, 6 passed, 1 skipped, 3 warnings, 1 error"


def test_a_worker_that_does_not_end_is_ended() -> None:
    with subprocess.Popen(["sleep", "600"]) as process:
        with pytest.raises(RuntimeError, match=f"worker {process.pid} does not end"):
            forks.end_of(process.pid, seconds=0.01)
        assert process.wait() == -signal.SIGKILL
        assert forks.end_of(os.spawnlp(os.P_NOWAIT, "sh", "sh", "-c", "exit 3")) == 3


@pytest.mark.slow
def test_it_ends_at_the_first_failure_if_asked(made: Path) -> None:
    code, said = run(made, "--workers", "2", "-x")
    assert code == 1
    assert "stopping after 1 failures" in said


@pytest.mark.slow
def test_what_cannot_be_collected_is_said(made: Path) -> None:
    (made / "test_first.py").write_text("import nothing_of_that_name\n")
    code, said = run(made, "--workers", "2")
    assert code == 2
    assert "No module named 'nothing_of_that_name'" in said
