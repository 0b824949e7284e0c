"""Launching: failures, what they leave (nothing), and jobs run alone from anywhere."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support import plain
from support.crawls import write_warc
from support.faults.boom import Boom
from support.inputs.samples import made_captures, made_links, write
from support.paths import ROOT
from support.systems.cluster import cluster, dataset, inline, on_cluster

from crawlrank.jobs.assign_ids import AssignIds
from crawlrank.jobs.canonicalize import Canonicalize
from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.join_scores import JoinScores
from crawlrank.jobs.kernel.errors import BadInput, JobFailed
from crawlrank.jobs.kernel.storage.opening import as_path_or_url
from crawlrank.jobs.mapreduce.alone import main
from crawlrank.jobs.mapreduce.job import Job
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.page_rank import PageRank


def launcher_for(runner: str, tmp: Path) -> Launcher:
    folder = tmp / "tmp"
    folder.mkdir()
    if runner == "cluster":
        return cluster(folder, 3)
    return Launcher(runner, folder, processes=2)


def test_a_job_tells_rows_and_counters_and_shows_progress(tmp_path: Path) -> None:
    ticks: list[tuple[str, int, int]] = []
    (tmp_path / "tmp").mkdir()
    launcher = Launcher(
        "inline",
        tmp_path / "tmp",
        on_task=lambda *tick: ticks.append(tick),
        job_class=on_cluster(reducers=4, maps=3),
    )
    lines = write(tmp_path / "lines", [b"a", b"b", b"a"])
    outcome = launch(Boom, [lines], tmp_path / "out", launcher)
    assert sorted(dataset(tmp_path / "out")) == [b"a 2", b"b 1"]
    assert outcome.counters == {"lines": 3}
    assert outcome.rows == {"main": 2}
    assert [tick for tick in ticks if tick[1] == tick[2]] == [("Boom", 3, 3), ("Boom", 4, 4)]
    assert list(launcher.tmp.iterdir()) == []


def test_lines_as_hadoop_streaming_left_them_are_read(tmp_path: Path) -> None:
    """One tab at the end belongs to no field; two are as wrong as ever."""
    links = write(tmp_path / "links", [b"1 b)/ a)/\t", b"0 a)/ b)/\t"])
    launch(GenGraph, [links], tmp_path / "graph", inline(tmp_path))
    assert sorted(dataset(tmp_path / "graph")) == [
        b"0\t1.0\tO:1",
        b"1\t1.0\tO:0",
        b"dummy\t1.0\tO:dummy",
    ]
    write(links, [b"1 b)/ a)/\t", b"0 a)/ b)/\t\t"])
    with pytest.raises(BadInput, match=r"links, line 2: '0 a\)/ b\)/"):
        launch(GenGraph, [links], tmp_path / "again", inline(tmp_path))


@pytest.mark.parametrize("runner", ["inline", "cluster", "local"])
def test_a_task_that_raises(runner: str, tmp_path: Path) -> None:
    launcher = launcher_for(runner, tmp_path)
    said = ["no such luck either", "no such luck"]
    for number, word in enumerate([b"raise in reduce", b"raise"]):
        lines = write(tmp_path / "lines", [b"a", word, b"b"])
        with pytest.raises(JobFailed) as failed:
            launch(Boom, [lines], tmp_path / "out", launcher)
        assert failed.value.exit_code == 5
        assert str(failed.value).splitlines() == [
            "the job Boom failed; its last lines:",
            f"ValueError: {said[number]}",
        ]
        assert not (tmp_path / "out").exists()
        assert list(launcher.tmp.iterdir()) == []


def test_a_task_that_is_killed(tmp_path: Path) -> None:
    launcher = launcher_for("local", tmp_path)
    lines = write(tmp_path / "lines", [b"a", b"kill", *[b"b"] * 50])
    locks = set(Path("/tmp").glob("wrapper.lock.boom.*"))  # where mrjob locks its own archive
    with pytest.raises(JobFailed, match="the job Boom failed; its last lines:\nabout to go"):
        launch(Boom, [lines], tmp_path / "out", launcher)
    assert not (tmp_path / "out").exists()
    assert list(launcher.tmp.iterdir()) == []
    assert set(Path("/tmp").glob("wrapper.lock.boom.*")) == locks


# the place of a bad line


@pytest.mark.parametrize("runner", ["inline", "cluster"])
def test_the_place_is_found_among_many_inputs(runner: str, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    write(folder / "part-0", [b"http://a/ http://b/"] * 40)
    packed = b"http://a/ http://b/\r\n" * 7 + b"http://a/\r\n" + b"http://a/ http://b/\r\n"
    (folder / "part-1.gz").write_bytes(gzip.compress(packed))
    launcher = launcher_for(runner, tmp_path)
    with pytest.raises(BadInput) as refused:
        launch(Canonicalize, [folder], tmp_path / "out", launcher, side={"uris": tmp_path / "uris"})
    assert refused.value.where == f"{folder / 'part-1.gz'}, line 8"
    assert refused.value.exit_code == 3
    assert {path.name for path in tmp_path.iterdir()} == {"links", "tmp"}
    assert list(launcher.tmp.iterdir()) == []


@pytest.mark.parametrize(
    "runner", ["inline", "cluster", pytest.param("local", marks=pytest.mark.slow)]
)
def test_the_first_bad_line_of_the_inputs_is_told(runner: str, tmp_path: Path) -> None:
    """Whichever task or reducer comes first, and lines before what follows from them."""
    launcher = launcher_for(runner, tmp_path)
    good = [b"%d k%03d)/ k000)/" % (number, number) for number in range(200)]
    twice = [b"%d other%d)/ k000)/" % (number, number) for number in range(150, 20, -1)]
    links = write(tmp_path / "links", good + twice)
    with pytest.raises(BadInput, match=f"{links}, line 201: id 150: has the keys"):
        launch(GenGraph, [links], tmp_path / "out", launcher)
    write(links, [*good, *twice, *[b"x%d" % number for number in range(20)]])
    with pytest.raises(BadInput, match=f"{links}, line {len(good + twice) + 1}: .*'x0'"):
        launch(GenGraph, [links], tmp_path / "out", launcher)


def test_a_line_that_is_no_known_side_line_is_a_bad_line(tmp_path: Path) -> None:
    links = write(tmp_path / "links", [b"0 b)/ a)/", b"@counters\t{}", b"@context\tschema", b"x"])
    with pytest.raises(BadInput, match=f"{links}, line 3: .*'@context"):
        launch(GenGraph, [links], tmp_path / "out", inline(tmp_path))


def test_a_truncated_gzip_is_no_shorter_dataset(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d a)/%d b)/\n" % (n, n * 7919) for n in range(9999)))
    path = tmp_path / "links.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match=r"links.gz, after line \d+: cannot be read on"):
        launch(GenGraph, [path], tmp_path / "out", inline(tmp_path))
    assert {found.name for found in tmp_path.iterdir()} == {"links.gz"}


def test_what_is_there_stays_there(tmp_path: Path) -> None:
    links = write(tmp_path / "links", [b"0 a)/ b)/"])
    (tmp_path / "out").mkdir()
    kept = write(tmp_path / "out" / "mine", [b"dear"])
    with pytest.raises(BadInput, match="out: exists already"):
        launch(GenGraph, [links], tmp_path / "out", inline(tmp_path))
    assert kept.read_bytes() == b"dear\n"


def test_no_input_is_not_stdin(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the inputs: none"):
        launch(GenGraph, [], tmp_path / "out", inline(tmp_path))


# jobs alone


def alone(
    job: str, *args: object, cwd: Path, path: bool = True
) -> subprocess.CompletedProcess[bytes]:
    """`python -m crawlrank.jobs.JOB ARGS`; without `path` only the current directory names the
    package."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path:
        env["PYTHONPATH"] = str(ROOT)
    command = [sys.executable, "-m", f"crawlrank.jobs.{job}", *map(str, args)]
    return subprocess.run(command, capture_output=True, cwd=cwd, env=env, check=False)


