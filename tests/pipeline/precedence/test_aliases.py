"""Lines for aliases: each page by the other scheme, with and without www., and none twice."""

from __future__ import annotations

import ipaddress
import json
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import crawlrank, ok
from support.inputs.heritrix_uris import cases
from support.paths import LOOPBACK, SAMPLES
from support.runs import finished, shared_warc

from crawlrank.jobs.kernel.keys.form_columns import aliases
from crawlrank.jobs.kernel.keys.heritrix_form import MAX_LENGTH, heritrix_form

SAMPLE = SAMPLES / "aut-example.warc.gz"
FORMS = sorted({form for _, form, _ in cases("uuri.tsv") if form.startswith("http")})


def aliases_of(uri: str, *kinds: str) -> set[str]:
    made = aliases(pa.array([uri]), kinds)  # type: ignore[arg-type]
    return {column[0].as_py() for column in made} - {None}


def expected(uri: str, *kinds: str) -> set[str]:
    """By Python's own reader of URLs."""
    parts = urlsplit(uri)
    schemes, hosts = {parts.scheme}, {parts.netloc}
    if "scheme" in kinds and ":" not in parts.netloc and "@" not in parts.netloc:
        schemes = {"http", "https"}
    name = parts.netloc.partition(":")[0]
    bare = name.removeprefix("www.")
    if "www" in kinds and "@" not in name and not name.startswith("[") and is_name(bare):
        tail = parts.netloc[len(name) :]
        hosts = {bare + tail, "www." + bare + tail}
    rest = uri[len(parts.scheme) + 3 + len(parts.netloc) :]
    return {f"{scheme}://{host}{rest}" for scheme, host in product(schemes, hosts)} - {uri}


def is_name(host: str) -> bool:
    labels = host.split(".")
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return len(labels) > 1 and all(labels) and not labels[-1][0].isdigit()
    return False


@pytest.mark.parametrize("kinds", [("scheme",), ("www",), ("scheme", "www"), ()])
def test_aliases_are_those_that_urls_say(kinds: tuple[str, ...]) -> None:
    uris = [
        "http://a.example/", "https://www.a.example/x?y", "http://a.example:8080/", "http://h/",
        "http://www.example/", "http://127.0.0.1/", "http://[::1]/", "http://u@a.example/",
        "http://www.www.example/", "http://www2.a.example/a:b@c/", "https://a.b.example/www.x",
    ]  # fmt: skip
    for uri in uris:
        assert aliases_of(uri, *kinds) == expected(uri, *kinds), uri


@given(st.sampled_from(FORMS), st.sampled_from([("scheme",), ("www",), ("scheme", "www")]))
def test_aliases_of_heritrix_own_forms_are_forms(uri: str, kinds: tuple[str, ...]) -> None:
    for alias in aliases_of(uri, *kinds):
        assert heritrix_form(alias) == alias
        assert uri in aliases_of(alias, *kinds)


def test_no_alias_is_too_long() -> None:
    uri = "http://a.example/" + "x" * (MAX_LENGTH - 17)
    assert len(uri) == MAX_LENGTH
    assert aliases_of(uri, "scheme", "www") == set()
    assert len(aliases_of(uri[:-1], "scheme", "www")) == 1


def read(path: Path) -> dict[str, int]:
    lines = [line.split() for line in path.read_text().splitlines()]
    assert len({uri for uri, _ in lines}) == len(lines)
    return {uri: int(precedence) for uri, precedence in lines}


WEB = {
    "http://a.example/": ["https://www.a.example/x", "/y", "http://b.example:8080/", "http://h/"],
    "https://www.a.example/x": ["http://a.example/", "http://127.0.0.1/", "http://a.example/x"],
    "http://b.example:8080/": ["https://b.example/", "http://www.b.example/", "http://[::1]/"],
    "http://www.b.example/": ["http://a.example/y?z=1", "http://a.example/"],
}


@pytest.fixture(scope="module", params=["made", pytest.param("aut", marks=pytest.mark.slow)])
def work(request: pytest.FixtureRequest) -> Path:
    archive = SAMPLE if request.param == "aut" else shared_warc("aliases.warc", WEB)
    return finished(archive, "--aliases", "www,scheme")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("kinds", ["scheme", "www", "scheme,www"])
def test_a_file_with_aliases_has_all_lines_of_the_one_without(
    work: Path, tmp_path: Path, kinds: str
) -> None:
    plain, more = tmp_path / "plain.txt", tmp_path / "more.txt"
    ok("export", "--work", work, "--output", plain, "--aliases", "")
    ok("export", "--work", work, "--output", more, "--aliases", kinds)
    without, lines = read(plain), read(more)
    assert without.items() < lines.items()
    wanted: dict[str, int] = {}
    for uri, precedence in without.items():
        for alias in expected(uri, *kinds.split(",")):
            wanted[alias] = min(precedence, wanted.get(alias, 126))
    assert lines == {**wanted, **without}
    assert [*lines.values()] == sorted(lines.values())
    summary = json.loads(more.with_suffix(".summary.json").read_text())
    assert summary["alias_lines"] == len(lines) - len(without)
    assert summary["uris"] == len(lines) == sum(each["uris"] for each in summary["classes"])
    ok("audit", more)
    if kinds == "scheme,www":
        assert read(work / "precedence.txt") == lines


def test_the_summary_counts_hosts_met_in_one_way(tmp_path: Path) -> None:
    captured = [
        "http://both.example/", "https://both.example/x", "http://www.twin.example/",
        "http://twin.example/", "http://www.one.example:8080/", "https://www.four.example/",
        "http://four.example/",
    ]  # fmt: skip
    scores, uris = tmp_path / "scores.txt", tmp_path / "uris.txt"
    keys = {uri: f"key{number}" for number, uri in enumerate(sorted(captured))}
    scores.write_text("".join(f"1.0\t{uri}\t{key}\n" for uri, key in keys.items()))
    uris.write_text("".join(f"{key}\t{uri}\t1\t0\t-\n" for uri, key in keys.items()))
    ok("step", "export-precedence", scores, "--uris", uris, "--output", tmp_path / "p.txt")
    summary = json.loads((tmp_path / "p.summary.json").read_text())
    names = ("hosts_captured", "hosts_captured_by_one_scheme")
    assert [summary[name] for name in names] == [4, 2]
    assert summary["hosts_captured_with_or_without_www_alone"] == 2


@pytest.mark.parametrize("kinds", ["www.", "scheme,port", "www,www", "scheme www"])
def test_unknown_kinds(kinds: str, tmp_path: Path) -> None:
    given = "--work", finished(LOOPBACK), "--output", tmp_path / "p.txt"
    said = crawlrank("export-precedence", *given, "--aliases", kinds)
    assert said.code == 2
    assert "is not made of scheme, www" in said.err
