"""Where keys differ from those of surt: a key never loses the domain that somebody registered.

tests/data/cases/keys.tsv lists the differences, and hosts beside them on which both agree.
"""

from __future__ import annotations

import csv
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.paths import ROOT

from crawlrank.jobs.kernel.keys.keys import forgetful_key_function, is_public_suffix, key_of

with (ROOT / "tests/data/cases/keys.tsv").open(encoding="ascii", newline="") as file:
    CASES = list(csv.reader(file, delimiter="\t"))[1:]
SUFFIXES = (
    *("com", "org", "de", "co.uk", "com.br", "gov.uk", "ck", "foo.ck", "kawasaki.jp", "tokyo.jp"),
    *("blogspot.com", "github.io", "s3.amazonaws.com", "xn--p1ai", "unlisted", "k12.ca.us"),
)
PREFIXES = ("", "www.", "www1.", "www123.", "WWW.", "www.www.")


@pytest.mark.parametrize(("uri", "of_surt", "key"), CASES)
def test_a_case(uri: str, of_surt: str, key: str) -> None:
    exact, kept = forgetful_key_function("surt"), forgetful_key_function("keep")
    assert (exact(uri.encode()) or b"").decode() == of_surt
    assert (key_of(uri.encode()) or b"").decode() == key
    assert key in (of_surt, (kept(uri.encode()) or b"").decode())


@cache
def tldextract() -> Any:
    from tldextract import TLDExtract

    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


def registered(host: str) -> str:
    """The domain as the library has it; '' for a public suffix."""
    parts = tldextract().extract_str(host)
    suffix = parts.suffix or host.rpartition(".")[2]
    rest = host.removesuffix(suffix).strip(".")
    return f"{rest.rpartition('.')[2]}.{suffix}" if rest else ""


hosts = st.builds(
    "{}{}{}".format,
    st.sampled_from(PREFIXES),
    st.sampled_from(("", "a.", "www7.", "b.a.", "www.a.")),
    st.sampled_from(SUFFIXES),
)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(hosts, st.sampled_from(("", ":8080")), st.sampled_from(("/", "/a/../", "/%41?x")))
def test_a_key_keeps_the_registered_domain(host: str, port: str, path: str) -> None:
    key = key_of(f"http://{host}{port}{path}".encode())
    assert key
    in_key = ".".join(reversed(key.decode().partition(")")[0].removesuffix(port).split(",")))
    assert registered(in_key) == registered(host.lower())


@settings(max_examples=examples(300), deadline=None)
@given(hosts)
def test_public_suffixes_are_those_of_tldextract(host: str) -> None:
    assert is_public_suffix(host.lower()) == (registered(host.lower()) == "")
