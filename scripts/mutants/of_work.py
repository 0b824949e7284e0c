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
            f"{DURABILITY}::test_data_come_before_the_manifest {MANIFEST}",
        ),
        Edit(
            "the-end-of-a-file-tells-nothing",
            "pipeline/workfolder/manifest.py",
            "digest.update(last)",
            "digest.update(last[:0])",
            f"{MANIFEST}::test_a_file_is_known_by_size_beginning_and_end {CHANGED}",
        ),
        Edit(
            "a-step-is-done-whatever-its-mark",
            "pipeline/workfolder/manifest.py",
            'self.steps.get(step, {}).get("fingerprint") == mark',
            'bool(self.steps.get(step, {}).get("fingerprint"))',
            f"{MANIFEST}::test_every_change_is_on_disk",
        ),
        Edit(
            "a-forgotten-step-stays",
            "pipeline/workfolder/manifest.py",
            "self.steps.pop(step, None)",
            "self.steps.get(step)",
            f"{MANIFEST}::test_forgotten_steps_are_not_done",
        ),
    ),
    "resume": (
        Edit(
            "hits-of-jobs-forgets-what-it-knew",
            "pipeline/engines/text/hits_rounds.py",
            "Passed(**self.rounds[-1][STATE]) if self.rounds else Passed()",
            "Passed()",
            "tests/pipeline/engines/text/test_hits_rounds.py::test_going_on_after_each_round",
        ),
        Edit(
            "an-archive-with-the-same-ends-is-the-same",
            "pipeline/workfolder/archive_identity.py",
            "if all(entry.get(name) == value for name, value in shown)",
            "if any(entry.get(name) == value for name, value in shown)",
            f"{CHANGED}::test_a_middle_that_changes_is_noticed",
        ),
        Edit(
            "a-full-look-is-no-full-look",
            "pipeline/workfolder/archive_identity.py",
            "(full or not _known(glance, entries[glance.ends]))",
            "not _known(glance, entries[glance.ends])",
            f"{CHANGED}::test_a_byte_that_changes_unseen_takes_a_full_check",
        ),
    ),
    "lock": (
        Edit(
            "two-runs-share-a-folder",
            "pipeline/workfolder/lock.py",
            "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
            "fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
            f"{LOCK}::test_a_second_run_is_refused_and_told_which_is_the_first",
        ),
    ),
    "workers": (
        Edit(
            "a-worker-that-died-is-not-replaced",
            "pipeline/data/workers.py",
            "started[started.index(worker)] = _start()",
            "started.remove(worker)",
            f"{WORKERS}::test_a_process_that_dies_costs_its_task_alone",
        ),
        Edit(
            "the-memory-of-tasks-is-not-known",
            "jobs/mapreduce/runners/task_server.py",
            "_SERVER.peak = max(_SERVER.peak, peak)",
            "_SERVER.peak = 0",
            f"{FORKS}::test_the_peak_of_memory_is_known",
        ),
        Edit(
            "compressed-lines-count-as-they-lie",
            "jobs/mapreduce/launcher.py",
            "size * (INFLATED if str(part).endswith(packed) else 1)",
            "size * (INFLATED if str(part).endswith(packed[:0]) else 1)",
            "tests/jobs/mapreduce/test_launch.py::test_reduce_tasks_are_as_many_as_the_lines_need",
        ),
        Edit(
            "a-key-is-cut",
            "jobs/mapreduce/runners/local.py",
            "while end < whole and _key(",
            "while end < begin and _key(",
            f"{SPLITS}::test_lines_of_a_key_stay_together",
        ),
        Edit(
            "the-log-of-a-job-that-was-moved-is-lost",
            "jobs/mapreduce/runners/cluster.py",
            'log_interpretation.pop("history", None)',
            "return",
            f"{TASK_LOGS}::test_a_history_log_that_is_moved_after_it_was_listed",
        ),
        Edit(
            "code-in-a-folder-of-another-user-is-taken",
            "jobs/kernel/machine/kept_code.py",
            "if status.st_uid != os.geteuid():",
            "if status.st_uid < 0:",
            f"{KEPT_CODE}::test_code_in_a_folder_of_somebody_else_is_not_taken",
        ),
        Edit(
            "code-that-others-could-write-is-taken",
            "jobs/kernel/machine/kept_code.py",
            "if path.suffix in _CODE:",
            "if path.suffix in ():",
            f"{KEPT_CODE}::test_code_that_others_could_write_is_removed",
        ),
        Edit(
            "code-of-a-loop-that-calls-a-changed-one-is-taken",
            "jobs/kernel/machine/machine_code.py",
            "if index.stat().st_mtime < newest:",
            "if index.stat().st_mtime < 0:",
            f"{LOOPS}::test_a_loop_is_made_anew_when_what_it_is_made_of_has_changed",
        ),
        Edit(
            "code-of-a-loop-with-another-constant-is-taken",
            "jobs/kernel/machine/loop_code.py",
            "yield repr(value).encode()",
            "pass",
            f"{LOOPS}::test_a_loop_is_made_anew_when_what_it_is_made_of_has_changed",
        ),
    ),
    "messages": (
        Edit(
            "not-converged-is-bad-input",
            "jobs/kernel/errors.py",
            "exit_code = 4",
            "exit_code = 3",
            "tests/runs/rankings/test_sites.py::test_too_few_rounds_keep_the_table",
        ),
        Edit(
            "an-interrupt-ends-with-1",
            "pipeline/cli/__init__.py",
            "_say(INTERRUPTED, 130)",
            "_say(INTERRUPTED, 1)",
            "tests/pipeline/engines/embedded/test_embedded_errors.py::test_control_c"
            " tests/pipeline/analysis/test_inspection_pool.py",
        ),
    ),
}
