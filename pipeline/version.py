"""The version of this package, and which form of its extraction is installed."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(1)  # a run asks for it with each step
def crawlrank_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # few commands need it

    try:
        return version("crawlrank")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"


def extraction_form() -> str:
    """`compiled` where mypyc has compiled extraction, else `Python`."""
    from importlib.machinery import EXTENSION_SUFFIXES
    from importlib.util import find_spec

    spec = find_spec("crawlrank.jobs.kernel.captures.extraction")
    origin = (spec and spec.origin) or ""
    return "compiled" if origin.endswith(tuple(EXTENSION_SUFFIXES)) else "Python"
