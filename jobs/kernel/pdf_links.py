"""The links of a PDF: the URIs of its pages' annotations, by pypdf, if that is installed.

PDF is a format in which a small file can keep a reader busy for hours, so each one is read in a
process of its own that the system stops at a limit of time and of memory.
"""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

SECONDS = 20
MEMORY = 2**30
MOST_LINKS = 100_000


def pdf_references(body: bytes, counters: Counter[str]) -> Iterator[str]:
    """Those of the pages that could be read; none, and `skipped.pdf.REASON` counted, if none."""
    if importlib.util.find_spec("pypdf") is None:
        counters["skipped.pdf.not-installed"] += 1
        return
    command = [sys.executable, "-m", "jobs.kernel.pdf_links"]
    try:
        done = subprocess.run(command, input=body, capture_output=True, timeout=SECONDS + 5)
    except subprocess.TimeoutExpired:
        counters["skipped.pdf.too-long"] += 1
        return
    if done.returncode:
        counters["skipped.pdf.not-readable"] += 1
        return
    for line in done.stdout.splitlines():
        yield json.loads(line)


def _main() -> None:
    import resource  # where there is none, only this process must do without

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    references = _annotated(sys.stdin.buffer.read())
    sys.stdout.writelines(json.dumps(reference) + "\n" for reference in references)


def _annotated(body: bytes) -> list[str]:
    import pypdf

    found: list[str] = []
    for page in pypdf.PdfReader(io.BytesIO(body), strict=False).pages:
        for annotation in page.get("/Annots") or ():
            action = annotation.get_object().get("/A", {}).get_object()
            if "/URI" in action and len(found) < MOST_LINKS:
                found.append(str(action["/URI"]))
    return found


if __name__ == "__main__":
    _main()
