"""Labels of encodings."""

from __future__ import annotations

from crawlrank.jobs.kernel.encodings.tables import LABELS

_ENCODINGS = {label: name for name, labels in LABELS.items() for label in labels.split()}
UTF_16 = ("utf-16be", "utf-16le")
REPLACED = "replacement"  # of pages that may hide markup: a decoder reads nothing of them


def encoding_of(label: str) -> str:
    """The encoding with this label, by its name in lower case; '' if there is none."""
    label = label.strip("\t\n\f\r ")
    return _ENCODINGS.get(label.lower(), "") if label.isascii() else ""


def output_encoding(encoding: str) -> str:
    """The encoding of what a browser sends from a page in this one."""
    return "utf-8" if encoding in (*UTF_16, REPLACED) else encoding
