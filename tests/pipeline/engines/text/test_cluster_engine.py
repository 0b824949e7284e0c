"""Runs whose datasets lie at a URL: the same results as in the work folder, added archives, kills,
and whose the folder of data is. Tasks run in this process, on a folder of this machine named by a
URL; what a real cluster makes of it, see test_hadoop_runs.py."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok, write_warc
from support.paths import DAMAGED, LOOPBACK, SAMPLES, SMALL_ARCHIVES
from support.work_folders import edit_manifest, manifest_of

from jobs.kernel.storage import stores
from jobs.mapreduce.launcher import Launcher
from jobs.mapreduce.running import JobRun
from pipeline import engine_of_run as engines
from pipeline.engines.text import plain_ranking

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


def near(tmp: Path, *archives: Path, name: str = "near", **options: object) -> Path:
    words = [w for o, v in {"iterations": 6, **options}.items() for w in (f"--{o}", v)]
    ok("run", *archives, "--work", tmp / name, "--runner", "inline", *words, *QUIET)
    return tmp / name


def texts(work: Path) -> dict[str, list[bytes]]:
    """The recipe's own files, those of archives in any order."""
    out = work.with_name(f"{work.name}-text")
    ok("export-text", "--work", work, "--out", out)
    found = {path.stem: path.read_bytes().splitlines() for path in out.iterdir()}
    return {**found, "links": sorted(found["links"]), "captures": sorted(found["captures"])}


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    first = write_warc(tmp_path / "one.warc.gz", WEB)
    return [first, write_warc(tmp_path / "two.warc.gz", MORE)]


@pytest.fixture(params=["few jobs", "all stages"])
def few_or_all(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs as of small data, whose stages share a job, and as of large ones."""
    if request.param == "all stages":
        monkeypatch.setattr(engines, "Launcher", partial(Launcher, small=0))


@pytest.mark.usefixtures("few_or_all")
@pytest.mark.parametrize("nodes", ["linked", "all"])
@pytest.mark.parametrize(
    "other",
    [
        SMALL_ARCHIVES / "samples__warcs__salam-home.warc",
        pytest.param(SAMPLES / "aut-example.arc.gz", marks=pytest.mark.large),
    ],
    ids=lambda path: path.name,
)
def test_results_are_those_of_a_run_in_the_work_folder(
    other: Path, nodes: str, tmp_path: Path
) -> None:
    archives = [LOOPBACK, other]
    far, here = (texts(of(tmp_path, *archives, nodes=nodes)) for of in (at_url, near))
    assert far == here
    assert not (tmp_path / "far" / "links").exists()
    assert (tmp_path / "far-data/links").is_dir()


def test_damage_and_counters_are_told(tmp_path: Path) -> None:
    archives = sorted(DAMAGED.iterdir())
    manifests = []
    for of in (at_url, near):
        work = of(tmp_path, *archives)
        manifests.append(manifest_of(work))
    for of_archives in zip(*(m["archives"].items() for m in manifests), strict=True):
        (content, far), (same, here) = of_archives
        assert content == same
        for told in ("counters", "damage", "error", "path"):
            assert far[told] == here[told]
    for step in ("extract-links", "canonicalize", "assign-ids", "gen-graph", "join-scores"):
        far, here = (m["steps"][step] for m in manifests)
        assert far["counters"] == here["counters"], step
        assert {**far["rows"]} == {**here["rows"]}, step


@pytest.mark.parametrize(("small", "jobs"), [(1 << 28, 7), (0, 14)])
def test_steps_share_jobs_where_data_are_small(
    small: int, jobs: int, tmp_path: Path, two: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One job a step and a round; of large data three for ids, three for scores, and one for each
    of the second datasets, which are captures, uris and map."""
    names, run = list[str](), JobRun.run

    def counted(job_run: JobRun) -> float:
        names.append(job_run.name)
        return run(job_run)

    monkeypatch.setattr(JobRun, "run", counted)
    monkeypatch.setattr(engines, "Launcher", partial(Launcher, small=small))
    at_url(tmp_path, *two, iterations=2)
    assert len(names) == jobs, names


def test_what_starting_took_is_told(tmp_path: Path, two: list[Path]) -> None:
    """Of every step with jobs it is less than the whole, and shown."""
    far, here, alone = at_url(tmp_path, *two), near(tmp_path, *two), tmp_path / "embedded"
    ok("run", *two, "--work", alone, *QUIET)
    for work in (far, here, alone):
        for name, step in manifest_of(work)["steps"].items():
            if work is alone:
                assert "starting" not in step
            else:
                assert (0 < step["starting"] < step["seconds"]) == (name != "export-precedence")
    assert "of these, starting" in ok("status", "--work", far).out


@pytest.mark.usefixtures("few_or_all")
def test_several_captures_and_folds(tmp_path: Path, two: list[Path]) -> None:
    options = {"captures": "latest", "fold": "redirects"}
    far, here = (texts(of(tmp_path, *two, **options)) for of in (at_url, near))
    assert far == here


def test_to_a_tolerance_and_again_with_an_archive_more(tmp_path: Path, two: list[Path]) -> None:
    at_url(tmp_path, two[0], iterations=7)
    again = texts(at_url(tmp_path, *two, iterations=7))
    assert again == texts(near(tmp_path, *two, iterations=7))
    assert len(list((tmp_path / "far-data/links").iterdir())) == 2  # the first was kept
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data", "--reducers", 3)
    work = tmp_path / "far"
    said = ok("run", *two, "--work", work, *data, "--iterations", 7, "--no-validate")
    assert said.err.count("unchanged, kept") == 7


def test_an_archive_that_goes_takes_those_of_its_job_along(tmp_path: Path, two: list[Path]) -> None:
    at_url(tmp_path, *two)
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data", "--iterations", 6)
    ok("run", two[1], "--work", tmp_path / "far", *data, "--reducers", 3, *QUIET, "--force")
    assert texts(tmp_path / "far") == texts(near(tmp_path, two[1]))


def test_a_run_goes_on_behind_its_last_round(
    tmp_path: Path, two: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = []
    launch = plain_ranking.launch

    def failing(job: type, inputs: list[object], output: object, *rest: object) -> object:
        rounds.append(str(output).rpartition("/")[2])
        if rounds[-1] == "round-3" and rounds.count("round-3") == 1:
            raise KeyboardInterrupt
        return launch(job, inputs, output, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(plain_ranking, "launch", failing)
    data = ("--runner", "inline", "--data", f"file://{tmp_path}/far-data")
    options = ("--iterations", 6, "--reducers", 3)
    assert crawlrank("run", *two, "--work", tmp_path / "far", *data, *options, *QUIET).code == 130
    assert texts(at_url(tmp_path, *two)) == texts(near(tmp_path, *two))
    assert rounds[:4] == ["round-1", "round-2", "round-3", "round-3"]


def test_what_a_killed_job_left_is_no_dataset(tmp_path: Path, two: list[Path]) -> None:
    work = at_url(tmp_path, *two)
    data = tmp_path / "far-data"
    (data / "graph/_SUCCESS").unlink()
    (data / "graph/part-00000").write_bytes(b"half a li")
    edit_manifest(work, lambda manifest: manifest["steps"].pop("gen-graph"))
    assert texts(at_url(tmp_path, *two)) == texts(near(tmp_path, *two))


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
    from jobs.mapreduce.outcome import outcome_of

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