class Said(NamedTuple):
    code: object
    out: bytes
    err: bytes


Alone = Callable[..., Said]


@pytest.fixture
def alone_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Alone:
    """Launch in this process: a job and its arguments, in the folder of the test."""

    def run(job: type[Job], *args: object) -> Said:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [job.__name__, *map(str, args)])
        code: object = 0
        try:
            main(job)
        except SystemExit as end:
            code = end.code
        return Said(code, *capfdbinary.readouterr())

    return run


def test_the_recipe_job_by_job_from_another_folder(tmp_path: Path, alone_here: Alone) -> None:
    links, captures = made_links(100), made_captures()
    write(tmp_path / "links.txt", links)
    write(tmp_path / "captures.txt", captures)
    steps: list[tuple[type[Job], tuple[str, ...]]] = [
        (Canonicalize, ("links.txt", "captures.txt", "--output-dir", "canonical")),
        (AssignIds, ("canonical", "--output-dir", "ids", "--reducers", "3")),
        (GenGraph, ("ids", "--output-dir", "graph")),
        (PageRank, ("graph", "--output-dir", "ranks", "--shift=-0.00001")),
        (JoinScores, ("ranks", "ids/_map", "canonical/_uris", "--output-dir", "scores")),
    ]
    for job, args in steps:
        done = alone_here(job, *args)
        assert (done.code, done.out) == (0, b""), done.err.decode()
        assert b"Traceback" not in done.err
    wanted = plain.canonical_links(links)
    numbers = plain.ids(wanted)
    targets = plain.graph(wanted, numbers)
    assert sorted(dataset(tmp_path / "canonical")) == wanted
    assert sorted(dataset(tmp_path / "canonical" / "_uris")) == plain.uris(links, captures)
    assert sorted(dataset(tmp_path / "graph")) == sorted(plain.graph_lines(targets))
    rows = [line.split(b"\t") for line in dataset(tmp_path / "scores")]
    scores = plain.scores_after(1, targets)
    assert {key: float(score) for score, _, key in rows} == {
        k: scores[n] for k, n in numbers.items()
    }
    assert [float(row[0]) for row in rows] == pytest.approx(sorted(scores.values(), reverse=True))


