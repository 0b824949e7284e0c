"""Rows in files by a hash: all of them come back, by hash, in their order."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crawlrank.pipeline.planning.visit_numbers import BITS, PARTS, Partitions

ROW = np.dtype([("hash", "u8"), ("number", "i4")])


def test_rows_of_a_hash_are_in_one_file_in_the_order_in_which_they_were_written(
    tmp_path: Path,
) -> None:
    draw = np.random.default_rng(1)
    hashes = draw.integers(0, 2**64, 500, np.uint64)[draw.integers(0, 500, 5000)]
    rows = np.zeros(len(hashes), ROW)
    rows["hash"], rows["number"] = hashes, np.arange(len(hashes))
    with Partitions(tmp_path, "rows", ROW) as parts:
        for begin in range(0, len(rows), 700):
            some = rows[begin : begin + 700]
            parts.write(some, some["hash"])
        taken = [parts.take(part) for part in range(PARTS)]
    for part, of_part in enumerate(taken):
        assert (of_part["hash"] >> np.uint64(64 - BITS) == part).all()
        assert (np.diff(of_part["number"]) > 0).all()
    assert np.array_equal(np.sort(np.concatenate(taken), order="number"), rows)
    assert not list(tmp_path.iterdir())
