"""What a failed task wrote is found, whatever the history server does meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mrjob.hadoop import HadoopJobRunner

from crawlrank.jobs.mapreduce.runners.cluster import HadoopRunner

JOB, APPLICATION = "job_1795820978695_0016", "application_1795820978695_0016"
ATTEMPT, CONTAINER = "attempt_1795820978695_0016_m_000001_0", "container_1795820978695_0016_01_3"
LATER = "container_1795820978695_0016_01_4"
HISTORY = (
    '{"type":"MAP_ATTEMPT_STARTED","event":{"x":{"attemptId":"%s","containerId":"%s"}}}\n'
    '{"type":"MAP_ATTEMPT_FAILED","event":{"x":{"attemptId":"%s","error":"Error: java"}}}\n'
)
STDERR = "Traceback (most recent call last):\nValueError: of the task\n"
SYSLOG = (
    "2026-11-27 23:21:24,000 WARN [main] org.apache.hadoop.mapred.YarnChild: Error: java\n"
    "\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)\n"
)


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HadoopRunner:
    """One whose logs are in a folder of this machine."""
    write_logs(tmp_path, CONTAINER, STDERR)
    monkeypatch.setattr(HadoopJobRunner, "get_hadoop_version", lambda self: "3.4.2")
    monkeypatch.setattr(
        HadoopJobRunner, "_stream_history_log_dirs", lambda self, output_dir=None: [[str(tmp_path)]]
    )
    return HadoopRunner(conf_paths=[], hadoop_log_dirs=[str(tmp_path)], hadoop_bin=["false"])


def write_logs(folder: Path, container: str, stderr: str) -> None:
    task = folder / "userlogs" / APPLICATION / container
    task.mkdir(parents=True)
    (task / "stderr").write_text(stderr)
    (task / "syslog").write_text(SYSLOG)


def failure(runner: HadoopRunner) -> str:
    step = {
        "job_id": JOB, "application_id": APPLICATION,
        "errors": [{"attempt_id": ATTEMPT, "hadoop_error": {"message": "Error: java"}}],
    }  # fmt: skip
    runner._pick_error({"step": step}, "streaming")
    return runner.failure


def history(folder: Path) -> Path:
    folder.mkdir()
    path = folder / f"{JOB}-1-hadoop-a.jar-2-1-0-FAILED-root.default-1.jhist"
    path.write_text(HISTORY % (ATTEMPT, CONTAINER, ATTEMPT))
    return path


def test_what_a_failed_task_wrote_is_the_failure(runner: HadoopRunner, tmp_path: Path) -> None:
    write_logs(tmp_path, LATER, "words of a task that was killed\n")
    history(tmp_path / "done")
    assert failure(runner) == "ValueError: of the task"


def test_a_history_log_that_is_moved_after_it_was_listed(
    runner: HadoopRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_logs(tmp_path, LATER, "words of a task that was killed\n")
    path, listed = history(tmp_path / "done_intermediate"), HadoopJobRunner._ls_history_logs

    def moved(self: Any, **given: Any) -> list[dict[str, str]]:
        matches = list(listed(self, **given))
        if path.exists():
            (tmp_path / "done").mkdir()
            path.rename(tmp_path / "done" / path.name)
        return matches

    monkeypatch.setattr(HadoopJobRunner, "_ls_history_logs", moved)
    assert failure(runner) == "ValueError: of the task"


def test_without_a_history_log_all_tasks_are_looked_at(runner: HadoopRunner) -> None:
    assert failure(runner) == "ValueError: of the task"
