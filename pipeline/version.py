"""The version of this package."""

from __future__ import annotations


def crawlrank_version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # few commands need it

    try:
        return version("crawlrank")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"