@pytest.mark.slow
def test_local_tasks_find_the_package_that_only_the_current_folder_named(tmp_path: Path) -> None:
    graph = write(tmp_path / "graph", [b"0\t1.0\tO:1", b"1\t1.0\tO:dummy", b"dummy\t1.0\tO:dummy"])
    output = tmp_path / "out"
    args = ("-r", "local", "--num-cores", 1, "--shift=-0.00001", graph, "--output-dir", output)
    done = alone("page_rank", *args, cwd=ROOT, path=False)
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(dataset(output)) == [
        b"0\t0.15\tO:1",
        b"1\t1.0\tO:dummy",
        b"dummy\t1.8499999999999999\tO:dummy",
    ]


def test_rows_to_stdout_and_what_there_is_to_tell_to_stderr(
    tmp_path: Path, alone_here: Alone
) -> None:
    write(tmp_path / "graph", [b"0\t1.0\tO:dummy", b"dummy\t1.0\tO:dummy"])
    done = alone_here(PageRank, "graph")
    assert sorted(done.out.splitlines()) == [
        b"0\t0.15\tO:dummy",
        b"dummy\t1.8499999999999999\tO:dummy",
    ]
    assert done.err.splitlines() == [b"ranks\t2"]


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (("bad",), 3, b"PageRank: {cwd}/bad, line 1: 'what is this'; expected `id<TAB>score"),
        (("absent",), 3, b"PageRank: absent: no such file or folder"),
        (("bad", "--output-dir", "there"), 3, b"PageRank: there: exists already"),
        ((), 3, b"PageRank: the inputs: none"),
        (("bad", "--shift", "x"), 2, b"invalid float value"),
    ],
)
def test_errors_of_a_job_alone(
    args: tuple[str, ...], code: int, told: bytes, tmp_path: Path, alone_here: Alone
) -> None:
    write(tmp_path / "bad", [b"what is this"])
    (tmp_path / "there").mkdir()
    done = alone_here(PageRank, *args)
    assert done.code == code
    assert told.replace(b"{cwd}", os.fsencode(tmp_path.resolve())) in done.err
    assert b"Traceback" not in done.err
    assert done.out == b""
    assert {path.name for path in tmp_path.iterdir()} == {"bad", "there"}


def test_archives_that_a_job_alone_cannot_read_are_told(tmp_path: Path, alone_here: Alone) -> None:
    (tmp_path / "junk.warc.gz").write_bytes(bytes(range(256)))
    done = alone_here(ExtractLinks, "junk.warc.gz")
    assert done.code == 3
    assert b"junk.warc.gz" in done.err
    assert b"expected a WARC or ARC file" in done.err
    archive = write_warc(tmp_path / "cut.warc", {"http://a.example/": ["/x"]})
    archive.write_bytes(archive.read_bytes() * 2)
    archive.write_bytes(archive.read_bytes()[:-30])
    done = alone_here(ExtractLinks, "cut.warc")
    assert done.code == 0
    assert b"cut.warc: " in done.err


MIB = 1 << 20


@pytest.mark.parametrize("where", ["{}", "file://{}"])
@pytest.mark.parametrize(
    ("names", "size", "tasks"),
    [
        (["a"], 0, 1),
        (["a"], 3 * MIB, 3),
        (["a", "b"], 30 * MIB, 8),
        (["a", "b"], 512 * MIB, 16),
        (["a.gz"], 128 * MIB, 16),  # about eight times as much text
        (["a.parquet"], 128 * MIB, 16),
        (["a"], 1 << 40, 4096),
    ],
)
def test_reduce_tasks_are_as_many_as_the_lines_need(
    where: str, names: list[str], size: int, tasks: int, tmp_path: Path
) -> None:
    dataset = tmp_path / "dataset"
    dataset.mkdir()
    for name in names:
        with (dataset / name).open("wb") as file:
            file.truncate(size)  # without a byte on the disk
    inputs = [as_path_or_url(where.format(dataset))]
    assert Launcher("inline", tmp_path).reducers(inputs) == tasks
    assert Launcher("inline", tmp_path, ranges=5).reducers(inputs) == 5


def test_floats_are_handed_on_as_argparse_takes_them() -> None:
    """-1e-05 looks like an option to it."""
    for number in (-1e-05, 1e-20, -123.5):
        args = PageRank([f"--shift={number!r}"]).own_args()
        assert PageRank(args).options.shift == pytest.approx(number, abs=1e-20)
