"""`crawlrank run`: what is done is kept, what changed is done again, and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.crawls import (
    COMMAND,
    INLINE,
    WEB,
    Said,
    crawlrank,
    datasets,
    environment,
    ok,
    write_warc,
)
from support.paths import DAMAGED
from support.work_folders import manifest_of

from pipeline.contract import COLUMNS, STEPS, TEXT, TEXT_AT_URL, later_steps
from pipeline.engines.text import packed_ranges

FIXED = ("--iterations", 4, "--no-validate", *INLINE)

USUAL = tuple(step for step in STEPS if step != "select-links")  # which few runs have


def run(work: Path, *args: object) -> Said:
    return crawlrank("run", *args, "--work", work, *INLINE)


def fresh(tmp_path: Path, *args: object) -> dict[str, bytes]:
    """What a run in a new folder gives."""
    work = tmp_path / f"fresh-{len(list(tmp_path.iterdir()))}"
    ok("run", *args, "--work", work)
    return datasets(work)


def begun(said: Said) -> list[str]:
    """The steps that were done, not kept, as the progress lines say."""
    done = re.findall(r"^(\S+): (?:[0-9.]+ s|[0-9:]+|not finished.*)$", said.err, re.M)
    return [name for name in done if name in USUAL]


def test_the_steps_are_those_of_the_tables() -> None:
    for table in (TEXT, TEXT_AT_URL, COLUMNS):
        assert tuple(table) == tuple(STEPS)
    assert later_steps("page-rank") == ["join-scores", "export-precedence", "validate-opic"]
    assert later_steps("export-precedence") == []


def test_a_whole_run(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "new" / "work"
    said = run(work, web)
    assert said.code == 0, said
    assert begun(said) == list(USUAL)
    assert "ready for Heritrix" in said.out
    assert "http://a.example/" in said.out
    assert {path.name for path in work.iterdir()} == {
        *(name for step in USUAL for name in TEXT[step].writes if name != "hubs"),
        ".lock", "manifest.json", "precedence.summary.json", "crawler-beans-fragment.xml",
    }  # fmt: skip


def test_an_unchanged_run_does_nothing_again(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    run(work, web)
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()}
    moved = web.rename(tmp_path / "elsewhere.warc.gz")  # archives are known by their content
    os.utime(moved)
    said = run(work, moved)
    assert said.code == 0
    assert begun(said) == []
    assert said.err.count("unchanged, kept") == len(USUAL)
    after = {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()}
    changed = {path.name for path in after if after[path] != before.get(path)}
    assert changed <= {"manifest.json", ".lock"}


def test_an_added_archive_extracts_alone(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    ok("run", web, "--work", work, *FIXED)
    (part,) = (work / "links").iterdir()
    before = part.stat().st_mtime_ns
    said = ok("run", more_web, web, "--work", work, *FIXED)
    assert begun(said)[0] == "extract-links"
    assert part.stat().st_mtime_ns == before
    assert len(manifest_of(work)["archives"]) == 2
    assert datasets(work) == fresh(tmp_path, web, more_web, *FIXED)


def test_the_same_archive_twice_counts_once(web: Path, tmp_path: Path) -> None:
    copy = shutil.copyfile(web, tmp_path / "copy.warc.gz")
    assert fresh(tmp_path, web, copy, *FIXED) == fresh(tmp_path, web, *FIXED)


def test_a_removed_archive(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    ok("run", web, more_web, "--work", work, *FIXED)
    before = datasets(work)
    said = crawlrank("run", web, "--work", work, *FIXED)
    assert said.code == 3
    assert str(more_web) in said.err
    assert "was in this work folder before" in said.err
    assert "--force" in said.err
    assert datasets(work) == before
    ok("run", web, "--work", work, *FIXED, "--force")
    assert datasets(work) == fresh(tmp_path, web, *FIXED)
    ok("run", web, more_web, "--work", work, *FIXED)  # and back again, which only adds
    assert datasets(work) == before


def test_a_changed_archive(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    ok("run", web, "--work", work, *FIXED)
    write_warc(web, {**WEB, "http://a.example/news/2": ["/news/1"]})
    said = crawlrank("run", web, "--work", work, *FIXED)
    assert said.code == 3
    assert f"{web}: has changed since it was extracted" in said.err
    ok("run", web, "--work", work, *FIXED, "--force")
    assert datasets(work) == fresh(tmp_path, web, *FIXED)


CHANGES = [
    (("--bins", 3), "export-precedence"),
    (("--spellings", "captured"), "export-precedence"),
    (("--classes-over", "all"), "export-precedence"),
    (("--ties", "together"), "export-precedence"),
    (("--unlisted", 9), "export-precedence"),
    (("--nodes", "all"), "assign-ids"),
    (("--iterations", 7), "page-rank"),
    (("--links", "all"), "extract-links"),
    (("--outlinks", "both"), "extract-links"),
    (("--max-record", 4096), "extract-links"),
    (("--max-links-per-page", 9), "extract-links"),
]


@pytest.mark.parametrize(("change", "first"), CHANGES, ids=[change[0][0] for change in CHANGES])
def test_another_option(web: Path, tmp_path: Path, change: tuple[Any, ...], first: str) -> None:
    work = tmp_path / "work"
    ok("run", web, "--work", work, *FIXED)
    before, recorded = datasets(work), manifest_of(work)
    said = crawlrank("run", web, "--work", work, *FIXED, *change)
    assert said.code == 3
    assert f"was made with {change[0]} " in said.err
    assert f"now it is run with {change[0]} {change[1]}" in said.err
    assert "--force" in said.err
    assert (datasets(work), manifest_of(work)) == (before, recorded)
    forced = ok("run", web, "--work", work, *FIXED, *change, "--force")
    assert begun(forced)[0] == first
    assert datasets(work) == fresh(tmp_path, web, *FIXED, *change)
    again = ok("run", web, "--work", work, *FIXED, *change)
    assert begun(again) == []


def test_a_tolerance_is_an_option_like_others(web: Path, tmp_path: Path) -> None:
    work, common = tmp_path / "work", ("--no-validate", *INLINE)
    ok("run", web, "--work", work, *common, "--tolerance", 1e-3)
    said = crawlrank("run", web, "--work", work, *common, "--tolerance", 1e-8)
    assert said.code == 3
    assert "was made with --tolerance 0.001, now it is run with --tolerance 1e-08" in said.err
    ok("run", web, "--work", work, *common, "--tolerance", 1e-8, "--force")
    assert datasets(work) == fresh(tmp_path, web, *common, "--tolerance", 1e-8)


def test_options_of_a_run_that_made_nothing_do_not_bind(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert run(work, tmp_path / "missing.warc", "--bins", 50).code == 3
    assert run(work, web).code == 0


def test_an_archive_that_gave_nothing_may_go(web: Path, tmp_path: Path) -> None:
    work, bad = tmp_path / "work", tmp_path / "bad.warc"
    bad.write_text("no archive\n")
    said = run(work, web, bad)
    assert said.code == 3
    assert str(bad) in said.err
    assert "--skip-bad-files" in said.err
    again = run(work, web)
    assert again.code == 0, again
    assert datasets(work) == fresh(tmp_path, web, *INLINE)


def test_bad_files_are_skipped_when_asked(web: Path, tmp_path: Path) -> None:
    work, bad = tmp_path / "work", tmp_path / "bad.warc"
    bad.write_text("no archive\n")
    assert run(work, web, bad, "--skip-bad-files").code == 0
    clean = fresh(tmp_path, web, *INLINE)
    assert datasets(work) == clean
    assert begun(run(work, web, bad, "--skip-bad-files")) == []
    status = ok("status", "--work", work)
    assert "not one readable record" in status.out
    assert run(work, web, bad).code == 3  # no longer asked to
    only = crawlrank("run", bad, "--work", tmp_path / "other", "--skip-bad-files", *INLINE)
    assert only.code == 3


def test_strict_refuses_damage_whenever_it_is_asked(web: Path, tmp_path: Path) -> None:
    work, damaged = tmp_path / "work", DAMAGED / "truncated.warc"
    said = run(work, web, damaged, "--strict")
    assert said.code == 3
    assert re.search(r"truncated\.warc, offset \d+: ", said.err)
    assert "--strict" in said.err
    assert run(work, web, damaged).code == 0
    assert run(work, web, damaged, "--strict").code == 3  # all is kept, and damaged still
    (entry,) = (e for e in manifest_of(work)["archives"].values() if e["path"] == str(damaged))
    assert entry["damage"]
    assert entry["counters"]["damage"] == len(entry["damage"])
    assert all(len(listed) == 3 for listed in entry["damage"])  # offset, reason, detail


@pytest.fixture
def _partitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several for small graphs too, of one group each, which need several rounds then."""
    monkeypatch.setattr(packed_ranges, "PARTITION_BYTES", 50)
    monkeypatch.setattr(packed_ranges, "GROUPS", 1)


