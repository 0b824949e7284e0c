"""Loops that ask for memory ahead give the same numbers, as machine code and as Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crawlrank.jobs.kernel.machine.machine_code import loop, prefetch


@loop
def gathered(ids: Any, values: Any) -> float:
    total, last = 0.0, np.uint64(len(ids) - 1)
    for k in range(np.uint64(len(ids))):
        prefetch(values, np.uint64(ids[min(k + np.uint64(3), last)]))
        total += values[ids[k]]
    return total


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_numbers_are_those_of_python(kind: type) -> None:
    generator = np.random.default_rng(5)
    values = generator.random(1000)
    ids = generator.integers(0, len(values), 5000).astype(kind)
    in_order = 0.0
    for value in values[ids].tolist():
        in_order += value
    assert gathered(ids, values) == in_order
    assert gathered.__wrapped__(ids, values) == in_order  # type: ignore[attr-defined]


def test_the_instruction_is_there() -> None:
    import numba

    compiled = numba.njit(gathered.__wrapped__)  # type: ignore[attr-defined]
    compiled(np.zeros(4, np.uint32), np.zeros(4))
    (code,) = compiled.inspect_llvm().values()
    assert "call void @llvm.prefetch" in code
