"""Runs whose datasets lie at a URL: the same results as in the work folder, added archives, kills,
and whose the folder of data is. Tasks run in this process, on a folder of this machine named by a
URL. tests/systems/test_clusters_agree.py has a real cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.crawls import INLINE, crawlrank, ok
from support.engines import launching
from support.paths import DAMAGED, LOOPBACK, SMALL_ARCHIVES
from support.runs import finished, shared_warc
from support.work_folders import edit_manifest, manifest_of

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.page_rank import PageRank
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.progress.reporter import Reporter
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.run.run import MakeEngine, run
from crawlrank.pipeline.steps import PRECEDENCE

QUIET = ("--no-validate", "--quiet")
WEB = {
    "http://a.example/": ["http://a.example/1", "http://b.example/"],
    "http://a.example/1": ["http://a.example/"],
    "http://b.example/": ["http://a.example/", "http://c.example/?q=ä"],
}
MORE = {"http://c.example/": ["http://b.example/", "http://a.example/2"]}


def at_url(tmp: Path, *archives: Path, name: str = "far", **options: object) -> Path:
    """A run of which all but the results is in the folder `data`; its work folder."""
    given = {"iterations": 6, "reducers": 3, **options}
    words = [word for option, value in given.items() for word in (f"--{option}", value)]
    data = ("--runner", "inline", "--data", f"file://{tmp}/{name}-data")
    ok("run", *archives, "--work", tmp / name, *data, *words, *QUIET)
    return tmp / name


def at_url_by(make_engine: MakeEngine, tmp: Path, *archives: Path, **options: Any) -> Path:
    """A run at a URL by another engine. options: fields of RunOptions."""
    given = {"nodes": "linked", "stop": Stop(iterations=6), "reducers": 3, "validate": False}
    data = {"runner": "inline", "data": f"file://{tmp}/far-data"}
    run(tmp / "far", archives, RunOptions(**data, **{**given, **options}), Reporter(),
        make_engine=make_engine)  # fmt: skip
    return tmp / "far"


def near(*archives: Path, **options: object) -> Path:
    """The run in a work folder, to be read only."""
    words = [w for o, v in {"iterations": 6, **options}.items() for w in (f"--{o}", v)]
    return finished(archives, *INLINE, "--no-validate", *words)


def texts(work: Path, out: Path) -> dict[str, list[bytes]]:
    """The recipe's own files, those of archives in any order. out: a new folder for them."""
    ok("export", "--format", "text", "--work", work, "--out", out)
    found = {path.stem: path.read_bytes().splitlines() for path in out.iterdir()}
    return {**found, "links": sorted(found["links"]), "captures": sorted(found["captures"])}


def assert_same(far: Path, here: Path) -> None:
    work = far.parent
    assert texts(far, work / "far-text") == texts(here, work / "near-text")
    for name in PRECEDENCE:
        assert (far / name).read_text() == (here / name).read_text()


@pytest.fixture
def two() -> list[Path]:
    return [shared_warc("one.warc.gz", WEB), shared_warc("two.warc.gz", MORE)]


#: runs as of small data, whose stages share a job, and as of large ones
FEW, ALL = launching(small=1 << 28), launching(small=0)
SALAM = SMALL_ARCHIVES / "samples__warcs__salam-home.warc"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("other", "nodes", "engine"),
    [
        (SALAM, "linked", FEW),
        (SALAM, "all", ALL),
        pytest.param(SALAM, "all", FEW, marks=pytest.mark.slow),
    ],
)
def test_results_are_those_of_a_run_in_the_work_folder(
    other: Path, nodes: str, engine: MakeEngine, tmp_path: Path
) -> None:
    archives = [LOOPBACK, other]
    far = at_url_by(engine, tmp_path, *archives, nodes=nodes)
    assert_same(far, near(*archives, nodes=nodes))
    assert not (tmp_path / "far" / "links").exists()
    assert (tmp_path / "far-data/links").is_dir()
    lines = tmp_path / "far-data/precedence"
    assert lines.exists() == (engine is ALL)