@pytest.mark.usefixtures("_partitions")
def test_too_few_rounds_and_then_more(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    said = run(work, web, more_web, "--max-rounds", 1)
    assert said.code == 4
    assert "after 1 round the certificate" in said.err
    assert "--max-rounds" in said.err
    assert len(manifest_of(work)["steps"]["page-rank"]["rounds"]) == 1
    assert (work / "rounds" / "round-1").is_dir()
    again = run(work, web, more_web, "-v")
    assert again.code == 0
    assert re.search(r"^page-rank: round 2\b", again.err, re.M)
    assert not re.search(r"^page-rank: round 1\b", again.err, re.M)
    assert datasets(work) == fresh(tmp_path, web, more_web, *INLINE)


def test_two_runs_at_once(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    command = [*COMMAND, "run", str(web), "--work", str(work), "--iterations", "500", "-v"]
    with subprocess.Popen(
        [*command, *INLINE], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as first:
        assert first.stderr is not None
        assert b"extract-links" in first.stderr.readline()
        said = run(work, web)
        first.kill()
    assert said.code == 3
    assert f"another run is at work in this folder (process {first.pid})" in said.err
    assert "--work" in said.err


def test_progress_lines_tell_steps_rounds_and_time(web: Path, tmp_path: Path) -> None:
    said = run(tmp_path / "work", web, "--tolerance", 1e-3, "-v")
    lines = said.err.splitlines()
    assert {line.partition(": ")[0] for line in lines} == {*USUAL, "total"}
    rounds = [line for line in lines if "round" in line]
    assert rounds
    assert all(re.search(r"certificate \d\.\d\de[-+]\d\d of 0\.001", line) for line in rounds)


def test_quiet_prints_nothing(web: Path, tmp_path: Path) -> None:
    assert run(tmp_path / "work", web, "--quiet") == Said(0, "", "")


@pytest.mark.usefixtures("_partitions")
def test_what_the_manifest_tells(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    run(work, web, "--tolerance", 1e-9)
    told = manifest_of(work)
    assert told["format"] == 2
    (archive,) = told["archives"].values()
    assert archive["path"] == str(web)
    assert archive["size"] == web.stat().st_size
    assert archive["error"] is None
    assert archive["counters"]["captures"] == len(WEB)
    assert list(told["steps"]) == list(USUAL)
    for name in USUAL:
        assert told["steps"][name]["fingerprint"]
        assert told["steps"][name]["seconds"] >= 0
        assert all(count > 0 for count in told["steps"][name]["rows"].values())
    assert told["steps"]["extract-links"]["rows"] == {
        "links": sum(len(targets) for targets in WEB.values()),
        "captures": len(WEB),
    }
    rounds = told["steps"]["page-rank"]["rounds"]
    assert rounds[-1]["certificate"] <= 1e-9 < rounds[-2]["certificate"]
    assert [entry["round"] for entry in rounds] == list(range(1, len(rounds) + 1))
    for entry in rounds:
        assert abs(entry["mass"] - entry["nodes"] - 1) < 1e-9 * entry["nodes"]
        assert {"residual_l1", "eta", "probability_certificate", "edges"} <= set(entry)


@pytest.mark.usefixtures("_partitions")
def test_status(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    run(work, web, DAMAGED / "truncated.warc", "--max-rounds", 1)
    said = ok("status", "--work", work)
    states = dict(re.findall(r"^(\S+) +(done|begun|to do)\b", said.out, re.M))
    assert states == {
        **dict.fromkeys(USUAL[:4], "done"),
        "page-rank": "begun",
        **dict.fromkeys(USUAL[5:], "to do"),
    }
    assert str(DAMAGED / "truncated.warc") in said.out  # not cut: a pipe has no width
    (entry,) = (e for e in manifest_of(work)["archives"].values() if e["damage"])
    assert re.search(rf"^ +1  {entry['damage'][0][1]}  ", said.out, re.M)
    assert len(re.findall(r"^ +\d +\d\.\d{3}e", said.out, re.M)) == 1
    run(work, web, DAMAGED / "truncated.warc")
    assert "to do" not in ok("status", "--work", work).out


def test_status_of_no_work_folder(tmp_path: Path) -> None:
    said = crawlrank("status", "--work", tmp_path)
    assert said.code == 3
    assert "no manifest.json" in said.err


@pytest.mark.usefixtures("_partitions")
def test_what_was_made_of_earlier_output_is_done_no_longer(
    web: Path, more_web: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    run(work, web)
    assert run(work, web, more_web, "--max-rounds", 1).code == 4
    steps = manifest_of(work)["steps"]
    assert "fingerprint" not in steps["page-rank"]
    assert not {"join-scores", "export-precedence", "validate-opic"} & set(steps)
    said = crawlrank("export-text", "--work", work, "--out", tmp_path / "text")
    assert said.code == 3
    assert "is not done" in said.err


@pytest.mark.parametrize("name", ["links", "captures", "map", "ranks", "precedence.txt"])
def test_a_dataset_that_was_removed_is_made_again(web: Path, tmp_path: Path, name: str) -> None:
    work = tmp_path / "work"
    ok("run", web, "--work", work, *FIXED)
    before = datasets(work)
    path = work / name
    path.unlink() if path.is_file() else shutil.rmtree(path)
    ok("run", web, "--work", work, *FIXED)
    assert datasets(work) == before
    assert path.exists()


def test_a_folder_of_someone_else_is_left_alone(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "project"
    (work / "graph").mkdir(parents=True)
    (work / "graph" / "thesis.tex").write_text("years of work")
    said = run(work, web)
    assert said.code == 3
    assert "holds `graph`, but no manifest.json" in said.err
    assert (work / "graph" / "thesis.tex").read_text() == "years of work"
    assert not (work / "manifest.json").exists()


def test_leftovers_of_a_killed_run_are_removed(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    ok("run", web, "--work", work, *FIXED)
    before = datasets(work)
    (work / ".crawlrank-x7").mkdir()
    (work / ".crawlrank-tmp" / "deep").mkdir(parents=True)
    (work / ".graph.old").mkdir()
    (work / ".manifest.json.77.part").write_text("{")
    (work / "report").mkdir(exist_ok=True)
    (work / "report" / ".report.json.77.part").write_text("{")
    (work / ".mine.part").write_text("a user's own file stays")
    (work / "links" / "web-0123456789ab").write_bytes(b"http://x.example/ http://y.example/ L\n")
    (work / "captures" / "web-0123456789ab").write_bytes(b"")
    ok("run", web, write_warc(tmp_path / "a.warc", {}), "--skip-bad-files", "--work", work, *FIXED)
    assert datasets(work) == before
    assert {path.name for path in work.iterdir() if path.name[0] == "."} == {".lock", ".mine.part"}
    assert len(list((work / "links").iterdir())) == 2


def test_no_old_agreement_is_shown(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    assert "OPIC agrees" in ok("run", web, "--work", work, *INLINE).out
    said = ok("run", web, more_web, "--work", work, *INLINE, "--no-validate")
    assert "OPIC" not in said.out


def test_a_validation_below_its_threshold(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    said = run(work, web, more_web, "--iterations", 1)
    assert said.code == 4
    assert "expected 99.00%" in said.err
    assert (work / "precedence.txt").exists()
    assert json.loads((work / "report" / "report.json").read_text())
    assert run(work, web, more_web, "--iterations", 1, "--min-agreement", 0).code == 0


def test_the_classes_that_are_validated_are_those_that_are_written(
    web: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    run(work, web, "--bins", 3)
    summary = json.loads((work / "precedence.summary.json").read_text())
    report = json.loads((work / "report" / "report.json").read_text())
    assert report["classes_cut_over"] == summary["classes_cut_over"] == "captured"
    assert report["nodes_cut_over"] == summary["nodes_captured"] < summary["nodes"]
    written = [entry["nodes"] for entry in summary["classes"]]
    assert [sum(row) for row in report["confusion"]] == written
    graph = ("validate-opic", work / "graph", work / "ranks", "--bins", 3)
    sources = ("--uris", work / "uris", "--map", work / "map")
    for number, more in enumerate((sources, (), (*sources, "--classes-over", "all"))):
        ok(*graph, "--output", tmp_path / f"report-{number}", *more)
        told = json.loads((tmp_path / f"report-{number}" / "report.json").read_text())
        assert told["classes_cut_over"] == ("all" if number else "captured")
        if not number:
            assert told["confusion"] == report["confusion"]
    said = crawlrank(*graph, "--output", tmp_path / "no", "--classes-over", "captured")
    assert said.code == 2


def test_a_validation_of_other_classes_is_forgotten(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    run(work, web)
    assert "OPIC agrees" in run(work, web, "--no-validate").out
    said = run(work, web, "--force", "--no-validate", "--bins", 20)
    assert said.code == 0
    assert "OPIC" not in said.out
    assert re.search(r"^validate-opic +to do", ok("status", "--work", work).out, re.M)


def test_a_failed_validation_still_shows_what_was_written(
    web: Path, more_web: Path, tmp_path: Path
) -> None:
    said = run(tmp_path / "work", web, more_web, "--iterations", 1)
    assert said.code == 4
    assert "highest scores" in said.out
    assert "precedence.txt was written, but its validation failed." in said.out
    assert "ready for Heritrix" not in said.out
    work, report = tmp_path / "work", tmp_path / "deep" / "report.json"
    graph = ("validate-opic", work / "graph", work / "ranks", "--min-agreement", 0)
    ok(*graph, "--output", report)
    assert json.loads(report.read_text())["verdict"] == "pass"
