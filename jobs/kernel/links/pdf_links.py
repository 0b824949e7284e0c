"""The links of a PDF: the URIs of its pages' annotations, by pypdf, if that is installed.

PDF is a format in which a small file can keep a reader busy for hours, so each one is read in a
process of its own, which the system stops at a limit of time and of memory. What it has told by
then counts.
"""

from __future__ import annotations

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
            "the extra crawlrank[pdf]",
            "Install it with `pip install 'crawlrank[pdf]'`, or leave --pdf out.",
        )


def _has_reader() -> bool:
    return importlib.util.find_spec("pypdf") is not None


def pdf_references(body: bytes, counters: Counter[str]) -> Iterator[str]:
    """In order; a PDF that cannot be read, or not to its end, is counted in `skipped.pdf.REASON`:
    `not-installed`, `too-long`, `not-readable`. Raises BadInput where the process that reads PDFs
    does not come to read one."""
    if not _has_reader():
        counters["skipped.pdf.not-installed"] += 1
        return
    try:
        done = subprocess.run(_command(), input=body, capture_output=True, timeout=2 * SECONDS)
        told, failed = done.stdout, _failure(done)
    except subprocess.TimeoutExpired as error:
        told, failed = error.stdout or b"", "too-long"
    if failed:
        counters[f"skipped.pdf.{failed}"] += 1
    for line in told.split(b"\n")[:-1]:  # the last may be cut
        yield json.loads(line)


def _command() -> list[str]:
    """That of the process: with the search path of this one, as jobs travel as a zip, in which no
    file can be run by its name."""
    begin = (
        "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[1]);"
        f" importlib.import_module({__name__!r}).main()"
    )
    return [sys.executable, "-c", begin, json.dumps(sys.path)]


def _failure(done: subprocess.CompletedProcess[bytes]) -> str:
    """The reason why a PDF was not read to its end, or ''."""
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "too-long"
    if done.returncode < 0 or done.returncode == NOT_READABLE:
        return "not-readable"
    if done.returncode:
        *_, last = ["", *done.stderr.decode(errors="replace").split("\n")[:-1]]
        raise BadInput(
            "--pdf",
            f"the process that reads PDFs ended with {done.returncode} ({last[:200]!a})",
            "pypdf as crawlrank[pdf] has it",
            "Install it anew, or leave --pdf out.",
        )
    return ""


def main() -> None:
    """The process: a PDF from standard input to lines of JSON."""
    import resource  # where there is none, only this process must do without

    import pypdf  # noqa: F401 (an error of its import is none of the PDF)

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        for number, reference in enumerate(_annotated(sys.stdin.buffer.read())):
            if number >= MOST_LINKS:
                return
            sys.stdout.write(json.dumps(reference) + "\n")
            sys.stdout.flush()  # as this process may be stopped
    except Exception:  # noqa: BLE001 (whatever pypdf meets with in it)
        sys.exit(NOT_READABLE)


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
