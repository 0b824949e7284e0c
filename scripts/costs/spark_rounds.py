"""A round of PageRank on Spark: crawlrank's packed rounds, joins of DataFrames, and GraphX.

    python scripts/costs/spark_rounds.py [--edges 10] [--rounds 5] [--json FILE]

On one seeded graph of this number of million edges, each way in an application of its own on this
machine. Seconds are those on the clock, and bytes those that the tasks of these rounds wrote for
the shuffle, by Spark's own log. Joins are what people write today: links with the outdegree of
their source joined with ranks, summed by target, in float64; a checkpoint cuts the lineage after
each round. GraphX is what GraphFrames calls for PageRank; its figures contain how it begins. Both
have the graph in memory before the first round. Packed rounds read it from disk, and do more in a
round: a certificate, and sweeps within each partition.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import pyarrow as pa
import pyarrow.parquet as pq
from bench_rounds import WHOLE, write_lines
from synthetic import web_like

from crawlrank.jobs.kernel.errors import NotConverged
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.runners.spark import require_pyspark
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.ranking.options import Stop

DAMPING = 0.85
OPTIONS = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "6g",  # of Java, which holds the graph
    "spark.sql.shuffle.partitions": "8",
}
Times = list[float]  # at which the rounds begin and end, seconds of the clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=float, default=10, help="million of the made graph")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(WAYS[options.way](options.folder, options.rounds)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        edges = write_graph(folder, int(options.edges * 1e6))
        rows = [measured(way, folder, options.rounds, edges) for way in WAYS]
    print(f"\n| {edges:,} edges | seconds a round | bytes shuffled a link |\n|---|---|---|")
    for row in rows:
        print(f"| {row['way']} | {row['seconds']:.1f} | {row['bytes']:.1f} |")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


def write_graph(folder: Path, edges: int) -> int:
    """The graph as graph lines, as Parquet, and as pairs of numbers; how many edges it has."""
    nodes, sources, targets = web_like(edges, whole=WHOLE)
    write_lines(nodes, sources, targets, folder / "graph.txt")
    pq.write_table(pa.table({"src": sources, "dst": targets}), folder / "edges.parquet")
    pq.write_table(pa.table({"id": pa.array(range(nodes), pa.int64())}), folder / "nodes.parquet")
    pairs = sources.tolist(), targets.tolist()
    with (folder / "edges.txt").open("w") as lines:
        lines.writelines(f"{s}\t{t}\n" for s, t in zip(*pairs, strict=True))
    return len(sources)


def measured(way: str, folder: Path, rounds: int, edges: int) -> dict[str, Any]:
    events = folder / f"events-{way}"
    events.mkdir()
    command = [sys.executable, __file__, "--way", way, "--folder", folder, "--rounds", rounds]
    done = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE)
    times: Times = json.loads(done.stdout.splitlines()[-1])
    begin, end = times[0], times[-1]
    shuffled = sum(size for ended, size in written(events) if begin < ended <= end)
    row = {
        "way": way, "seconds": (end - begin) / rounds, "bytes": shuffled / rounds / edges,
        "edges": edges,
    }  # fmt: skip
    print(json.dumps(row), file=sys.stderr, flush=True)
    return row


def written(events: Path) -> Iterator[tuple[float, int]]:
    """(when a task ended, bytes that it wrote for the shuffle) of Spark's log."""
    (log,) = (path for path in events.iterdir() if path.is_file())
    with log.open() as lines:
        for line in lines:
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
                size = event["Task Metrics"]["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                yield event["Task Info"]["Finish Time"] / 1000, size


def logging_to(events: Path) -> dict[str, str]:
    """Properties of Spark."""
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{events}",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
    }


# the ways, each in a process of its own: begin and end of the rounds


def packed(folder: Path, rounds: int) -> Times:
    times: Times = []

    def note(*_: object) -> bool:
        times.append(time.time())
        return True

    conf = folder / "mrjob.conf"
    conf.write_text(
        json.dumps({"runners": {"spark": {"jobconf": logging_to(folder / "events-packed")}}})
    )
    data = folder / "data"
    data.mkdir()
    stop = Stop(tolerance=1e-15, max_rounds=rounds + 1)  # the first compiles
    launcher = Launcher("spark", folder, data=f"file://{data}", conf=conf)
    with contextlib.suppress(NotConverged):
        graph = folder / "graph.txt"
        PackedRounds(graph, f"file://{data}/ranks", launcher, stop, [], note).run()
    return times


def joins(folder: Path, rounds: int) -> Times:
    spark = session(folder / "events-joins")
    from pyspark.sql import functions as f

    edges = spark.read.parquet(f"{folder}/edges.parquet")
    nodes = spark.read.parquet(f"{folder}/nodes.parquet").cache()
    outdegrees = edges.groupBy("src").agg(f.count("*").alias("outdegree"))
    links = edges.join(outdegrees, "src").repartition("src").cache()
    ranks = nodes.withColumn("rank", f.lit(1.0)).cache()
    links.count()
    ranks.count()
    times = [time.time()]
    for _ in range(rounds):
        given = links.join(ranks, links.src == ranks.id).select(
            f.col("dst").alias("id"), (f.col("rank") / f.col("outdegree")).alias("given")
        )
        sums = given.groupBy("id").agg(f.sum("given").alias("sum"))
        score = (1 - DAMPING) + DAMPING * f.coalesce(f.col("sum"), f.lit(0.0))
        ranks = nodes.join(sums, "id", "left").select("id", score.alias("rank"))
        ranks = ranks.localCheckpoint()
        times.append(time.time())
    spark.stop()
    return times


def graphx(folder: Path, rounds: int) -> Times:
    spark = session(folder / "events-graphx")
    jvm = spark._jvm.org.apache.spark
    level = jvm.storage.StorageLevel.MEMORY_AND_DISK()
    graph = jvm.graphx.GraphLoader.edgeListFile(
        spark._jsc.sc(), f"{folder}/edges.txt", False, -1, level, level
    )
    graph.edges().count()
    graph.vertices().count()
    of_int = spark._jvm.scala.reflect.ClassTag.Int()
    times = [time.time()]
    jvm.graphx.lib.PageRank.run(graph, rounds, 1 - DAMPING, of_int, of_int)
    times.append(time.time())
    spark.stop()
    return times


def session(events: Path) -> Any:
    """Spark on this machine, as packed rounds have it, with more memory."""
    require_pyspark()
    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    builder: Any = SparkSession.builder
    for name, value in {**OPTIONS, **logging_to(events)}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


WAYS: dict[str, Callable[[Path, int], Times]] = {"packed": packed, "joins": joins, "graphx": graphx}

if __name__ == "__main__":
    main()
