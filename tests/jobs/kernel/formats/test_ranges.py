"""Ranges: Java's hash, labels that reach their reducer, and shares that are equal."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.jobs.kernel.formats.order import (
    KeySample,
    java_hash,
    labels,
    range_of,
    reducer_of,
    split_points,
)

# String.hashCode of Java 17, and of 3 and 64 reducers the one: (hash & Integer.MAX_VALUE) % n
JAVA = {
    b"": (0, 0, 0),
    b"a": (97, 1, 33),
    b"dummy": (95945896, 1, 40),
    b"com,example)/": (-254269019, 0, 37),
    b"org,archive)/about": (-261884179, 1, 45),
    b"00000.0": (1070509554, 0, 50),
    b"~~dummy": (-435434264, 0, 40),
    b"@counters": (-84989385, 2, 55),
    b"A0": (2063, 2, 15),
    b"J9999999999": (-1097138326, 1, 42),
    b"com,example)/a?b=c&d=%20%7e": (1147859690, 2, 42),
}


@pytest.mark.parametrize("field", JAVA)
def test_hashes_and_reducers_are_those_of_java(field: bytes) -> None:
    value, of_three, of_sixty_four = JAVA[field]
    assert java_hash(field) == value % 2**32
    assert reducer_of(field, 3) == of_three
    assert reducer_of(field, 64) == of_sixty_four


def test_bytes_above_127_are_negative_as_in_java() -> None:
    """The UTF-8 bytes of a letter, a slash, another letter and a sign, summed by a Java program."""
    assert java_hash("é/ü€".encode()) == -1848447542 % 2**32


@pytest.mark.parametrize("reducers", [1, 2, 3, 4, 64, 100])
def test_labels_reach_the_reducer_of_their_number_in_order(reducers: int) -> None:
    for ranges in {1, (reducers + 1) // 2, reducers}:
        found = labels(ranges, reducers)
        assert [reducer_of(label, reducers) for label in found] == list(range(ranges))
        assert found == sorted(set(found))


@given(st.lists(st.binary()), st.integers(1, 9), st.randoms())
def test_a_sample_depends_on_the_keys_alone(
    keys: list[bytes], size: int, rng: random.Random
) -> None:
    """Neither on their order nor on how often or in which map task each was seen."""
    whole, parts, merged = KeySample(size), [KeySample(size), KeySample(size)], KeySample(size)
    for key in keys:
        whole.add(key)
    for key in rng.sample(keys, len(keys)) * 2:
        rng.choice(parts).add(key)
    for part in parts:
        for key in part.keys():  # noqa: SIM118 (not a dict)
            merged.add(key)
    assert merged.keys() == whole.keys()
    assert len(whole.keys()) == min(size, len(set(keys)))


@given(st.sets(st.binary()), st.integers(1, 12))
def test_ranges_cover_the_keys_in_order(keys: set[bytes], ranges: int) -> None:
    points = split_points(keys, ranges)
    assert len(points) < ranges
    assert points == sorted(set(points))
    numbers = [range_of(key, points) for key in sorted(keys)]
    assert numbers == sorted(numbers)
    assert all(0 <= number < ranges for number in numbers)
    assert [range_of(point, points) for point in points] == list(range(1, len(points) + 1))


def test_shares_of_skewed_keys_are_equal_within_a_tenth() -> None:
    """100,000 keys of which nine in ten begin alike; 8 ranges; the sample keeps one key in 12."""
    rng = random.Random(5)
    sample = KeySample()
    keys = [
        b"com,big)/%06d" % number if number % 10 else b"%c%d" % (97 + number % 26, number)
        for number in range(100_000)
    ]
    rng.shuffle(keys)
    for key in keys:
        sample.add(key)
    points = split_points(sample.keys(), 8)
    shares = Counter(range_of(key, points) for key in keys)
    assert sorted(shares) == list(range(8))
    assert all(11_250 < share < 13_750 for share in shares.values())
