"""The document of a report as a page: pipeline/pages/templates/report.html."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.analysis.report.in_short import in_short
from pipeline.pages.page import page

SHOWN = 25  # rows of a long table that are there without scripts

#: what scripts draw; all else is in the text of the page alone
DRAWN = ("input", "captured_hosts", "links", "structure", "rounds", "scores", "classes", "hosts")
ALSO = ("opic", "changes", "run", "rankings")


def report_page(document: Mapping[str, Any]) -> str:
    """The text of the page. document: of report.py."""
    return page(
        "report.html",
        {name: document[name] for name in (*DRAWN, *ALSO)},
        libraries=["d3", "plot", "datatables"],
        scripts=["charts.js", "report.js"],
        styles=["report.css"],
        report=document,
        in_short=in_short(document),
        shown=SHOWN,
    )
