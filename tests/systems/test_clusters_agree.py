"""A whole run on a real Hadoop and on a real Spark gives what the embedded engine gives: the same
ids, the same bytes after K rounds, and scores within the certified errors after a tolerance.

Every sample is in the one crawl that is ranked, as a job takes seconds to start however little it
does. `make test-hadoop` and `make test-spark` run it.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.crawls import environment, ok
from support.graphs import web_like, write_graph
from support.inputs.made_scores import made
from support.inputs.samples import oracle, write
from support.inputs.several_crawls import SITE, first_crawl, second_crawl
from support.paths import DAMAGED, LOOPBACK, SAMPLES
from support.systems.cluster import dataset, inline
from support.systems.hadoop_node import hadoop_around  # noqa: F401 - the fixture `hadoop`
from support.work_folders import assert_same_counters, manifest_of

from crawlrank.jobs.gen_graph import GenGraph
from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.mapreduce.launch import launch
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.engines.text.job_export import export_by_jobs
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.steps import PRECEDENCE

ARCHIVES = [
    LOOPBACK,
    *(SAMPLES / f"aut-example.{kind}.gz" for kind in ("arc", "warc")),
    *sorted(DAMAGED.iterdir()),
]
TEXTS = ("canonicalized_links", "input_links", "map", "pr0", "pr1", "score_uri", "precedence")
ROUNDS, TOLERANCE = 1, 1e-2
REDUCERS = ("--reducers", "2")
EVENTS = "events"  # folder of the logs that Spark writes, one for each application
OPTIONS = (
    "--captures", "latest", "--fold", "redirects", "--fold", "canonical", "--nodes", "all",
    "--keep-www", "--links", "all", "--outlinks", "both", "--pdf",
)  # fmt: skip


@pytest.fixture(
    params=[
        pytest.param("hadoop", marks=pytest.mark.hadoop),
        pytest.param("spark", marks=pytest.mark.spark),
    ]
)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """How a run is told of the cluster."""
    name = request.param
    conf = tmp_path / "mrjob.conf"
    if name == "spark":
        (tmp_path / EVENTS).mkdir()
        logged = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": f"{tmp_path}/{EVENTS}"}
        conf.write_text(json.dumps({"runners": {name: {"jobconf": logged}}}))
        data = f"file://{tmp_path}/data"
        yield ["--runner", name, "--data", data, "--cluster-conf", str(conf), *REDUCERS]
        return
    request.getfixturevalue("hadoop")
    conf.write_text(json.dumps({"runners": {"hadoop": {"python_bin": sys.executable}}}))
    data = f"/agree-{uuid.uuid4().hex}"
    yield ["--runner", name, "--data", f"hdfs://{data}", "--cluster-conf", str(conf), *REDUCERS]
    subprocess.run(["hadoop", "fs", "-rm", "-r", "-skipTrash", data], check=False)


def run(work: Path, *options: object, archives: Sequence[Path]) -> None:
    """A process of its own, as users run it; from another folder than the checkout."""
    words = ["run", *archives, "--work", work, "--no-validate", *options]
    done = subprocess.run(
        [sys.executable, "-m", "crawlrank", *map(str, words)],
        cwd=work.parent, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def texts(work: Path) -> dict[str, bytes]:
    out = work.with_name(f"{work.name}-text")
    ok("export", "--format", "text", "--work", work, "--out", out)
    return {name: (out / f"{name}.txt").read_bytes() for name in TEXTS}


def scores(work: Path) -> dict[str, float]:
    ok("export", "--format", "text", "--work", work, "--out", work.with_name(f"{work.name}-scores"))
    lines = (work.with_name(f"{work.name}-scores") / "pr.txt").read_text().splitlines()
    return {node: float(score) for node, score in (line.split("\t") for line in lines)}


def test_a_cluster_gives_what_one_machine_gives(cluster: list[str], tmp_path: Path) -> None:
    """It gives the same bytes after rounds. All jobs on Spark are one application. With options on
    Hadoop: a run takes minutes. What each option does alone, and with each other one, see
    test_options_agree.py, on Spark, too."""
    far, near = tmp_path / "far", tmp_path / "near"
    options = options_of(cluster[1], tmp_path / "seeds.txt")
    archives = [*ARCHIVES, first_crawl(tmp_path), second_crawl(tmp_path)]
    run(far, *cluster, *options, archives=archives)
    assert cluster[1] == "hadoop" or len(list((tmp_path / EVENTS).iterdir())) == 1
    run(near, *options, archives=archives)
    found, expected = texts(far), texts(near)
    for name in TEXTS:
        assert found[name] == expected[name], name

    told, same = manifest_of(far), manifest_of(near)
    for archive, entry in same["archives"].items():
        for what in ("counters", "damage", "error"):
            assert told["archives"][archive][what] == entry[what], (entry["path"], what)
    assert_same_counters(near, far)
    if cluster[1] == "hadoop":
        explained = [ok("explain", "--work", work, f"{SITE}/").out for work in (far, near)]
        assert "readers start here" in explained[0]
        assert explained[0].replace(str(far), str(near)) == explained[1]
    else:
        run(far, *cluster, "--tolerance", TOLERANCE, "--force", archives=archives)
        run(near, "--tolerance", 1e-12, "--force", archives=archives)
        require_certified(far, near)


def options_of(runner: str, seeds: Path) -> tuple[object, ...]:
    if runner == "spark":
        return ("--iterations", ROUNDS)
    seeds.write_text(f"{SITE}/\n")
    return (*OPTIONS, "--iterations", ROUNDS, "--method", "trustrank", "--seeds", seeds)


@pytest.mark.smoke
def test_one_job_gives_what_it_gives_here(cluster: list[str], tmp_path: Path) -> None:
    """The input links are the published ones. Targets of a line ascend, whatever order they came
    in."""
    launcher, data = launcher_of(cluster, tmp_path / "far")
    links = write(tmp_path / "input_links", oracle("input_links.txt.gz"))
    graph = stores.join(data, "graph")
    outcome = launch(GenGraph, [links], graph, launcher)
    expected = launch(GenGraph, [links], tmp_path / "graph", inline(tmp_path))
    found = (line.rstrip() for line in stores.lines(graph) if not side_name(line))
    assert sorted(found) == sorted(dataset(tmp_path / "graph"))
    assert outcome.counters == expected.counters


def launcher_of(cluster: list[str], tmp: Path) -> tuple[Launcher, str]:
    """What launches jobs there, and the URL under which their datasets are."""
    tmp.mkdir()
    options = dict(zip(cluster[::2], cluster[1::2], strict=True))
    conf = options.get("--cluster-conf")
    data = options["--data"]
    return Launcher(options["--runner"], tmp, ranges=3, data=data, conf=conf and Path(conf)), data


def require_certified(far: Path, near: Path) -> None:
    """near: with exact scores."""
    rounds = manifest_of(far)["steps"]["page-rank"]["rounds"]
    assert rounds[-1]["certificate"] <= TOLERANCE
    x, exact = scores(far), scores(near)
    assert x.keys() == exact.keys()
    difference = np.array([x[node] - exact[node] for node in x])
    total = sum(x.values())
    assert np.abs(difference).sum() <= (rounds[-1]["certificate"] + 1e-11) * total
    apart = np.abs(difference) / np.array([exact[node] for node in x])
    assert apart.max() <= rounds[-1]["eta"] + 1e-11


def test_jobs_write_the_lines_that_one_process_writes(cluster: list[str], tmp_path: Path) -> None:
    """With errors, aliases and ties by links, and more classes than nodes of a part."""
    launcher, data = launcher_of(cluster, tmp_path / "far")
    rows = dict(zip(("scores", "uris"), made(random.Random(7), 60), strict=True))
    here, there = list[Path](), list[stores.PathOrUrl]()
    for name, lines in rows.items():
        here.append(write(tmp_path / name, lines))
        there.append(stores.join(data, name))
        stores.upload(here[-1], stores.join(data, name, "part-00000"))
    options = PrecedenceOptions(
        bins=40, ties="links", digits=3, aliases=("scheme", "www"), eta=1e-3, absolute=0.01
    )
    export_precedence(*here, tmp_path / "precedence.txt", tmp_path, options)
    lines = stores.join(data, "lines")
    export_by_jobs(*there, lines, tmp_path / "far/precedence.txt", launcher, options)
    for name in PRECEDENCE:
        assert (tmp_path / "far" / name).read_text() == (tmp_path / name).read_text()


@pytest.mark.parametrize("cluster", [pytest.param("spark", marks=pytest.mark.spark)], indirect=True)
def test_packed_rounds_between_partitions_give_the_same_bits(
    cluster: list[str], tmp_path: Path
) -> None:
    """The samples are ranked in one partition: they are small. A round takes a job, in which
    nothing depends on the cluster, so one kind is enough."""
    far, data = launcher_of(cluster, tmp_path / "far")
    graph = write_graph(web_like(400, seed=5), tmp_path / "graph")
    stores.upload(graph, stores.join(data, "graph", "part-00000"))
    found = []
    for launcher, where in ((far, stores.join(data, "graph")), (inline(tmp_path), graph)):
        folder = stores.join(data, "rounds") if launcher.data else tmp_path / "rounds"
        ranks, rounds = PackedRounds(
            where, folder, launcher, Stop(tolerance=1e-2), partitions=4
        ).run()
        lines = sorted(stores.lines(ranks) if launcher.data else dataset(Path(ranks)))
        told = [{**entry, "seconds": 0} for entry in rounds]
        found.append(([line.rstrip() for line in lines if not side_name(line)], told))
    assert len(found[0][1]) > 1
    assert found[0] == found[1]


@pytest.mark.spark
def test_what_a_task_on_spark_says_last_is_told(tmp_path: Path) -> None:
    from crawlrank.jobs.kernel.errors import BadInput, JobFailed

    launcher = Launcher("spark", tmp_path, data=f"file://{tmp_path}/data", ranges=2)
    lines = tmp_path / "input_links"
    lines.write_text("0 a b c d\n")
    with pytest.raises(BadInput, match="expected `id target_key source_key`"):
        launch(GenGraph, [lines], f"file://{tmp_path}/data/graph", launcher)
    assert not (tmp_path / "data/graph").exists()
    with pytest.raises(JobFailed, match="Input path does not exist"):
        launch(GenGraph, [f"file://{tmp_path}/none"], f"file://{tmp_path}/data/graph", launcher)
