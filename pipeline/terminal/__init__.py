"""Text and tables for people: nothing in URIs or file names can control a terminal."""

from __future__ import annotations

from crawlrank.pipeline.terminal.streams import (
    escape_unwritable,
    name_output,
    outlive_reader,
    width_of,
)
from crawlrank.pipeline.terminal.tables import TextTable
from crawlrank.pipeline.terminal.text import printable

__all__ = [
    "TextTable",
    "escape_unwritable",
    "name_output",
    "outlive_reader",
    "printable",
    "width_of",
]
