"""Keys: what the surt package gives, without looking anything up and without ever raising."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from samples import HOSTILE, REFERENCE, needs_reference

from jobs.kernel.keys import key_of

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


def real_uris() -> list[str]:
    """URIs of the reference data that are text of one line and name no host of digits and dots."""
    found = {line.split("\t")[0] for line in (REFERENCE / "heritrix/uuri.tsv").open()}
    cases = json.loads((REFERENCE / "urls/wpt-urltestdata.json").read_text())
    found |= {case["input"] for case in cases if isinstance(case, dict)}
    for path in (REFERENCE / "urls").glob("urlcanon-*.json"):
        found |= set(json.loads(path.read_text()))
    return sorted(u for u in found if re.match("https?:", u) and u.isprintable() and u.isascii())


@needs_reference
def test_keys_are_those_of_the_surt_package_alone() -> None:
    """Another Python, in which surt is as installed; this package is not on its path."""
    uris = [u for u in real_uris() if not re.match(r"https?:/*([^/]*@)?[0-9.]+([:/?#]|\Z)", u)]
    plain = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAIN_SURT],
        input="".join(f"{uri}\n" for uri in uris),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    ours = [(key_of(uri.encode()) or b"-").decode() for uri in uris]
    assert len(uris) > 2000
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
    key_of.cache_clear()
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
    if REFERENCE.is_dir():
        for text in real_uris():
            key_of(text.encode())
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
    """As in the task of a cluster: another locale, this package found by PYTHONPATH."""
    code = "import sys\nfrom jobs.kernel.keys import key_of\nprint(key_of(sys.argv[1].encode()))"
    uri = "http://www.B.example/?z=1&a=2"
    root = Path(__file__).resolve().parents[1]
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
