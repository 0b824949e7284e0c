"""The strings of parts: which have keys, and which are the same."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.made_uris import made_uris
from support.inputs.samples import HOSTILE

from crawlrank.jobs.kernel.keys.keys import Www
from crawlrank.jobs.kernel.keys.surt_keys import surt_key
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import (
    distinct_strings,
    having_keys,
)

REAL = [
    b"http://www.example.org/a/b.html?c=d&e=%20f",
    b"https://b.example:99999/",
    b"http://1.2.3/",
]


@pytest.mark.parametrize("www", ["strip", "keep", "surt"])
def test_the_uris_that_have_a_key_are_those_of_which_surt_makes_one(www: Www) -> None:
    made = [*HOSTILE, *REAL, *made_uris(8_000, 7, REAL)]
    uris = [uri for uri in made if uri.decode("utf-8", "replace").encode() == uri]
    keyed = having_keys(pa.array(uris, pa.binary()).cast(pa.string()), www=www)
    wanted = [surt_key(uri, keep_www=www == "keep") is not None for uri in uris]
    differing = [uri for uri, one, other in zip(uris, keyed, wanted, strict=True) if one != other]
    assert differing == []
    assert wanted.count(False) > 50


def test_plain_uris_need_no_key_made() -> None:
    asked: list[bytes] = []
    plain = [
        "http://a.example/", "HTTPS://www.A-b.example/x/Y.html?a=b&c=d;e",
        "http://a.example/a%20b/.svn/x.%C3", "http://a.example/...",
    ]  # fmt: skip
    others = [
        "http://a.example/%2520", "http://a.example/%2", "http://a.example/%2e/x",
        "http://a.example/%73id=1", "http://a.example/../x", "http://a.example/..?x",
        "http://a.example/x/.", "http://[::1]/", "no URI", "",
    ]  # fmt: skip
    uris = pa.array(plain + others)
    keyed = having_keys(uris, www="strip", key_of=asked.append).tolist()
    assert keyed == [True] * len(plain) + [False] * len(others)
    assert asked == [uri.encode() for uri in others]


@given(st.lists(st.lists(st.text(max_size=2), min_size=1), max_size=5))
def test_distinct_strings(given_lists: list[list[str]]) -> None:
    arrays = [pa.array(strings, pa.string()) for strings in given_lists]
    strings, indices = distinct_strings(arrays)
    every = {string for some in given_lists for string in some}
    assert len(strings) == len(every)
    assert set(strings.to_pylist()) == every
    found = [strings.take(pa.array(some)).to_pylist() for some in indices]
    assert found == given_lists
