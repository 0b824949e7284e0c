"""WAT: the links of the WARC that it was made from; whatever JSON is in it."""

from __future__ import annotations

import json
import runpy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.inputs.archive_samples import extracted, page, warc
from support.inputs.samples import needs_reference
from support.paths import DATA, REFERENCE, SCRIPTS

from crawlrank.jobs.kernel.formats.lines import (
    format_capture,
    format_link,
    parse_capture,
    parse_link,
)

URI = "http://example.com/d/p"


def wat(
    payload: dict[str, Any], kind: str = "response", header: dict[str, Any] | None = None
) -> bytes:
    about = {
        **{"WARC-Type": kind, "WARC-Target-URI": URI, "WARC-Date": "2024-05-06T07:08:09Z"},
        **{"WARC-Record-ID": "<urn:uuid:1>", "Content-Type": "application/http"},
        **(header or {}),
    }
    return enveloped({"WARC-Header-Metadata": about, "Payload-Metadata": payload})


def enveloped(envelope: object) -> bytes:
    text = json.dumps({"Container": {"Offset": "7"}, "Envelope": envelope}).encode()
    return warc(text, URI, "metadata", media_type="application/json")


def a_page(metadata: dict[str, Any], status: object = "200", **headers: object) -> bytes:
    http = {
        "Response-Message": {"Status": status},
        "Headers": {"Content-Type": "text/html; charset=utf-8", **headers},
        "HTML-Metadata": metadata,
    }
    return wat({"HTTP-Response-Metadata": http})


def links(*entries: dict[str, str], **head: object) -> bytes:
    return a_page({"Links": list(entries), "Head": head})


def found(data: bytes, **options: object) -> list[tuple[str, str]]:
    return [(x.target.decode(), x.hop.decode()) for x in extracted(data, links="all", **options)[0]]


def test_a_capture() -> None:
    data = wat(
        {"HTTP-Response-Metadata": {"Response-Message": {"Status": "404"}, "Headers": {}}},
        header={"WARC-Payload-Digest": "sha1:A"},
    )
    _, captures, damage, counters = extracted(page("x") + data)
    where = str(len(page("x"))).encode()
    assert captures[1] == (
        *(URI.encode(), b"20240506070809", b"404", b"-", b"sha1:A", b"response"),
        *(b"test.warc", where, *[b"-"] * 9),
    )
    assert (damage, counters["records.response"]) == ([], 2)


def test_links_as_of_a_page() -> None:
    tags = """<base href="../b/"><meta http-equiv="refresh" content="0; URL=r">
    <a href=" a&amp;b "></a><a href=""></a><a href="n" rel="nofollow"></a><area href="h">
    <img src="i"><iframe src="f"></iframe><script src="s"></script><link rel="stylesheet" href="c">
    <link rel="preconnect" href="http://p/"><link rel="next" href="x"><form action="q"></form>
    <table><tr><td background="t"></table><body background="y"><a href="caf\u00e9?\u00e9"></a>
    <input type="image" src="z"><video src="v" poster="w"></video><a href="&quot;"></a>"""
    data = links(
        *({"path": "A@/href", "url": url} for url in (" a&amp;b ", "")),
        {"path": "A@/href", "url": "n", "rel": "nofollow"},
        *({"path": "AREA@/href", "url": "h"}, {"path": "IMG@/src", "url": "i", "alt": ">"}),
        *({"path": "IFRAME@/src", "url": "f"}, {"path": "FORM@/action", "url": "q"}),
        *({"path": "TD@/background", "url": "t"}, {"path": "BODY@/background", "url": "y"}),
        *({"path": "A@/href", "url": "caf\u00e9?\u00e9"}, {"path": "INPUT@/src", "url": "z"}),
        *({"path": "VIDEO@/src", "url": "v"}, {"path": "VIDEO@/poster", "url": "w"}),
        *({"path": "A@/href", "url": '"'}, {"path": "DIV@/onclick", "url": "no"}),
        Base="../b/",
        Metas=[{"http-equiv": "refresh", "content": "0; URL=r"}],
        Link=[
            {"path": "LINK@/href", "rel": "stylesheet", "url": "c"},
            {"path": "LINK@/href", "rel": "preconnect", "url": "http://p/"},
            {"path": "LINK@/href", "rel": "next", "url": "x"},
        ],
        Scripts=[{"path": "SCRIPT@/src", "url": "s"}],
    )
    for options in ({}, {"forms": True}, {"nofollow": "drop"}, {"outlinks": "html"}):
        expected = found(page(tags, URI), **options)
        assert sorted(found(data, **options)) == sorted(expected)
        assert len(expected) >= 15
    assert ("http://example.com/b/a&b", "L") in found(data)


