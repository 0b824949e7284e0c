"""What readers of hostile text remember is short, so that no archive can fill the memory."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crawlrank.jobs import kernel
from crawlrank.jobs.kernel.archive.http_payload import content_type, media_type, status_of
from crawlrank.jobs.kernel.links.reference_kinds import elsewhere, kind_of

pytestmark = pytest.mark.pure  # what mypyc compiles is not looked into

SIZE = 1 << 16
#: calls with text of an archive that is far too long, each with what they give. x: a letter
CALLS: list[tuple[Callable[[str], Any], Any]] = [
    (lambda x: media_type((f"text/html; {x * SIZE}",)), "text/html"),
    (lambda x: media_type((f"{x}/html", *[f"a/{x}"] * SIZE))[:2], "a/"),
    (lambda x: media_type(("",) * SIZE), ""),
    (lambda x: content_type([("content-type", f"a/b, {x * SIZE}"), ("content-type", x)]), "a/b"),
    (lambda x: status_of(f"HTTP/1.1 200 {x * SIZE}"), 200),
    (lambda x: status_of(f"HTTP/1.1{' ' * SIZE}404 {x}"), 404),
    (lambda x: kind_of(f"http://a/{x * SIZE}".encode(), f"http://a/{x * SIZE}".encode()), b"-"),
    (lambda x: kind_of(b"", f"{elsewhere('http://a/')[:-2]}{x * SIZE}".encode()), b"0.1"),
]


def caches() -> Iterator[Any]:
    """All caches of functions in jobs/kernel."""
    for module in pkgutil.walk_packages(kernel.__path__, f"{kernel.__name__}."):
        yield from (
            value for value in vars(importlib.import_module(module.name)).values()
            if hasattr(value, "cache_info")
        )  # fmt: skip


@pytest.mark.parametrize(("call", "expected"), CALLS)
def test_long_text_is_read_and_not_remembered(call: Callable[[str], Any], expected: Any) -> None:
    before = [cache.cache_info().currsize for cache in caches()]
    assert call("x") == call("y") == expected
    assert [cache.cache_info().currsize for cache in caches()] == before


def test_short_text_is_remembered() -> None:
    status_of("HTTP/1.1 299 remembered")
    before = sum(cache.cache_info().hits for cache in caches())
    assert status_of("HTTP/1.1 299 remembered") == 299
    assert sum(cache.cache_info().hits for cache in caches()) == before + 1
