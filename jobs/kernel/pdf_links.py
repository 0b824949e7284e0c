"""The links of a PDF: the URIs of its pages' annotations, by pypdf, if that is installed.

PDF is a format in which a small file can keep a reader busy for hours, so each one is read in a
process of its own, which the system stops at a limit of time and of memory. What it has told by
then counts.
"""

from __future__ import annotations

import importlib.util
import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

SECONDS = 20
MEMORY = 2**30
MOST_LINKS = 100_000


def pdf_references(body: bytes, counters: Counter[str]) -> Iterator[str]:
    """In order; a PDF that cannot be read, or not to its end, is counted in `skipped.pdf.REASON`:
    `not-installed`, `too-long`, `not-readable`."""
    if importlib.util.find_spec("pypdf") is None:
        counters["skipped.pdf.not-installed"] += 1
        return
    command = [sys.executable, __file__]  # by its file: where it runs the package may have no name
    try:
        done = subprocess.run(command, input=body, capture_output=True, timeout=2 * SECONDS)
        told, failed = done.stdout, "not-readable" if done.returncode else ""
    except subprocess.TimeoutExpired as error:
        told, failed = error.stdout or b"", "too-long"
    if failed:
        counters[f"skipped.pdf.{failed}"] += 1
    for line in told.split(b"\n")[:-1]:  # the last may be cut
        yield json.loads(line)


def _main() -> None:
    import resource  # where there is none, only this process must do without

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number, reference in enumerate(_annotated(sys.stdin.buffer.read())):
        if number >= MOST_LINKS:
            return
        sys.stdout.write(json.dumps(reference) + "\n")
        sys.stdout.flush()  # as this process may be stopped


def _annotated(body: bytes) -> Iterator[str]:
    import pypdf

    for page in pypdf.PdfReader(io.BytesIO(body), strict=False).pages:
        if "/Annots" not in page:
            continue
        annotations: Any = page["/Annots"]  # an array of references
        for item in annotations:
            annotation = item.get_object()
            if "/A" in annotation and "/URI" in (action := annotation["/A"]):
                yield _as_text(action["/URI"])


def _as_text(uri: Any) -> str:
    """The bytes in the PDF, as `uris.as_text` has them, which cannot be imported here. pypdf takes
    them for PDFDocEncoding, much like Latin-1."""
    raw: bytes | None = getattr(uri, "original_bytes", None)
    if raw is None or raw.startswith((b"\xfe\xff", b"\xff\xfe")):  # text in UTF-16
        return str(uri)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw)


if __name__ == "__main__":
    _main()