def test_queries_in_the_charset_of_the_page() -> None:
    entry = {"path": "A@/href", "url": "?\u00e9"}
    metas = [{"http-equiv": "Content-Type", "content": "text/html; charset=iso-8859-1"}]
    for charset, query in (("utf-8", "%C3%A9"), ("iso-8859-1", "%E9"), ("utf-16", "%C3%A9")):
        header = {"Content-Type": f"text/html; charset={charset}"}
        data = a_page({"Links": [entry]}, **header)
        assert found(data) == [(f"{URI}?{query}", "L")]
    data = a_page({"Links": [entry], "Head": {"Metas": metas}}, **{"Content-Type": "text/html"})
    assert found(data) == [(f"{URI}?%E9", "L")]


def test_frames_and_styles() -> None:
    frames = links({"path": "FRAME@/src", "url": "f"}, {"path": "A@/href", "url": "no"})
    assert found(frames) == [("http://example.com/d/f", "E")]
    assert len(extracted(frames)[0]) == 1  # nav keeps it
    style = links(
        {"path": "STYLE/#text", "href": 's".css'}, {"path": "STYLE/#text", "href": "</style>"}
    )
    assert found(style) == [
        ("http://example.com/d/s%22.css", "E"),
        ("http://example.com/d/%3C/style%3E", "E"),
    ]


def test_a_redirect_and_other_types() -> None:
    assert found(a_page({}, "302", location="../r")) == [("http://example.com/r", "R")]
    assert found(a_page({}, "302", Location=["/1", "/2"])) == [("http://example.com/1", "R")]
    other = {"Links": [{"path": "A@/href", "url": "a"}]}
    assert found(a_page(other, **{"Content-Type": "application/zip"})) == []
    assert found(a_page(other, "404")) == []


def test_outlinks_of_metadata_records() -> None:
    records = [
        {"Name": "outlink", "Value": "http://h/a L a/@href"},
        {"Name": "outlink", "Value": "http://h/b E img/@src\nx"},
        {"Name": "fetchTimeMs", "Value": "3"},
    ]
    payload = {"WARC-Metadata-Metadata": {"Metadata-Records": records}}
    header = {"Content-Type": "application/warc-fields", "WARC-Concurrent-To": "<urn:uuid:1>"}
    about = wat(payload, "metadata", header)
    assert found(about) == [("http://h/a", "L"), ("http://h/b", "E")]
    of_page = links({"path": "A@/href", "url": "a"})
    assert found(of_page + about) == found(about + of_page) == [("http://example.com/d/a", "L")]
    assert len(found(of_page + about, outlinks="both")) == 3
    missing = a_page({}, "404")
    assert found(missing + about) == []


def test_an_archive_of_heritrix_is_known_as_one() -> None:
    """Its hosts are of IDNA 2003."""
    linked = links({"path": "A@/href", "url": "http://fa\u00df.test/"})
    own = warc(b"software: ia-web-commons", "", "warcinfo", media_type="application/warc-fields")
    info = {"WARC-Info-Metadata": {"software": "Heritrix/3.4.0 http://crawler.archive.org"}}
    described = wat(info, "warcinfo", {"Content-Type": "application/warc-fields"})
    assert found(own + described + linked) == [("http://fass.test/", "L")]
    assert found(own + linked) == [("http://xn--fa-hia.test/", "L")]


def test_an_arc() -> None:
    header = {"Target-URI": URI, "Date": "20240506070809", "Content-Type": "text/html"}
    page_ = {"Links": [{"path": "A@/href", "url": "a"}]}
    http = {"Response-Message": {"Status": "200"}, "Headers": {"Content-Type": "text/html"}}
    payload = {"HTTP-Response-Metadata": {**http, "HTML-Metadata": page_}}
    data = enveloped({"ARC-Header-Metadata": header, "Payload-Metadata": payload})
    assert found(data) == [("http://example.com/d/a", "L")]
    filedesc = {"ARC-Header-Metadata": {**header, "Target-URI": "filedesc:/x.arc"}}
    assert extracted(data + enveloped(filedesc))[3]["records.warcinfo"] == 1


