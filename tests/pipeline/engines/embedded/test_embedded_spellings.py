"""The strings of parts: which have keys, and which are the same."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.made_uris import made_uris
from support.inputs.samples import HOSTILE

from crawlrank.jobs.kernel.keys.keys import Www, forgetful_key_function
from crawlrank.jobs.kernel.keys.surt_keys import surt_key
from crawlrank.pipeline.engines.embedded.canonicalization.spelling_table import (
    distinct_strings,
    having_keys,
)
from crawlrank.pipeline.engines.embedded.canonicalization.spellings import keys_of

REAL = [
    b"http://www.example.org/a/b.html?c=d&e=%20f",
    b"https://b.example:99999/",
    b"http://1.2.3/",
]


@pytest.mark.parametrize("www", ["strip", "keep", "surt"])
@pytest.mark.slow
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


@pytest.mark.parametrize("www", ["strip", "keep", "surt"])
@pytest.mark.few(1)
def test_keys_of_many_are_those_of_each(www: Www) -> None:
    key_of = forgetful_key_function(www)
    made = [*HOSTILE, *REAL, *made_uris(8_000, 8, [*REAL, b"http://www.example.org/A/b..c/;d,e"])]
    uris = [uri for uri in made if uri.decode("utf-8", "replace").encode() == uri and key_of(uri)]
    keys = keys_of(pa.array(uris, pa.binary()).cast(pa.string()), key_of).cast(pa.binary())
    differing = [uri for uri, key in zip(uris, keys.to_pylist(), strict=True) if key != key_of(uri)]
    assert differing == []


@given(st.text("aB./?%(&-:@_;", max_size=8), st.sampled_from(["a.b", "www.b", "1.2.3.4", "a.b:80"]))
def test_keys_of_short_paths(path: str, host: str) -> None:
    key_of = forgetful_key_function("strip")
    if key := key_of(f"http://{host}/{path}".encode()):
        assert keys_of(pa.array([f"http://{host}/{path}"]), key_of).to_pylist() == [key.decode()]


def test_usual_uris_share_the_key_of_their_host() -> None:
    asked: list[bytes] = []

    def key_of(uri: bytes) -> bytes | None:
        asked.append(uri)
        return forgetful_key_function("strip")(uri)

    usual = ["http://a.example/", "HTTPS://A.example/x/Y.html", "https://a.example/a..b/c;d=e"]
    others = [
        "http://a.example/x/",
        "http://a.example//",
        "http://a.example/?b",
        "http://a.example/.b",
    ]
    keys_of(pa.array([*usual, *others]), key_of)
    assert asked == [b"http://a.example/", *(uri.encode() for uri in others)]


@given(st.lists(st.lists(st.text(max_size=2), min_size=1), max_size=5))
def test_distinct_strings(given_lists: list[list[str]]) -> None:
    arrays = [pa.array(strings, pa.string()) for strings in given_lists]
    strings, indices = distinct_strings(arrays)
    every = {string for some in given_lists for string in some}
    assert len(strings) == len(every)
    assert set(strings.to_pylist()) == every
    found = [strings.take(pa.array(some)).to_pylist() for some in indices]
    assert found == given_lists
