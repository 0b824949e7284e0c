"""Faults of a run and its work folder: manifest, resuming, lock, processes, messages."""

from __future__ import annotations

from mutants.edit import Edit

MANIFEST = "tests/pipeline/workfolder/test_manifest.py"
DURABILITY = "tests/pipeline/workfolder/test_durability.py"
CHANGED = "tests/pipeline/workfolder/test_changed_archives.py"
LOCK = "tests/pipeline/workfolder/test_lock.py"
WORKERS = "tests/pipeline/data/test_workers.py"
MESSAGES = "tests/pipeline/cli/test_messages.py"
CLI = "tests/pipeline/cli/test_cli.py"
FORKS = "tests/jobs/mapreduce/test_task_server.py"
SPLITS = "tests/jobs/mapreduce/test_splits.py"
TASK_LOGS = "tests/jobs/mapreduce/test_task_logs.py"
KEPT_CODE = "tests/jobs/kernel/machine/test_native.py"
LOOPS = "tests/jobs/kernel/machine/test_machine_code.py"
PACKED = "tests/pipeline/engines/text/test_packed_ranking.py"

EDITS: dict[str, tuple[Edit, ...]] = {
    "manifest": (
        Edit(
            "manifest-is-not-brought-to-the-disk",
            "pipeline/workfolder/manifest.py",
            "os.fsync(file.fileno())",
            "os.fstat(file.fileno())",
            f"{DURABILITY} {MANIFEST}",
        ),
        Edit(
            "the-end-of-a-file-tells-nothing",
            "pipeline/workfolder/manifest.py",
            "digest.update(last)",
            "digest.update(last[:0])",
            f"{MANIFEST} {CHANGED}",
        ),
        Edit(
            "a-step-is-done-whatever-its-mark",
            "pipeline/workfolder/manifest.py",
            'self.steps.get(step, {}).get("fingerprint") == mark',
            'bool(self.steps.get(step, {}).get("fingerprint"))',
            MANIFEST,
        ),
        Edit(
            "a-forgotten-step-stays",
            "pipeline/workfolder/manifest.py",
            "self.steps.pop(step, None)",
            "self.steps.get(step)",
            MANIFEST,
        ),
    ),
    "resume": (
        Edit(
            "hits-of-jobs-forgets-what-it-knew",
            "pipeline/engines/text/hits_rounds.py",
            "Passed(**rounds[-1][STATE]) if rounds else Passed()",
            "Passed()",
            "tests/pipeline/engines/text/test_hits_rounds.py",
        ),
        Edit(
            "an-archive-with-the-same-ends-is-the-same",
            "pipeline/workfolder/archive_identity.py",
            "if all(entry.get(name) == value for name, value in shown)",
            "if any(entry.get(name) == value for name, value in shown)",
            CHANGED,
        ),
        Edit(
            "a-full-look-is-no-full-look",
            "pipeline/workfolder/archive_identity.py",
            "(full or not _known(glance, entries[glance.ends]))",
            "not _known(glance, entries[glance.ends])",
            CHANGED,
        ),
    ),
    "lock": (
        Edit(
            "two-runs-share-a-folder",
            "pipeline/workfolder/lock.py",
            "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
            "fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
            LOCK,
        ),
    ),
    "workers": (
        Edit(
            "a-worker-that-died-is-not-replaced",
            "pipeline/data/workers.py",
            "workers[workers.index(worker)] = _start(work)",
            "workers.remove(worker)",
            WORKERS,
        ),
        Edit(
            "the-memory-of-tasks-is-not-known",
            "jobs/mapreduce/runners/task_server.py",
            "_SERVER.peak = max(_SERVER.peak, peak)",
            "_SERVER.peak = 0",
            FORKS,
        ),
        Edit(
            "a-key-is-cut",
            "jobs/mapreduce/runners/splits.py",
            "while end < whole and _key(",
            "while end < begin and _key(",
            SPLITS,
        ),
        Edit(
            "the-log-of-a-job-that-was-moved-is-lost",
            "jobs/mapreduce/runners/cluster.py",
            'log_interpretation.pop("history", None)',
            "return",
            TASK_LOGS,
        ),
        Edit(
            "code-in-a-folder-of-another-user-is-taken",
            "jobs/kernel/machine/kept_code.py",
            "if status.st_uid != os.geteuid():",
            "if status.st_uid < 0:",
            KEPT_CODE,
        ),
        Edit(
            "code-that-others-could-write-is-taken",
            "jobs/kernel/machine/kept_code.py",
            "if path.suffix in _CODE:",
            "if path.suffix in ():",
            KEPT_CODE,
        ),
        Edit(
            "code-of-a-loop-that-calls-a-changed-one-is-taken",
            "jobs/kernel/machine/machine_code.py",
            "if index.stat().st_mtime < newest:",
            "if index.stat().st_mtime < 0:",
            LOOPS,
        ),
        Edit(
            "code-of-a-loop-with-another-constant-is-taken",
            "jobs/kernel/machine/loop_code.py",
            "yield repr(value).encode()",
            "pass",
            LOOPS,
        ),
    ),
    "messages": (
        Edit(
            "not-converged-is-bad-input",
            "jobs/kernel/errors.py",
            "exit_code = 4",
            "exit_code = 3",
            f"{CLI} {MESSAGES}",
        ),
        Edit(
            "an-interrupt-ends-with-1",
            "pipeline/cli/__init__.py",
            "_say(INTERRUPTED, 130)",
            "_say(INTERRUPTED, 1)",
            "tests/pipeline/analysis/test_inspection_pool.py"
            " tests/pipeline/engines/embedded/test_embedded_errors.py",
        ),
    ),
}
