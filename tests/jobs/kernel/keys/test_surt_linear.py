"""The functions that stand for surt's own: equal to those on drawn input, and fast on hostile."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import time
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from surt import GoogleURLCanonicalizer, IAURLCanonicalizer

from crawlrank.jobs.kernel.keys import surt_keys
from crawlrank.jobs.kernel.keys.surt_keys import surt_key


def own(name: str) -> ModuleType:
    """A module of surt as it comes, beside the one that is in use."""
    spec = importlib.util.find_spec(f"surt.{name}")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert sys.modules[f"surt.{name}"] is not module
    return module


GOOGLE, TRANSFORMER = own("GoogleURLCanonicalizer"), own("URLRegexTransformer")
ESCAPES = st.lists(
    st.sampled_from(["%", "25", "2", "5", "%25", "%41", "%4", "1", "%2f", "g", "%zz", "\xe9"])
).map("".join)
PATHS = st.lists(st.sampled_from(["/", ".", "..", "a", "//", "b.c", ""])).map("".join)
ID = "0123456789abcdefghijklmn"
# surt has escaped ends of lines by then
QUERIES = st.lists(
    st.sampled_from(
        ["cfid=", "cftoken=", "&", "1", "CFID=x", "&cftoken=y", "sid=" + "0" * 32, "a=b"]
    ),
    max_size=20,
).map("".join)
SCRIPTS = st.lists(
    st.sampled_from(["/", f"({ID})/", f"(S({ID}))/", "x.aspx", ".ASPX", "?", "a", "("])
).map("".join)


@given(ESCAPES)
@example("%" + "25" * 30 + "41")
@example("%%33%35" * 9 + "%25252525252525252525252541")
def test_escapes(text: str) -> None:
    data = text.encode()
    assert surt_keys.unescaped(data) == GOOGLE.unescapeRepeatedly(data)
    assert surt_keys.unescaped(text) == GOOGLE.unescapeRepeatedly(text)


@given(PATHS)
def test_paths(path: str) -> None:
    assert surt_keys.normal_path(path.encode()) == GOOGLE.normalizePath(path.encode())


@given(QUERIES)
@example("a=1&CFID=2&CFTOKEN=3&b=4")
@example("cfid=1&cftoken=2&cfid=&cftoken=3")
def test_ids_of_queries(query: str) -> None:
    data = query.encode()
    assert IAURLCanonicalizer.stripQuerySessionID(data) == TRANSFORMER.stripQuerySessionID(data)


@given(SCRIPTS)
@example(f"/a/({ID})/x.aspx/({ID})/y")
def test_ids_of_paths(path: str) -> None:
    data = path.encode()
    assert IAURLCanonicalizer.stripPathSessionID(data) == TRANSFORMER.stripPathSessionID(data)


REPLACED = {
    "unescapeRepeatedly": GoogleURLCanonicalizer,
    "normalizePath": GoogleURLCanonicalizer,
    "stripQuerySessionID": IAURLCanonicalizer,
    "stripPathSessionID": IAURLCanonicalizer,
}


def test_surt_gives_what_the_types_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled functions raise TypeError for any other type, and the page would have no key."""
    given_types, wrong = set[tuple[str, type]](), list[tuple[str, object]]()

    def checked(name: str, function: Any) -> Any:
        (parameter,) = inspect.signature(function).parameters
        allowed = get_type_hints(function)[parameter]

        def called(value: object) -> object:
            given_types.add((name, type(value)))
            if not isinstance(value, get_args(allowed) or allowed):
                wrong.append((name, value))  # surt_key takes an AssertionError for one of surt
            return function(value)

        return called

    for name, module in REPLACED.items():
        monkeypatch.setattr(module, name, checked(name, getattr(module, name)))
    for host in ("h.org", "%25", "1.2", "h.org:8080", "u:p@h.org", "", "[::1]"):
        for path in ("", "/", "/A/../b", "//", f"/({ID})/x.aspx"):
            for query in ("", "?", "?a=b", "?sid=" + "0" * 32, "#f", ";j=1"):
                for scheme in ("http://", "https://", "http:", "ftp://", ""):
                    surt_key(f"{scheme}{host}{path}{query}".encode(), keep_www=False)
    assert not wrong
    assert ("normalizePath", type(None)) in given_types
    assert {name for name, _ in given_types} == {*REPLACED}


HOSTILE = {
    "escapes of escapes": "http://h.org/%" + "25" * 4000 + "/",
    "ids of sessions": "http://h.org/?" + "cfid=" * 1600,
    "tokens of sessions": "http://h.org/?" + "&cftoken=" * 900,
    "names above": "http://h.org" + "/a" * 2000 + "/.." * 1300,
    "ids of scripts": "http://h.org/a.aspx" + f"/({ID})" * 290,
    "slashes": "http://h.org" + "/" * 8000 + "#",
}


@pytest.mark.parametrize("uri", HOSTILE.values(), ids=HOSTILE)
def test_hostile_uris(uri: str) -> None:
    """5 ms each at the very most; surt took 15 to 30."""
    began = time.process_time()
    for number in range(100):
        surt_key(f"{uri}{number}".encode(), keep_www=False)
    assert time.process_time() - began < 1.5
