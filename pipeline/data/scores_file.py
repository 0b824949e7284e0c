"""Scores by id in mapped files of the dataset ranks, and scores with their pages in Parquet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crawlrank.jobs.kernel.errors import BadInput, count_of
from crawlrank.jobs.kernel.formats import datasets
from crawlrank.jobs.kernel.formats.lines import parse_score_row
from crawlrank.jobs.kernel.formats.order import DIGITS
from crawlrank.jobs.kernel.formats.rows import ScoreRow
from crawlrank.pipeline.data.arrays import PIECE, open_array, refuse
from crawlrank.pipeline.data.datasets import by_score, merged, replacing
from crawlrank.pipeline.data.graph import Floats
from crawlrank.pipeline.data.parquet import parquet_batches, parquet_file, parquet_writer, schema_of

SCORES, DUMMY, WEIGHTS = "scores.npy", "dummy.npy", "weights.npy"
HUBS = "hubs.npy"  # of methods that tell how good a hub each page is
HOSTS, OUTWEIGHTS = "hosts.npy", "outweights.npy"  # of a ranking with weights of links
CURE = "Run page-rank to make the scores anew."


def open_scores(path: Path, nodes: int) -> Floats:
    """The scores of this number of nodes, mapped. Raises BadInput for what is no number, infinite
    or below 0."""
    scores: Floats = open_array(path, (np.float64,), CURE)
    if len(scores) != nodes:
        raise BadInput(
            str(path), count_of(len(scores), "score"), f"one for each of {nodes:,} nodes", CURE
        )
    for begin in range(0, nodes, PIECE):
        some = scores[begin : begin + PIECE]
        wrong = ~((some >= 0) & (some < np.inf))  # NaN is neither
        if wrong.any():
            at = int(np.argmax(wrong))
            refuse(path, begin + at, some[at], "a number of at least 0", CURE)
    return scores


def read_dummy(path: Path) -> float:
    """The score of dummy. Raises BadInput."""
    return float(open_scores(path, 1)[0])


ROW_GROUP = 100_000

SCHEMA = schema_of(datasets.SCORES.parquet_columns)


def best_first(scores: Path, digits: int = DIGITS) -> Iterator[ScoreRow]:
    """The rows of a scores dataset, text or Parquet, in order; those not asked for are not read."""
    if path := parquet_file(scores):
        for batch in parquet_batches(path, list(datasets.SCORES.columns)):
            for score, uri, key in zip(*(c.to_pylist() for c in batch.columns), strict=True):
                yield ScoreRow(score, uri.encode(), key.encode())
        return
    for line in merged(scores, by_score(digits)):
        yield parse_score_row(line.rstrip(b"\n"))


def scores_writer(path: Path) -> AbstractContextManager[pq.ParquetWriter]:
    """Rows of SCHEMA; only what repeats is worth the search of a dictionary."""
    repeated = ["inlinks", "outlinks", "captures", "last"]
    return parquet_writer(path, SCHEMA, use_dictionary=repeated)


def write_parquet(scores: Path, output: Path, digits: int, total: float) -> None:
    """Scores with all columns as one Parquet file, in order. total: the sum of all scores."""
    lines = merged(scores, by_score(digits))
    with replacing(output) as path, scores_writer(path) as file:
        while chunk := list(islice(lines, ROW_GROUP)):
            rows = [line.decode("utf-8", "replace").rstrip("\n").split("\t") for line in chunk]
            columns = [
                pa.array(values, pa.string()).cast(column.type)
                for values, column in zip(zip(*rows, strict=True), SCHEMA, strict=False)
            ]
            columns.append(pc.divide(columns[0], total))
            file.write_table(pa.table(columns, SCHEMA))
