"""`crawlrank run`: what is done is kept, what changed is done again, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, MORE_WEB, WEB, Said, crawlrank, datasets, ok, write_warc
from support.engines import launching
from support.paths import DAMAGED, LOOPBACK
from support.runs import copy_of, finished, shared_warc
from support.work_folders import hold, manifest_of

from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.jobs.kernel.storage.temporary import BESIDE
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.run.run import PipelineRun
from crawlrank.pipeline.run.run import run as run_all
from crawlrank.pipeline.steps import COLUMNS, STEPS, TEXT, TEXT_AT_URL, later_steps

FIXED = ("--iterations", 4, "--no-validate", *INLINE)

USUAL = tuple(step for step in STEPS if step != "select-links")  # which few runs have


def run(work: Path, *args: object) -> Said:
    return crawlrank("run", *args, "--work", work, *INLINE)


@pytest.fixture
def web() -> Path:
    return shared_warc("web.warc.gz", WEB)


@pytest.fixture
def more_web() -> Path:
    return shared_warc("more.warc.gz", MORE_WEB)


def made(tmp_path: Path, archives: Path | Sequence[Path], *options: object) -> Path:
    """A finished run by jobs, to be changed."""
    return copy_of(finished(archives, *options), tmp_path / "work")


def fresh(archives: Path | Sequence[Path], *options: object) -> dict[str, bytes]:
    """What a run in a new folder gives."""
    return datasets(finished(archives, *options))


def packed(work: Path, *archives: Path, **options: Any) -> PipelineRun:
    """A run by jobs in several partitions, which needs several rounds then."""
    given = RunOptions(runner="inline", **options)
    return run_all(work, archives, given, Reporter(), make_engine=launching(partitions=3))


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
    said = run(work, web, "--tolerance", 1e-3, "-v")
    assert said.code == 0, said
    assert begun(said) == list(USUAL)
    lines = said.err.splitlines()
    assert {line.partition(": ")[0] for line in lines} == {*USUAL, "total"}
    rounds = [line for line in lines if "round" in line]
    assert rounds
    assert all(re.search(r"certificate \d\.\d\de[-+]\d\d of 0\.001", line) for line in rounds)
    assert "ready for Heritrix" in said.out
    assert "http://a.example/" in said.out
    assert {path.name for path in work.iterdir()} == {
        *(name for step in USUAL for name in TEXT[step].writes if name not in ("hubs", "anchors")),
        ".lock", "manifest.json", "precedence.summary.json", "crawler-beans-fragment.xml",
    }  # fmt: skip


def test_an_unchanged_run_does_nothing_again(web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, web, *INLINE)
    before = {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()}
    # archives are known by their content
    moved = Path(shutil.copyfile(web, tmp_path / "elsewhere.warc.gz"))
    said = run(work, moved)
    assert said.code == 0
    assert begun(said) == []
    assert said.err.count("unchanged, kept") == len(USUAL)
    after = {path: path.stat().st_mtime_ns for path in work.rglob("*") if path.is_file()}
    changed = {path.name for path in after if after[path] != before.get(path)}
    assert changed <= {"manifest.json", ".lock"}


@pytest.mark.slow
def test_an_added_archive_extracts_alone(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, web, *FIXED)
    (part,) = (work / "links").iterdir()
    before = part.stat().st_mtime_ns
    said = ok("run", more_web, web, "--work", work, *FIXED)
    assert begun(said)[0] == "extract-links"
    assert part.stat().st_mtime_ns == before
    assert len(manifest_of(work)["archives"]) == 2
    assert datasets(work) == fresh([web, more_web], *FIXED)


@pytest.mark.slow
def test_the_same_archive_twice_counts_once(web: Path, tmp_path: Path) -> None:
    copy = shutil.copyfile(web, tmp_path / "copy.warc.gz")
    ok("run", web, copy, "--work", tmp_path / "work", *FIXED)
    assert datasets(tmp_path / "work") == fresh(web, *FIXED)


@pytest.mark.slow
def test_a_removed_archive(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, [web, more_web], *FIXED)
    before = datasets(work)
    said = crawlrank("run", web, "--work", work, *FIXED)
    assert said.code == 3
    assert str(more_web) in said.err
    assert "was in this work folder before" in said.err
    assert "--force" in said.err
    assert datasets(work) == before
    ok("run", web, "--work", work, *FIXED, "--force")
    assert datasets(work) == fresh(web, *FIXED)
    ok("run", web, more_web, "--work", work, *FIXED)  # and back again, which only adds
    assert datasets(work) == before


@pytest.mark.slow
def test_a_changed_archive(tmp_path: Path) -> None:
    work, web = tmp_path / "work", write_warc(tmp_path / "web.warc.gz", WEB)
    ok("run", web, "--work", work, *FIXED)
    write_warc(web, {**WEB, "http://a.example/news/2": ["/news/1"]})
    said = crawlrank("run", web, "--work", work, *FIXED)
    assert said.code == 3
    assert f"{web}: has changed since it was extracted" in said.err
    ok("run", web, "--work", work, *FIXED, "--force")
    ok("run", web, "--work", tmp_path / "fresh", *FIXED)
    assert datasets(work) == datasets(tmp_path / "fresh")


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


def test_another_option_is_refused(web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, web, *FIXED)
    before, recorded = datasets(work), manifest_of(work)
    for change, _ in CHANGES:
        said = crawlrank("run", web, "--work", work, *FIXED, *change)
        assert said.code == 3
        assert f"was made with {change[0]} " in said.err
        assert f"now it is run with {change[0]} {change[1]}" in said.err
        assert "--force" in said.err
    assert (datasets(work), manifest_of(work)) == (before, recorded)


#: changes that are made in `make test`; of page-rank that of a tolerance is, too
MADE = ("--bins", "--nodes", "--links")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("change", "first"),
    [
        pytest.param(change, first, marks=[pytest.mark.slow] * (change[0] not in MADE))
        for change, first in CHANGES
    ],
    ids=[change[0][0] for change in CHANGES],
)
def test_another_option(web: Path, tmp_path: Path, change: tuple[Any, ...], first: str) -> None:
    work = made(tmp_path, web, *FIXED)
    forced = ok("run", web, "--work", work, *FIXED, *change, "--force")
    assert begun(forced)[0] == first
    assert datasets(work) == fresh(web, *FIXED, *change)
    again = ok("run", web, "--work", work, *FIXED, *change)
    assert begun(again) == []


@pytest.mark.slow
def test_a_tolerance_is_an_option_like_others(web: Path, tmp_path: Path) -> None:
    common = ("--no-validate", *INLINE)
    work = made(tmp_path, web, *common, "--tolerance", 1e-3)
    said = crawlrank("run", web, "--work", work, *common, "--tolerance", 1e-8)
    assert said.code == 3
    assert "was made with --tolerance 0.001, now it is run with --tolerance 1e-08" in said.err
    ok("run", web, "--work", work, *common, "--tolerance", 1e-8, "--force")
    assert datasets(work) == fresh(web, *common, "--tolerance", 1e-8)


@pytest.mark.slow
def test_options_of_a_run_that_made_nothing_do_not_bind(web: Path, tmp_path: Path) -> None:
    """A quiet run prints nothing."""
    work = tmp_path / "work"
    assert run(work, tmp_path / "missing.warc", "--bins", 50).code == 3
    assert run(work, web, "--quiet") == Said(0, "", "")


@pytest.mark.slow
def test_an_archive_that_gave_nothing_may_go(web: Path, tmp_path: Path) -> None:
    work, bad = tmp_path / "work", tmp_path / "bad.warc"
    bad.write_text("no archive\n")
    said = run(work, web, bad)
    assert said.code == 3
    assert str(bad) in said.err
    assert "--skip-bad-files" in said.err
    again = run(work, web)
    assert again.code == 0, again
    assert datasets(work) == fresh(web, *INLINE)


@pytest.mark.slow
def test_bad_files_are_skipped_when_asked(web: Path, tmp_path: Path) -> None:
    work, bad = tmp_path / "work", tmp_path / "bad.warc"
    bad.write_text("no archive\n")
    assert run(work, web, bad, "--skip-bad-files").code == 0
    assert datasets(work) == fresh(web, *INLINE)
    assert begun(run(work, web, bad, "--skip-bad-files")) == []
    status = ok("status", "--work", work)
    assert "not one readable record" in status.out
    assert run(work, web, bad).code == 3  # no longer asked to
    only = crawlrank("run", bad, "--work", tmp_path / "other", "--skip-bad-files", *INLINE)
    assert only.code == 3


@pytest.mark.slow
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


@pytest.mark.slow
def test_too_few_rounds_and_then_more(tmp_path: Path) -> None:
    work, whole = tmp_path / "work", tmp_path / "whole"
    message = "after 1 round the certificate .*--max-rounds"
    with pytest.raises(NotConverged, match=message) as stopped:
        packed(work, LOOPBACK, stop=Stop(tolerance=1e-9, max_rounds=1))
    assert stopped.value.exit_code == 4
    assert len(manifest_of(work)["steps"]["page-rank"]["rounds"]) == 1
    assert (work / "rounds" / "round-1").is_dir()
    again = run(work, LOOPBACK, "--tolerance", 1e-9, "-v")
    assert again.code == 0
    assert re.search(r"^page-rank: round 2\b", again.err, re.M)
    assert not re.search(r"^page-rank: round 1\b", again.err, re.M)
    packed(whole, LOOPBACK, stop=Stop(tolerance=1e-9))
    assert datasets(work) == datasets(whole)
    tell_of_rounds(manifest_of(whole))


def tell_of_rounds(told: dict[str, Any]) -> None:
    """What a manifest has of each round."""
    rounds = told["steps"]["page-rank"]["rounds"]
    assert rounds[-1]["certificate"] <= 1e-9 < rounds[-2]["certificate"]
    assert [entry["round"] for entry in rounds] == list(range(1, len(rounds) + 1))
    for entry in rounds:
        assert abs(entry["mass"] - entry["nodes"] - 1) < 1e-9 * entry["nodes"]
        assert {"residual_l1", "eta", "probability_certificate", "edges"} <= set(entry)


def test_two_runs_at_once(web: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    with hold(work) as other:
        said = run(work, web)
        other.kill()
    assert said.code == 3
    assert f"is at work in this folder (process {other.pid})" in said.err
    assert "use another work folder" in said.err


def test_what_the_manifest_tells(web: Path) -> None:
    told = manifest_of(finished(web, *INLINE))
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


@pytest.mark.slow
def test_status(tmp_path: Path) -> None:
    work, damaged = tmp_path / "work", DAMAGED / "truncated.warc"
    with pytest.raises(NotConverged):
        packed(work, LOOPBACK, damaged, stop=Stop(max_rounds=1))
    said = ok("status", "--work", work)
    states = dict(re.findall(r"^(\S+) +(done|begun|to do)\b", said.out, re.M))
    assert states == {
        **dict.fromkeys(USUAL[:4], "done"),
        "page-rank": "begun",
        **dict.fromkeys(USUAL[5:], "to do"),
    }
    assert str(damaged) in said.out  # not cut: a pipe has no width
    (entry,) = (e for e in manifest_of(work)["archives"].values() if e["damage"])
    assert re.search(rf"^ +1  {entry['damage'][0][1]}  ", said.out, re.M)
    assert len(re.findall(r"^ +\d +\d\.\d{3}e", said.out, re.M)) == 1
    run(work, LOOPBACK, damaged)
    assert "to do" not in ok("status", "--work", work).out


def test_status_of_no_work_folder(tmp_path: Path) -> None:
    said = crawlrank("status", "--work", tmp_path)
    assert said.code == 3
    assert "no manifest.json" in said.err


def test_what_was_made_of_earlier_output_is_done_no_longer(more_web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, LOOPBACK, *INLINE)
    with pytest.raises(NotConverged):
        packed(work, LOOPBACK, more_web, stop=Stop(max_rounds=1))
    steps = manifest_of(work)["steps"]
    assert "fingerprint" not in steps["page-rank"]
    assert not {"join-scores", "export-precedence", "validate-opic"} & set(steps)
    said = crawlrank("export", "--format", "text", "--work", work, "--out", tmp_path / "text")
    assert said.code == 3
    assert "is not done" in said.err


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [
        *("links", "ranks", "precedence.txt"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("captures", "map")),
    ],
)
def test_a_dataset_that_was_removed_is_made_again(web: Path, tmp_path: Path, name: str) -> None:
    work = made(tmp_path, web, *FIXED)
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


@pytest.mark.slow
def test_leftovers_of_a_killed_run_are_removed(web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, web, *FIXED)
    before = datasets(work)
    (work / f"{BESIDE}x7").mkdir()
    (work / ".crawlrank-tmp" / "deep").mkdir(parents=True)
    (work / ".graph.old").mkdir()
    (work / "report" / f"{BESIDE}8x" / "report.json").mkdir(parents=True)
    (work / ".mine.part").write_text("a user's own file stays")
    (work / "links" / "web-0123456789ab").write_bytes(b"http://x.example/ http://y.example/ L\n")
    (work / "captures" / "web-0123456789ab").write_bytes(b"")
    ok("run", web, write_warc(tmp_path / "a.warc", {}), "--skip-bad-files", "--work", work, *FIXED)
    assert datasets(work) == before
    assert {path.name for path in work.iterdir() if path.name[0] == "."} == {".lock", ".mine.part"}
    assert len(list((work / "links").iterdir())) == 2


@pytest.mark.slow
def test_no_old_agreement_is_shown(web: Path, more_web: Path, tmp_path: Path) -> None:
    work = made(tmp_path, web, *INLINE)
    assert "OPIC gives the same class" in ok("run", web, "--work", work, *INLINE).out
    said = ok("run", web, more_web, "--work", work, *INLINE, "--no-validate")
    assert "OPIC" not in said.out


@pytest.mark.slow
def test_a_validation_below_its_threshold(web: Path, more_web: Path, tmp_path: Path) -> None:
    """It shows what was written all the same."""
    work, report = tmp_path / "work", tmp_path / "deep" / "report.json"
    said = run(work, web, more_web, "--iterations", 1)
    assert said.code == 4
    assert "expected 99.00%" in said.err
    assert "highest scores" in said.out
    assert "precedence.txt was written, but its validation failed." in said.out
    assert "ready for Heritrix" not in said.out
    assert (work / "precedence.txt").exists()
    assert json.loads((work / "report" / "report.json").read_text())
    graph = ("validate-opic", work / "graph", work / "ranks", "--min-agreement", 0)
    ok(*graph, "--output", report)
    assert json.loads(report.read_text())["verdict"] == "pass"
    assert run(work, web, more_web, "--iterations", 1, "--min-agreement", 0).code == 0


@pytest.mark.slow
def test_the_classes_that_are_validated_are_those_that_are_written(
    web: Path, tmp_path: Path
) -> None:
    work = finished(web, *INLINE, "--bins", 3)
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
    work = made(tmp_path, web, *INLINE)
    assert "OPIC gives the same class" in run(work, web, "--no-validate").out
    said = run(work, web, "--force", "--no-validate", "--bins", 20)
    assert said.code == 0
    assert "OPIC" not in said.out
    assert re.search(r"^validate-opic +to do", ok("status", "--work", work).out, re.M)
