"""Print what extraction finds in each of the reference archives, one line a file.

    python scripts/docs/make_extraction_table.py > tests/data/extraction_table.tsv

The test of the table compares; a change of the table is a change of what users get.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.jobs.kernel.captures.extraction import extract  # noqa: E402
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions  # noqa: E402
from crawlrank.jobs.kernel.errors import BadInput  # noqa: E402
from crawlrank.jobs.kernel.storage.opening import opened  # noqa: E402

HEADER = "file\trecords\tcaptures\tpages\tL\tR\tE\tX\tdamage"


def row(folder: Path, name: str) -> str:
    """The line of one archive: counts with all links, and its damage by reason."""
    counters: Counter[str] = Counter()
    unreadable = ""
    with opened(folder / name) as stream:
        try:
            for _ in extract(stream, name, ExtractionOptions(links="all"), counters):
                pass
        except BadInput as error:
            unreadable = f"unreadable: {error.found}"
    names = ("records", "captures", "pages.html", "links.L", "links.R", "links.E", "links.X")
    damage = [
        f"{key.removeprefix('damage.')}={count}"
        for key, count in sorted(counters.items())
        if key.startswith("damage.")
    ]
    found = [str(counters[key]) for key in names]
    return "\t".join([name, *found, unreadable or " ".join(damage) or "-"])


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/reference/archives"
    print(HEADER)
    for path in sorted(folder.glob("*/*")):
        print(row(folder, str(path.relative_to(folder))))


if __name__ == "__main__":
    main()