def test_records_without_links_are_counted() -> None:
    for kind in ("request", "conversion", "warcinfo", "resource"):
        counters = extracted(wat({}, kind))[3]
        assert counters[f"records.{kind}"] == 1
        assert counters["captures"] == (kind == "resource")


BAD = {
    "cut": b'{"Envelope": {',
    "deep": b'{"Envelope": ' + b"[" * 100_000,
    "number": b'{"Envelope": ' + b"9" * 10_000 + b"}",
    "not UTF-8": b'{"Envelope": "\xff"}',
}


@pytest.mark.parametrize("name", BAD)
def test_bad_json_is_damage(name: str) -> None:
    record = warc(BAD[name], URI, "metadata", media_type="application/json")
    _, captures, damage, _ = extracted(record + page("x"))
    assert len(captures) == 1
    assert [item.reason for item in damage] == ["bad-wat"]
    assert damage[0].detail.isprintable()


def test_other_json_is_no_wat() -> None:
    for text in (b"{}", b'{"Envelope": []}', b'["Envelope"]', b"no JSON"):
        record = warc(text, URI, "metadata", media_type="application/json")
        links_, captures, damage, counters = extracted(record)
        assert (links_, captures, damage) == ([], [], [])
        assert counters["records.metadata"] == 1


NAMES = st.sampled_from(
    ["path", "url", "href", "Links", "Head", "Metas", "Base", "Link", "Scripts", "rel", "content"]
)
TEXT = st.one_of(st.text(max_size=9), st.sampled_from(["A@/href", "STYLE/#text", "FRAME@/src"]))
ANY = st.recursive(
    st.one_of(st.none(), st.integers(), st.booleans(), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=9,
)
LINKS = st.lists(st.dictionaries(NAMES, st.one_of(TEXT, ANY), max_size=4), max_size=4)


@given(ANY, LINKS, ANY)
def test_any_json_gives_lines(any_: object, entries: object, headers: object) -> None:
    head = {"Link": entries, "Metas": entries, "Base": any_}
    http = {
        "Headers": headers,
        "Response-Message": any_,
        "HTML-Metadata": {"Links": entries, "Head": head},
    }
    for payload in (any_, {"HTTP-Response-Metadata": http}, {"HTML-Metadata": any_}):
        envelope = {"Payload-Metadata": payload, "WARC-Header-Metadata": {"WARC-Type": "response"}}
        about = {"WARC-Target-URI": URI, "Content-Type": "text/html", "WARC-Date": any_}
        envelope["WARC-Header-Metadata"].update(about)  # type: ignore[attr-defined]
        given_, captures, damage, _ = extracted(enveloped(envelope), links="all")
        assert damage == []
        assert len(captures) == 1
        assert all(parse_link(format_link(link)) == link for link in given_)
        assert all(parse_capture(format_capture(capture)) == capture for capture in captures)


@pytest.mark.parametrize("outlinks", ["auto", "html", "metadata", "both"])
def test_the_wat_of_a_crawl_by_heritrix(outlinks: str) -> None:
    both = [
        extracted((DATA / "heritrix" / f"first.{kind}.gz").read_bytes(), outlinks=outlinks)
        for kind in ("warc", "wat")
    ]
    if outlinks != "html":  # bodies of style sheets are in no WAT, their outlinks are
        assert set(both[0][0]) == set(both[1][0])
    assert len(both[1][0]) > 50
    same = [[capture[:7] for capture in captures] for _, captures, _, _ in both]
    assert same[0] == same[1]


NOT_IN_WAT = ("feed", "robots", "td/@style")
SCRIPT = SCRIPTS / "compare" / "compare_wat.py"


@needs_reference
@pytest.mark.slow
def test_the_table_of_differences() -> None:
    """compare_wat.py printed the table: a WAT has nothing of its own, and all but a few."""
    script = runpy.run_path(str(SCRIPT))
    lines = (DATA / "wat_table.tsv").read_text().splitlines()
    made = [script["HEADER"]]
    for pair in script["PAIRS"].items():
        made += script["rows"](REFERENCE / "archives", *pair)
    assert made == lines
    for line in lines[1:]:
        _, _, category, both, only_warc, only_wat = line.split("\t")
        assert int(only_wat) == 0
        assert category in NOT_IN_WAT or int(only_warc) <= min(7, int(both) // 30)
