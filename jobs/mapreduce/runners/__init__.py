"""mrjob's runners, made fit for archives, for clusters and for a driver that shows progress."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: runner -> module and class; a module is loaded for its own runners only
_CLASSES = {
    "inline": ("local", "InlineRunner"),
    "local": ("local", "LocalRunner"),
    "hadoop": ("cluster", "HadoopRunner"),
    "spark": ("cluster", "SparkRunner"),
    "emr": ("emr", "EmrRunner"),
}


def runner_class(standard: Any) -> Any:
    """Our class in place of mrjob's own, or that one where we have none."""
    if standard.alias not in _CLASSES:
        return standard
    module, name = _CLASSES[standard.alias]
    return getattr(import_module(f"crawlrank.jobs.mapreduce.runners.{module}"), name)