@pytest.mark.slow
def test_damage_and_counters_are_told(tmp_path: Path) -> None:
    archives = sorted(DAMAGED.iterdir())
    manifests = [manifest_of(work) for work in (at_url(tmp_path, *archives), near(*archives))]
    for of_archives in zip(*(m["archives"].items() for m in manifests), strict=True):
        (content, far), (same, here) = of_archives
        assert content == same
        for told in ("counters", "damage", "error", "path"):
            assert far[told] == here[told]
    for step in ("extract-links", "canonicalize", "assign-ids", "gen-graph", "join-scores"):
        far, here = (m["steps"][step] for m in manifests)
        assert far["counters"] == here["counters"], step
        assert {**far["rows"]} == {**here["rows"]}, step


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(("small", "jobs"), [(1 << 28, 7), (0, 18)])
def test_steps_share_jobs_where_data_are_small(
    small: int, jobs: int, tmp_path: Path, two: list[Path]
) -> None:
    """One job a step and a round; of large data three for ids, three for scores, four for the lines
    of the precedence file, and one for each of the second datasets, which are captures, uris and
    map."""
    names = list[str]()

    def counted(job: type[Job]) -> type[Job]:
        names.append(job.__name__)
        return job

    engine = launching(small=small, job_class=counted)
    at_url_by(engine, tmp_path, *two, stop=Stop(iterations=2))
    assert len(names) - names.count("Job") == jobs, names


@pytest.mark.slow
def test_what_starting_took_is_told(tmp_path: Path, two: list[Path]) -> None:
    """For every step with jobs it is less than the whole, and shown."""
    far, here, alone = at_url(tmp_path, *two), near(*two), finished(two, "--no-validate")
    for work in (far, here, alone):
        for name, step in manifest_of(work)["steps"].items():
            if work is alone:
                assert "starting" not in step
            else:
                assert (0 < step["starting"] < step["seconds"]) == (name != "export-precedence")
    assert "start-up" in ok("status", "--work", far).out


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("engine", [FEW, ALL], ids=["few jobs", "all stages"])
def test_several_captures_and_folds(engine: MakeEngine, tmp_path: Path, two: list[Path]) -> None:
    far = at_url_by(engine, tmp_path, *two, rules=CaptureRules(latest=True, redirects=True))
    assert_same(far, near(*two, captures="latest", fold="redirects"))


@pytest.mark.slow
def test_to_a_tolerance_and_again_with_an_archive_more(tmp_path: Path, two: list[Path]) -> None:
    at_url(tmp_path, two[0], iterations=7)
    assert_same(at_url(tmp_path, *two, iterations=7), near(*two, iterations=7))
    assert len(list((tmp_path / "far-data/links").iterdir())) == 2  # the first was kept
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data", "--reducers", 3)
    work = tmp_path / "far"
    said = ok("run", *two, "--work", work, *data, "--iterations", 7, "--no-validate")
    assert said.err.count("unchanged, kept") == 7


@pytest.mark.slow
def test_an_archive_that_goes_takes_those_of_its_job_along(tmp_path: Path, two: list[Path]) -> None:
    at_url(tmp_path, *two)
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data", "--iterations", 6)
    ok("run", two[1], "--work", tmp_path / "far", *data, "--reducers", 3, *QUIET, "--force")
    assert_same(tmp_path / "far", near(two[1]))


@pytest.mark.slow
def test_a_run_goes_on_behind_its_last_round(tmp_path: Path, two: list[Path]) -> None:
    rounds = list[type[Job]]()

    def interrupted(job: type[Job]) -> type[Job]:
        rounds.extend([job] if job is PageRank else [])
        if len(rounds) == 3:
            raise KeyboardInterrupt
        return job

    with pytest.raises(KeyboardInterrupt):
        at_url_by(launching(job_class=interrupted), tmp_path, *two)
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data", "--reducers", 3)
    again = (*data, "--iterations", 6)
    said = ok("run", *two, "--work", tmp_path / "far", *again, "--no-validate", "-v")
    assert re.findall(r"^page-rank: round (\d+)", said.err, re.M) == ["3", "4", "5", "6"]
    assert_same(tmp_path / "far", near(*two))


