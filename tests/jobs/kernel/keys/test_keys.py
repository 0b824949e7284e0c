"""Keys: what the surt package gives, without looking anything up and without ever raising. Where
they differ from it, see test_registered_domains.py."""

from __future__ import annotations

import gzip
import json
import random
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.drawing import examples
from support.inputs.made_uris import PIECES, made_uris
from support.inputs.samples import HOSTILE
from support.paths import DATA, ROOT

from crawlrank.jobs.kernel.keys import keys
from crawlrank.jobs.kernel.keys.keys import (
    Www,
    forgetful_key_function,
    key_function,
    key_of,
    shared_key_function,
)
from crawlrank.jobs.kernel.keys.surt_keys import surt  # as installed, but for the look-ups

key_keeping_www = shared_key_function("keep")
LINKS = gzip.decompress((DATA / "urls" / "links.txt.gz").read_bytes()).splitlines()
TEXTS: list[str] = json.loads(gzip.decompress((DATA / "urls" / "cases.json.gz").read_bytes()))
REAL = LINKS + [text.encode("utf-8", "surrogatepass") for text in TEXTS] + HOSTILE

CASES = {
    b"http://archive.org/about": b"org,archive)/about",
    b"http://www.archive.org/": b"org,archive)/",
    b"https://Archive.ORG:443/About/../": b"org,archive)/",
    b"http://archive.org/search?b=2&a=1": b"org,archive)/search?a=1&b=2",
    b"http://archive.org/index.php?PHPSESSID=0123456789abcdef0123456789abcdef&x=1": (
        b"org,archive)/index.php?x=1"
    ),
    b"http://192.168.1.2/": b"2,1,168,192)/",
    b"http://archive.org:8080/a#b": b"org,archive:8080)/a",
}

PLAIN_SURT = """
import sys, surt
for line in sys.stdin:
    try:
        key = surt.surt(line[:-1])
    except Exception:
        key = None
    print(key if key and all("!" <= c <= "~" for c in key) and key[0] != "@" else "-")
"""


@pytest.mark.parametrize("uri", CASES)
def test_keys_of_everyday_uris(uri: bytes) -> None:
    assert key_of(uri) == CASES[uri]


def expected(uri: bytes, www: Www) -> bytes | None:
    """surt's own answer, None where it fails or what it gives is no field of a line."""
    try:
        key = surt.surt(uri.decode("utf-8", "surrogateescape"), host_massage=www == "surt")
    except (ValueError, AssertionError, AttributeError, TypeError, IndexError):
        return None
    clean = all("!" <= character <= "~" for character in key) and not key.startswith("@")
    return key.encode() if clean else None


def differing(uris: list[bytes], www: Www) -> list[tuple[bytes, bytes | None]]:
    """The URIs of which surt makes another key, and ours."""
    made = forgetful_key_function(www)
    pairs = [(uri, made(uri)) for uri in uris]
    return [(uri, key) for uri, key in pairs if key != expected(uri, www)]


@pytest.mark.parametrize("www", ["surt", "keep"])
def test_keys_of_real_uris_are_those_of_surt(www: Www) -> None:
    assert len(REAL) > 23_000
    drawn = random.Random(www == "keep").sample(REAL, examples(len(REAL)))
    assert differing(drawn, www) == []


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(8))
def test_keys_of_made_uris_are_those_of_surt(seed: int) -> None:
    """80,000 in all of `make test-slow`; by hand, with other seeds, millions."""
    www: Www = "keep" if seed % 2 else "surt"
    assert differing(list(made_uris(examples(10_000), seed, REAL)), www) == []


ANY_PIECES = st.lists(
    st.sampled_from(
        [piece for kind in PIECES.values() for piece in ([*kind.get("usual", ()), *kind["others"]]
         if isinstance(kind, dict) else kind)]
    )
    | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=4),
    max_size=12,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=examples(1000), deadline=None)
@given(st.sampled_from(["http://", "https://", "http://www.a.example/"]), ANY_PIECES)
@example("http://http://www.", ["a.example", "/"])
@example("http://a.example/", ["%", "2", "%35"])
@example("http://a.example/", ["?a!=1", "&a=2", "&a"])
@example("http://a.example/", ["?sid=", "0" * 32, "&id=1"])
@example("http://a.example/", ["(", "a" * 24, ")/b.aspx"])
@example("http://a.example/", ["a//../b"])
@example("http://a.example/", ["%2f%2e%2e%2fb%3f"])
@example("http://www.12.example:80", ["/"])
@example("https://www1.2.3.4:0443", ["/?"])
def test_keys_of_any_pieces_are_those_of_surt(start: str, pieces: list[str]) -> None:
    uri = (start + "".join(pieces)).encode("utf-8", "surrogateescape")
    assert differing([uri], "surt") == []
    assert differing([uri], "keep") == []


