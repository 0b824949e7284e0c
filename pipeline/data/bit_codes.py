"""Codes of natural numbers in a stream of bits: unary, gamma, delta and zeta.

The first bit of a byte is its highest. Unary: n zeros and a one. Gamma of n: the length of n + 1
without its highest bit, in unary, and these bits. Delta: that length in gamma. Zeta_k: h in unary
says that n + 1 is from 2^(hk) to 2^((h+1)k) - 1, and what is above the first of these is a minimal
binary code. Source: Boldi, Vigna: *Codes for the World Wide Web* (Internet Mathematics, 2005).

A stream is its bytes and `at`, int64[2]: the next bit, and what is not 0 once a code went beyond
the end, or is longer than MOST_BITS. A code that fails is 0.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from crawlrank.jobs.kernel.machine.machine_code import loop

UNARY, GAMMA, DELTA, ZETA = range(4)
MOST_BITS = 62  # of a number
Bits: TypeAlias = npt.NDArray[np.uint8]
State: TypeAlias = npt.NDArray[np.int64]


@loop
def unary(bits: Bits, at: State) -> int:
    position, end = at[0], len(bits) * 8
    while position < end and not (bits[position >> 3] >> np.uint8(7 - (position & 7))) & 1:
        position += 1 if position & 7 or bits[position >> 3] else 8
    if position >= end:
        at[1] = 1
        return 0
    length: int = position - at[0]
    at[0] = position + 1
    return length


@loop
def binary(bits: Bits, at: State, count: int) -> int:
    """The number of so many bits, the highest first."""
    position = at[0]
    if count > MOST_BITS or position + count > len(bits) * 8:
        at[1] = 1
        return 0
    value = 0
    for bit in range(position, position + count):
        value = int(value << 1 | np.int64((bits[bit >> 3] >> np.uint8(7 - (bit & 7))) & 1))
    at[0] = position + count
    return value


@loop
def gamma(bits: Bits, at: State) -> int:
    length = unary(bits, at)
    if length > MOST_BITS:
        at[1] = 1
        return 0
    return (1 << length | binary(bits, at, length)) - 1


@loop
def delta(bits: Bits, at: State) -> int:
    length = gamma(bits, at)
    if length > MOST_BITS:
        at[1] = 1
        return 0
    return (1 << length | binary(bits, at, length)) - 1


@loop
def zeta(bits: Bits, at: State, k: int) -> int:
    h = unary(bits, at)
    if (h + 1) * k > MOST_BITS:
        at[1] = 1
        return 0
    least = 1 << (h * k)
    value = binary(bits, at, h * k + k - 1)
    if value < least:
        return value + least - 1
    return (value << 1 | binary(bits, at, 1)) - 1


@loop
def coded(bits: Bits, at: State, code: int, k: int) -> int:
    """The next number of a code."""
    if code == GAMMA:
        return gamma(bits, at)
    if code == ZETA:
        return zeta(bits, at, k)
    return unary(bits, at) if code == UNARY else delta(bits, at)


@loop
def put(bits: Bits, at: State, value: int, count: int) -> None:
    """Write the lowest bits of a number."""
    for bit in range(count - 1, -1, -1):
        if value >> bit & 1:
            bits[at[0] >> 3] |= np.uint8(128) >> np.uint8(at[0] & 7)
        at[0] += 1


@loop
def put_gamma(bits: Bits, at: State, value: int) -> None:
    length = 0
    while (value + 1) >> (length + 1):
        length += 1
    put(bits, at, 1, length + 1)
    put(bits, at, value + 1, length)


@loop
def put_zeta(bits: Bits, at: State, value: int, k: int) -> None:
    h = 0
    while (value + 1) >> (h * k + k):
        h += 1
    put(bits, at, 1, h + 1)
    least = 1 << (h * k)
    above = value + 1 - least
    if above < least:
        put(bits, at, above, h * k + k - 1)
    else:
        put(bits, at, above + least, h * k + k)
