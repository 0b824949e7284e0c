"""URIs: resolved as browsers do, safe in a line and on a terminal, bounded."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.paths import DATA

from crawlrank.jobs.kernel.keys.uris import LONGEST, as_crawled, escape, field, resolve

BREAKING = {"Cc", "Cf", "Zs", "Zl", "Zp", "Cs"}


def test_every_breaking_character_of_unicode_is_escaped() -> None:
    for code in range(0x110000):
        if unicodedata.category(chr(code)) in BREAKING:
            assert escape(chr(code)).isascii()


@given(st.text())
def test_what_is_escaped_is_one_printable_word(text: str) -> None:
    escaped = escape(text)
    assert not any(unicodedata.category(character) in BREAKING for character in escaped)
    assert len(escaped.split()) == len(escaped.splitlines()) == (1 if text else 0)
    assert escape(escaped) == escaped


ESCAPED = {
    "http://h/a b": "http://h/a%20b",
    "http://h/\x1b[31m": "http://h/%1B[31m",
    "http://h/é一": "http://h/é一",
    "\u202egpj": "%E2%80%AEgpj",
    "\u2028": "%E2%80%A8",
    "\ud800": "%EF%BF%BD",
    "%0a": "%0a",
}


@pytest.mark.parametrize("text", ESCAPED)
def test_escapes(text: str) -> None:
    assert escape(text) == ESCAPED[text]


AS_CRAWLED: dict[str, bytes | str] = {
    "http://h/a#b": b"http://h/a",
    "HTTP://H:80/../a?b#c#d": b"HTTP://H:80/../a?b",
    "https://h": b"https://h",
    "http://h/a\tb\nc": b"http://h/a%09b%0Ac",
    "http://h/\xe9": b"http://h/\xc3\xa9",
    "dns:h": "scheme.other",
    "mailto:a@h": "scheme.mailto",
    "data:,x": "scheme.data",
    "JavaScript:x": "scheme.javascript",
    "http:///a": "invalid",
    "http:h": "invalid",
    "h/a": "invalid",
    "": "invalid",
    "http://h/" + "a" * LONGEST: "too-long",
    "http://h/" + "\u2028" * 1000: "too-long",
}


@pytest.mark.parametrize("uri", AS_CRAWLED)
def test_as_crawled(uri: str) -> None:
    assert as_crawled(uri) == AS_CRAWLED[uri]


RESOLVED: dict[str, bytes | str] = {
    "/a b#c": b"http://h/a%20b",
    "": b"http://h/d/e",
    "#top": b"http://h/d/e",
    "?q": b"http://h/d/e?q",
    "//B.example:80/x/../y": b"http://b.example/y",
    " \n http://x/ \t": b"http://x/",
    "ht\ntp://x/": b"http://x/",
    "http:f": b"http://h/d/f",
    "http://bücher.example/é": b"http://xn--bcher-kva.example/%C3%A9",
    "http://[": "invalid",
    "http://a b/": "invalid",
    "java\nscript:alert(1)": "scheme.javascript",
    " javascript:alert(1)": "scheme.javascript",
    "MAILTO:a@h": "scheme.mailto",
    "data:" + "x" * 10**6: "scheme.data",
    "ftp://h/": "scheme.other",
    "localhost:8080/a": "scheme.other",
    "/" + "a" * LONGEST: "too-long",
    "/" + "a" * 10**6: "too-long",
}


@pytest.mark.parametrize("reference", RESOLVED)
def test_resolve(reference: str) -> None:
    assert resolve(reference, "http://h/d/e#f") == RESOLVED[reference]


def test_absolute_references_need_no_base() -> None:
    assert resolve("http://x/a", "http://no host/") == b"http://x/a"
    assert resolve("a", "http://no host/") == "invalid"


def test_queries_are_in_the_charset_of_their_page() -> None:
    assert resolve("/é?é#é", "http://h/", "cp1252") == b"http://h/%C3%A9?%E9"
    assert resolve("?一&b", "http://h/", "cp1252") == b"http://h/?%26%2319968%3B&b"
    assert resolve("?一", "http://h/", "gb18030") == b"http://h/?%D2%BB"


@given(st.text(), st.sampled_from(["http://h/d/e", "https://[::1]:8/?x", "nonsense"]))
def test_what_resolves_is_an_http_uri_in_one_word(reference: str, base: str) -> None:
    target = resolve(reference, base)
    if isinstance(target, bytes):
        assert target.startswith((b"http://", b"https://"))
        assert target.isascii()
        assert len(target.split()) == 1
        assert b"#" not in target
        assert resolve(target.decode(), "http://other/") == target


WPT = json.loads((DATA / "wpt" / "urltestdata.json").read_text())
# The standard refuses these hosts, as what follows xn-- is no Punycode. ada, as some browsers,
# keeps them: such a link leads to no host in either case.
NOT_PUNYCODE = {
    *(f"http://{host}" for host in ("a.b.c.xn--pokxncvks", "a.b.c.XN--pokxncvks")),
    *(f"http://{host}" for host in ("a.b.c.Xn--pokxncvks", "10.0.0.xn--pokxncvks")),
    *(f"http://{host}" for host in ("10.0.0.XN--pokxncvks", "10.0.0.xN--pokxncvks")),
    "https://xn--/",
}


def test_the_cases_of_the_whatwg() -> None:
    tried = {"http": 0, "failure": 0, "other": 0}
    for case in WPT:
        if not isinstance(case, dict):
            continue
        href, found = case.get("href", ""), resolve(case["input"], case["base"] or "")
        if href.startswith(("http://", "https://")):
            assert found == href.partition("#")[0].encode()
            tried["http"] += 1
        elif case.get("failure"):
            assert isinstance(found, str) or case["input"] in NOT_PUNYCODE
            tried["failure"] += 1
        else:
            assert str(found).startswith("scheme.")
            tried["other"] += 1
    assert tried == {"http": 229, "failure": 273, "other": 367}


MANY = st.sampled_from(
    ["/", "//", "http://", "https://", "http:/", "/\t/", "/\\", "?", "#", "..", "x"]
)
BASES = [
    "http://h/d/e?f",
    "https://u:p@h:8/d/",
    "http://h",
    "http://h?q/x",
    "http:/h/x",
    "nonsense",
]


@given(st.lists(MANY, max_size=4).map("".join), st.sampled_from(BASES))
def test_what_is_remembered_is_what_would_be_found(reference: str, base: str) -> None:
    long = reference + "#" + "x" * 256  # is not remembered
    assert resolve(reference, base) == resolve(long, base)


def test_fields() -> None:
    assert field(" text/html\t\x1b") == b"text/html%09%1B"
    assert field("") == field("  ") == b"-"
    assert field("a" * 999) == b"a" * 256


@pytest.mark.parametrize(
    ("host", "refused"),
    [("a" * 255 + ":8080", False), ("中" * 255, False), ("%E4%B8%AD" * 255, False),
     ("中" * 300, True), ("%E4%B8%AD" * 300, True), ("a." * 200, True)],
)  # fmt: skip
def test_a_host_that_no_name_server_knows(host: str, refused: bool) -> None:
    for user in ("", "u:p@", "a" * 300 + "@"):
        uri = as_crawled(f"http://{user}{host}/" + "x" * 300)
        assert (uri == "too-long") == refused
