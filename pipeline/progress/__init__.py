"""The progress of a run, for people and programs."""

from __future__ import annotations

from crawlrank.pipeline.progress.choosing import reporter
from crawlrank.pipeline.progress.reporter import Reporter

__all__ = ["Reporter", "reporter"]
