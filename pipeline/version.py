"""The version of this package."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(1)  # a run asks for it with each step
def crawlrank_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # few commands need it

    try:
        return version("crawlrank")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"
