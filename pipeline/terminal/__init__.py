"""Text and tables for people: nothing in URIs or file names can control a terminal."""

from __future__ import annotations

from pipeline.terminal.streams import escape_unwritable, outlive_reader, width_of
from pipeline.terminal.tables import TextTable
from pipeline.terminal.text import printable

__all__ = ["TextTable", "escape_unwritable", "outlive_reader", "printable", "width_of"]
