"""Text and tables for people: nothing in URIs or file names can control a terminal."""

from __future__ import annotations

from crawlrank.pipeline.terminal.streams import (
    buffer_output,
    escape_unwritable,
    outlive_reader,
    width_of,
)
from crawlrank.pipeline.terminal.tables import TextTable
from crawlrank.pipeline.terminal.text import printable

__all__ = [
    "TextTable",
    "buffer_output",
    "escape_unwritable",
    "outlive_reader",
    "printable",
    "width_of",
]
