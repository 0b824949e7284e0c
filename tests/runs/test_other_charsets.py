"""Links whose query is in the charset of their page, in archives that do not say what wrote them:
what was captured decides."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from support.crawls import ok
from support.inputs.archive_samples import plain, warc
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.keys.heritrix_form import heritrix_form

HOST = "http://a.example"
CHARSETS = {"iso-8859-1": "café", "shift_jis": "表示", "gbk": "中文", "windows-1251": "поиск"}
OPTIONS = ("--no-validate", "--quiet", "--iterations", 2, "--jobs", 1, "--bins", 4)


def escaped(text: str, charset: str) -> str:
    return "".join(chr(b) if b < 0x80 else f"%{b:02X}" for b in text.encode(charset))


def page(path: str, html: str = "", charset: str = "utf-8", date: str = "2024-05-06") -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={charset}\r\n\r\n"
    record = warc(head.encode() + html.encode(charset), HOST + path)
    return record.replace(b"2024-05-06", date.encode())


def crawl(captured: str) -> bytes:
    """captured: of the queries' pages, in utf-8, in the charset of the page, both or none."""
    records = [page("/", "".join(f'<a href="/in/{name}">x</a>' for name in CHARSETS))]
    for charset, word in CHARSETS.items():
        link = f'<a href="/find?q={word}">x</a>'
        records.append(page(f"/in/{charset}", link, charset))
        if captured in ("utf-8", "both"):
            records.append(page(f"/find?q={quote(word)}", '<a href="/">x</a>'))
        if captured in ("page", "both"):
            records.append(page(f"/find?q={escaped(word, charset)}", '<a href="/">x</a>'))
    return plain(records)


def ranked(folder: Path, *options: object) -> dict[str, bytes]:
    """The recipe's files of both engines, which are the same."""
    files = []
    for runner in ("embedded", "inline"):
        work = folder / runner
        ok("run", folder / "crawl.warc", "--work", work, "--runner", runner, *OPTIONS, *options)
        ok("export", "--format", "text", "--work", work, "--out", folder / f"{runner}-text")
        files.append(
            {path.name: path.read_bytes() for path in (folder / f"{runner}-text").iterdir()}
        )
    counters = [
        manifest_of(folder / r)["steps"]["canonicalize"]["counters"] for r in ("embedded", "inline")
    ]
    assert [{n: c for n, c in each.items() if "fold" in n} for each in counters] == [
        {n: c for n, c in counters[0].items() if "fold" in n}
    ] * 2
    for name in files[0].keys() - {"links.txt"}:
        assert files[0][name] == files[1][name], name
    return files[0]


def precedences(files: dict[str, bytes]) -> dict[str, int]:
    lines = (line.split() for line in files["precedence.txt"].decode().splitlines())
    return {uri.removeprefix(HOST): int(number) for uri, number in lines}


CHOICES = ((), ("--captures", "latest"), ("--keep-www",), ("--nodes", "all"))
CAPTURED = ("utf-8", "page", "both", "none")
#: each value of both once
USUAL = [("utf-8", CHOICES[0]), ("page", CHOICES[1]), ("both", CHOICES[3]), ("none", CHOICES[2])]
REST = [case for case in product(CAPTURED, CHOICES) if case not in USUAL]


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("captured", "options"),
    [*USUAL, *(pytest.param(*case, marks=pytest.mark.slow) for case in REST)],
)
def test_what_was_captured_decides(captured: str, options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "crawl.warc").write_bytes(crawl(captured))
    files = ranked(tmp_path, *options)
    scored = {
        line.split("\t")[1].removeprefix(HOST)
        for line in files["score_uri.txt"].decode().splitlines()
    }
    nodes = files["map.txt"].decode()
    listed = precedences(files)
    for charset, word in CHARSETS.items():
        utf_8, own = f"/find?q={quote(word)}", f"/find?q={escaped(word, charset)}"
        if captured == "utf-8":
            assert utf_8 in scored
            assert own not in scored
            form = heritrix_form(HOST + own).removeprefix(HOST)
            assert listed[utf_8] == listed[form]  # a spelling of the same page
        else:
            assert own in scored
            assert (utf_8 in listed) == (captured == "both")
    entry = manifest_of(tmp_path / "embedded")["steps"]["canonicalize"]["counters"]
    assert entry.get("folds.charset", 0) == (len(CHARSETS) if captured == "utf-8" else 0)
    said = ok("explain", "--work", tmp_path / "inline", HOST + "/find?q=caf%E9").out
    assert ("a link in the charset of its page that is one with it" in said) == (
        captured == "utf-8"
    )
    assert nodes.count("/find?") == len(CHARSETS) * (1 + (captured == "both" and "all" in options))


@pytest.mark.slow
def test_a_query_that_may_be_two_pages_is_left(tmp_path: Path) -> None:
    """It is the same bytes in windows-1251 and in koi8-r, both captured in UTF-8."""
    raw = "поиск".encode("windows-1251")
    texts = [raw.decode(charset) for charset in ("windows-1251", "koi8-r")]
    records = [
        page("/", '<a href="/in">x</a>'),
        page("/in", f'<a href="/find?q={texts[0]}">x</a>', "windows-1251"),
    ]
    records += [page(f"/find?q={quote(text)}") for text in texts]
    (tmp_path / "crawl.warc").write_bytes(plain(records))
    files = ranked(tmp_path)
    entry = manifest_of(tmp_path / "embedded")["steps"]["canonicalize"]["counters"]
    assert entry["unfolded.ambiguous"] == 1
    assert files["map.txt"].count(b"/find?") == 1


@pytest.mark.slow
def test_a_page_that_redirects_or_is_gone_now(tmp_path: Path) -> None:
    """The captured spelling folds further."""
    word = quote("café")
    moved = warc(b"HTTP/1.1 301 X\r\nLocation: /new\r\n\r\n", f"{HOST}/find?q={word}")
    records = [
        page("/", '<a href="/in">x</a>'), page("/in", '<a href="/find?q=café">x</a>', "iso-8859-1"),
        moved, page("/new"),
    ]  # fmt: skip
    (tmp_path / "crawl.warc").write_bytes(plain(records))
    files = ranked(tmp_path, "--fold", "redirects")
    listed = precedences(files)
    assert listed["/find?q=caf%E9"] == listed[f"/find?q={word}"] == listed["/new"]
    assert b"/find?" not in files["map.txt"]


@pytest.mark.parametrize("gone", ["last", "drop"])
def test_a_page_that_is_gone(gone: str, tmp_path: Path) -> None:
    """Its spelling in another charset is gone with it."""
    word = quote("café")
    records = [
        page("/", '<a href="/in">x</a>'), page("/in", '<a href="/find?q=café">x</a>', "iso-8859-1"),
        warc(b"HTTP/1.1 404 X\r\n\r\n", f"{HOST}/find?q={word}"),
    ]  # fmt: skip
    (tmp_path / "crawl.warc").write_bytes(plain(records))
    files = ranked(tmp_path, "--captures", "latest", "--gone", gone)
    listed = precedences(files)
    assert {uri for uri in listed if "find" in uri} == (
        {f"/find?q={word}"} if gone == "last" else set()
    )
    assert b"/find?" not in files["map.txt"]
