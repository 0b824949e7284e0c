"""Budgets of hosts: their sums, their digits, and the prefixes that they are for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import ok
from support.paths import LOOPBACK
from support.runs import finished

from crawlrank.pipeline.heritrix.job_beans import quota_sheets, quotas_of, shared, surt_prefixes
from crawlrank.pipeline.precedence.page_table import RankedPages
from crawlrank.pipeline.workfolder.results.opened import scores_of_work

SCORES = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1e6), min_size=1)


@given(SCORES, st.integers(1, 10**12))
def test_each_host_has_its_part(scores: dict[str, float], budget: int) -> None:
    quotas, total = shared(scores, budget), sum(scores.values())
    assert quotas.keys() == scores.keys()
    for host, quota in quotas.items():
        exact = budget * scores[host] / total if total else 0
        assert quota >= 1
        assert abs(quota - exact) <= max(1, 0.05 * exact)
        assert len(str(quota).rstrip("0")) <= 2


@pytest.mark.parametrize(
    ("host", "prefixes"),
    [
        ("a.example", ("http://(example,a,)", "http://(example,a,:")),
        ("192.0.2.1", ("http://(192.0.2.1)", "http://(192.0.2.1:")),
        ("[2001:db8::1]", ("http://([2001:db8::1])", "http://([2001:db8::1]:")),
    ],
)
def test_prefixes(host: str, prefixes: tuple[str, str]) -> None:
    assert surt_prefixes(host) == prefixes


def test_a_host_stands_for_its_www() -> None:
    """Keys have no `www.`, unless a run keeps it."""
    (_, text) = list(quota_sheets({"a.example": 7, "192.0.2.1": 7}))[1]
    assert "http://(example,a,www,)" in text
    assert "192.0.2.1,www" not in text
    sheets = dict(quota_sheets({"a.example": 7, "www.a.example": 9}))
    assert "www" not in sheets["crawlrankQuotaHosts7"]
    assert "http://(example,a,www,)" in sheets["crawlrankQuotaHosts9"]


def test_addresses_that_heritrix_does_not_fetch_take_nothing(tmp_path: Path) -> None:
    links = tmp_path / "links.txt"
    hosts = ["[2001:db8:1:2:3:4:5:6]", "[2001:db8::1]:8080", "b.example:81"]
    links.write_text("".join(f"http://b.example/ http://{host}/ L\n" for host in hosts))
    ok("step", "import-text", tmp_path / "work", "--links", links)
    ok("run", "--work", tmp_path / "work", "--no-validate", "--nodes", "all")
    source = scores_of_work(tmp_path / "work", tmp_path)
    ranked = RankedPages(source.scores, source.uris, tmp_path / "work")
    assert quotas_of(ranked, tmp_path / "work", 1000) == {"b.example": 1000}


def test_of_a_run(tmp_path: Path) -> None:
    work = finished(LOOPBACK)
    source = scores_of_work(work, tmp_path)
    quotas = quotas_of(RankedPages(source.scores, source.uris, work), work, 1000)
    assert quotas.keys() == {"127.0.0.1", "127.0.0.2", "127.0.0.3"}
    assert 950 <= sum(quotas.values()) <= 1050