@pytest.mark.slow
def test_what_a_killed_job_left_is_no_dataset(tmp_path: Path, two: list[Path]) -> None:
    work = at_url(tmp_path, *two)
    data = tmp_path / "far-data"
    (data / "graph/_SUCCESS").unlink()
    (data / "graph/part-00000").write_bytes(b"half a li")
    edit_manifest(work, lambda manifest: manifest["steps"].pop("gen-graph"))
    assert_same(at_url(tmp_path, *two), near(*two))


@pytest.mark.slow
def test_the_folder_of_data_is_one_work_folders_own(tmp_path: Path, two: list[Path]) -> None:
    at_url(tmp_path, *two)
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data")
    said = crawlrank("run", *two, "--work", tmp_path / "other", *data, *QUIET)
    assert said.code == 3
    assert "is another work folder's; expected a new folder" in said.err
    foreign = tmp_path / "foreign/of-somebody"
    foreign.mkdir(parents=True)
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/foreign")
    said = crawlrank("run", *two, "--work", tmp_path / "third", *data, *QUIET)
    assert said.code == 3
    assert "is nobody's, and not empty" in said.err
    assert foreign.is_dir()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--runner", "hadoop"), "--runner hadoop needs --data URL"),
        (("--data", "s3://bucket/x"), "--data is for the other runners"),
        (("--runner", "inline", "--data", "work/x"), "a folder is needed"),
        (("--runner", "inline", "--data", "hdfs:///a/../b"), "a folder is needed"),
        (("--runner", "inline", "--data", "file:///a b"), "a folder is needed"),
    ],
)
def test_what_data_may_be(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    said = crawlrank("run", LOOPBACK, "--work", tmp_path / "work", *words)
    assert said.code == 2
    assert told in said.err


def test_a_store_that_is_not_there(tmp_path: Path, two: list[Path]) -> None:
    data = ("--runner", "inline", "--data", "file:///proc/nothing/here")
    said = crawlrank("run", *two, "--work", tmp_path / "work", *data, *QUIET)
    assert said.code == 3
    assert "file:///proc/nothing/here: cannot be used" in said.err


def test_notes_are_found_at_the_end_of_long_parts(tmp_path: Path) -> None:
    from crawlrank.jobs.mapreduce.outcome import outcome_of

    rows = b"".join(b"row %d\t\n" % number for number in range(20_000))
    notes = [b'@counters\t{"nodes":3}', b'@counters\t{"nodes":4}', b'@rows\t{"main":20000}']
    for tab in (b"", b"\t"):  # which Hadoop adds
        end = b"@end\t%d" % sum(len(note) + 2 for note in notes)
        lines = b"".join(line + tab + b"\n" for line in (*notes, end))
        (tmp_path / f"part-{len(tab):05d}").write_bytes(rows + lines)
    (tmp_path / "part-00002").write_bytes(b"")
    (tmp_path / "part-00003").write_bytes(lines)
    (tmp_path / "_SUCCESS").touch()
    outcome = outcome_of(f"file://{tmp_path}")
    assert outcome.counters == {"nodes": 21}
    assert outcome.rows == {"main": 60_000}


def test_a_workplace_is_removed_from_the_store(tmp_path: Path) -> None:
    launcher = Launcher("inline", tmp_path, data=f"file://{tmp_path}/data")
    with launcher.workplace("sorting") as place:
        stores.write(stores.join(place, "x"), b"y")
        assert stores.read(stores.join(place, "x")) == b"y"
    assert stores.read(stores.join(place, "x")) is None
    assert not list((tmp_path / "data/tmp").iterdir())
