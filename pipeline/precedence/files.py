"""The files that Heritrix needs for a ranked recrawl, written beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.contract import BEANS
from pipeline.data.datasets import require_name, write_file
from pipeline.options import PrecedenceOptions
from pipeline.precedence.beans import beans_fragment
from pipeline.precedence.caveats import LinkCounts
from pipeline.precedence.export import export_precedence


def write_precedence(
    scores: Path,
    uris: Path | None,
    output: Path,
    tmp: Path,
    options: PrecedenceOptions,
    *,
    ids: Path | None = None,
    budget: int | None = None,
    threads: int | None = None,
    links: LinkCounts | None = None,
) -> dict[str, Any]:
    """The precedence file, and beside it the beans that use it and the summary.

    What is given and raised is as in `export_precedence`; returned is what a manifest says.
    """
    require_name(output)
    plain = output.with_suffix("") if output.suffix == ".gz" else output
    beans = beans_fragment(unlisted=options.unlisted_precedence)
    summary = export_precedence(
        scores, uris, output, tmp, options, ids=ids, budget=budget, threads=threads, links=links
    )
    summary.write(plain.with_suffix(".summary.json"))
    write_file([beans.encode()], output.with_name(BEANS))
    return {"rows": {"precedence": summary.uris}}