def test_nearly_all_links_need_no_surt(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("surt.surt", lambda uri, **options: asked.append(uri))
    made = forgetful_key_function(www="strip")
    for uri in LINKS:
        made(uri)
    assert 0 < len(asked) < len(LINKS) / 100


def test_keeping_www_changes_nothing_else() -> None:
    for uri in REAL:
        folded, kept = key_of(uri), key_keeping_www(uri)
        if folded != kept:
            assert folded and kept
            assert folded == re.sub(rb",www[0-9]*(?=[:)])", b"", kept, count=1), uri


def test_hosts_that_keeping_www_keeps_apart() -> None:
    assert key_keeping_www(b"http://www.archive.org/a") == b"org,archive,www)/a"
    assert key_keeping_www(b"http://www2.archive.org/a") == b"org,archive,www2)/a"
    assert key_keeping_www(b"http://WWW.archive.org:8080/a/") == b"org,archive,www:8080)/a"
    assert key_keeping_www(b"http://archive.org/a") == b"org,archive)/a"


def test_what_is_remembered_is_bounded() -> None:
    memory = key_function(www="strip", remembered=3).__self__  # type: ignore[attr-defined]
    for number in range(10):
        uri = b"http://a%d.example/" % number
        assert memory[uri] == memory[uri] == b"example,a%d)/" % number
        assert len(memory) <= 3
    before = dict(memory)
    assert memory[b"http://a.example/" + b"x" * keys.LONGEST].endswith(b"xx")
    assert memory == before


def test_keys_of_everyday_uris_load_no_surt() -> None:
    """surt brings along an HTTP client, which takes longer to load than a small task to run."""
    code = (
        "import sys\nfrom crawlrank.jobs.kernel.keys.keys import key_of\nkey_of(b'http://a.example/')\n"
        "assert 'surt' not in sys.modules\nkey_of(b'http://1.2.3.4/')\nassert 'surt' in sys.modules"
    )
    root = ROOT
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


def test_surt_loads_no_http_client_and_leaves_its_module_as_it_is() -> None:
    code = (
        "import sys\nfrom crawlrank.jobs.kernel.keys.keys import key_of\nkey_of(b'http://1.2.3.4/')\n"
        "assert 'requests' not in sys.modules and 'tldextract' not in sys.modules\n"
        "import tldextract\n"
        "held = sys.modules['surt.handyurl'].tldextract\n"
        "assert held.extract is tldextract.extract"
    )
    root = ROOT
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)


@pytest.mark.slow
def test_keys_are_those_of_the_surt_package_alone() -> None:
    """Another Python, in which surt is as installed; this package is not on its path."""
    uris = [text for text in TEXTS if re.match("https?:", text) and text.isascii()]
    uris = [text for text in uris if text.isprintable()] + [uri.decode() for uri in LINKS[::10]]
    uris = [u for u in uris if not re.match(r"https?:/*([^/]*@)?[0-9.]+([:/?#]|\Z)", u)]
    plain = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAIN_SURT],
        input="".join(f"{uri}\n" for uri in uris),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    exact = key_function("surt")
    ours = [(exact(uri.encode()) or b"-").decode() for uri in uris]
    assert sum(key != "-" for key in ours) > 2000
    assert list(zip(uris, ours, strict=True)) == list(
        zip(uris, plain.stdout.splitlines(), strict=True)
    )


LOOKED_UP: list[tuple[str, object]] = []
sys.addaudithook(
    lambda event, args: (
        LOOKED_UP.append((event, args))
        if event.startswith(("socket.get", "socket.connect", "socket.send"))
        else None
    )
)


def test_the_watch_on_sockets_sees_a_look_up() -> None:
    before = len(LOOKED_UP)
    socket.gethostbyname_ex("127.0.0.1")
    assert LOOKED_UP[before:] == [("socket.gethostbyname", ("127.0.0.1",))]


def test_nothing_is_looked_up() -> None:
    """Python itself tells of every look-up, whichever module makes it."""
    before = len(LOOKED_UP)
    key_of = key_function(www="strip")  # one that remembers nothing yet
    for host in (
        b"999.1.2.3",
        b"1.2.3.4",
        b"1.2",
        b"1.2.3.4.5",
        b"0x7f.1",
        b"example.com",
        b"1..2",
    ):
        key_of(b"http://%s/page" % host)
    for uri in HOSTILE:
        key_of(uri)
    for text in TEXTS:
        key_of(text.encode("utf-8", "surrogatepass"))
    assert LOOKED_UP[before:] == []


def test_short_addresses_are_read_as_the_c_library_reads_them() -> None:
    assert key_of(b"http://127.1/") == key_of(b"http://127.0.0.1/") == b"1,0,0,127)/"
    assert key_of(b"http://1.2.771/") == b"3,3,2,1)/"
    assert key_of(b"http://999.1.2.3/") == b"3,2,1,999)/"


@given(st.one_of(st.binary(), st.binary().map(lambda rest: b"http://example.com/" + rest)))
@example(b"http://example.com/\x00\x1b\x7f \t\n")
@example(b"http://[::1")
@example(b"http://\xff\xfe/")
@example(b"@http://a/")
@example(b"http://" + b"a." * 500)
@example(b"http://xn--/")
@example(b"")
def test_any_bytes_give_a_clean_key_or_none(uri: bytes) -> None:
    key = key_of(uri)
    assert key is None or re.fullmatch(rb"[!-?A-~][!-~]*", key)


@given(st.text().map(lambda rest: f"http://host.example/{rest}".encode("utf-8", "surrogatepass")))
def test_any_text_gives_a_clean_key_or_none(uri: bytes) -> None:
    key = key_of(uri)
    assert key is None or re.fullmatch(rb"[!-?A-~][!-~]*", key)


def test_keys_made_in_a_process_of_its_own_are_the_same(tmp_path: Path) -> None:
    """The process is like a task of a cluster: another locale, this package found by PYTHONPATH."""
    code = (
        "import sys\nfrom crawlrank.jobs.kernel.keys.keys import key_of\n"
        "print(key_of(sys.argv[1].encode()))"
    )
    uri = "http://www.B.example/?z=1&a=2"
    root = ROOT
    told = subprocess.run(
        [sys.executable, "-c", code, uri],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "LC_ALL": "C"},
    )
    assert told.stdout.strip() == repr(key_of(uri.encode())) == repr(b"example,b)/?a=2&z=1")
    assert told.stderr == ""
