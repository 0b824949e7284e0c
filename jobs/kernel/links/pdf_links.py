"""The links of a PDF: the URIs of its pages' annotations, read by pypdf, if that is installed.

A small PDF can keep a reader busy for hours. So each one is read in a process of its own, which the
system stops at a limit of time and of memory. The URIs that it has written by then count.
"""

from __future__ import annotations

import codecs
import importlib.util
import io
import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from jobs.kernel.errors import BadInput
from jobs.kernel.keys.uris import as_text
from jobs.kernel.machine.extras import cure_of
from jobs.kernel.markup.charsets import UTF_16_MARKS

SECONDS = 20
MEMORY = 2**30
MOST_LINKS = 100_000
NOT_READABLE = 3  # exit code


def require_reader() -> None:
    """Raises BadInput where pypdf is not installed."""
    if not _has_reader():
        raise BadInput(
            "--pdf",
            "pypdf, which reads PDFs, is not installed",
            "the extra `pdf` of crawlrank",
            f"{cure_of('pdf')} Or leave --pdf out.",
        )


def _has_reader() -> bool:
    return importlib.util.find_spec("pypdf") is not None


def pdf_references(body: bytes, counters: Counter[str]) -> Iterator[str]:
    """The URIs in order. A PDF that cannot be read to its end is counted in `skipped.pdf.REASON`:
    `not-installed`, `too-long`, `not-readable`. Raises BadInput if the process that reads PDFs
    cannot start reading."""
    if not _has_reader():
        counters["skipped.pdf.not-installed"] += 1
        return
    try:
        done = subprocess.run(_command(), input=body, capture_output=True, timeout=2 * SECONDS)
        lines, failed = done.stdout, _failure(done)
    except subprocess.TimeoutExpired as error:
        lines, failed = error.stdout or b"", "too-long"
    if failed:
        counters[f"skipped.pdf.{failed}"] += 1
    for line in lines.split(b"\n")[:-1]:  # the last may be cut
        yield as_text(bytes.fromhex(line.decode()))


def _command() -> list[str]:
    """The command line of the process. It passes on the search path of this one, as jobs travel as
    a zip, in which no file can be run by its name."""
    begin = (
        "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[1]);"
        f" importlib.import_module({__name__!r}).main()"
    )
    return [sys.executable, "-c", begin, json.dumps(sys.path)]


def _failure(done: subprocess.CompletedProcess[bytes]) -> str:
    """Why a PDF was not read to its end, or ''."""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too-long"
    if done.returncode < 0 or done.returncode == NOT_READABLE:
        return "not-readable"
    if done.returncode:
        *_, last = ["", *done.stderr.decode(errors="replace").split("\n")[:-1]]
        raise BadInput(
            "--pdf",
            f"the process that reads PDFs ended with {done.returncode} ({last[:200]!a})",
            "pypdf as the extra `pdf` has it",
            f"{cure_of('pdf')} Or leave --pdf out.",
        )
    return ""


def main() -> None:
    """The process: it reads a PDF from standard input and writes each URI as a line of hex."""
    import resource  # which not every system has; only this process needs it

    import pypdf  # noqa: F401 (if its import fails, the PDF is not to blame)

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        for number, reference in enumerate(_annotated(sys.stdin.buffer.read())):
            if number >= MOST_LINKS:
                return
            sys.stdout.write(reference.hex() + "\n")
            sys.stdout.flush()  # as this process may be stopped
    except Exception:  # noqa: BLE001 (pypdf raises many kinds)
        sys.exit(NOT_READABLE)


def _annotated(body: bytes) -> Iterator[bytes]:
    import pypdf

    for page in pypdf.PdfReader(io.BytesIO(body), strict=False).pages:
        if "/Annots" not in page:
            continue
        annotations: Any = page["/Annots"]  # an array of references
        for item in annotations:
            annotation = item.get_object()
            if "/A" in annotation and "/URI" in (action := annotation["/A"]):
                yield _bytes_of(action["/URI"])


def _bytes_of(uri: Any) -> bytes:
    """The bytes in the PDF, those of UTF-16 as UTF-8. pypdf decodes all others from PDFDocEncoding,
    which is much like Latin-1."""
    raw: bytes | None = getattr(uri, "original_bytes", None)
    if raw is None or raw.startswith(UTF_16_MARKS):
        return str(uri).encode("utf-8", "replace")
    return raw.removeprefix(codecs.BOM_UTF8)
