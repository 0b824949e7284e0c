"""The links of a PDF: the URIs of its pages' annotations, read by pypdf, if that is installed.

A small PDF can keep a reader busy for hours. So each one is read in a process of its own, which the
system stops at a limit of time and of memory. The URIs that it has written by then count.
Damage costs an object, not the file (pdf_annotations.py).
"""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.uris import LONGEST, LONGEST_RAW, as_text, base_uri
from crawlrank.jobs.kernel.machine.extras import cure_of

SECONDS = 20
MEMORY = 2**30
MOST_LINKS = 100_000
MOST_BYTES = 2**26  # that the process writes
NOT_READABLE, TOO_LONG = 3, 4  # exit codes
_BASE, _REFERENCE = "base", "uri"  # what a line of the process has
_HOST = re.compile(r"www\.[^.]*\.", re.IGNORECASE).match


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


def pdf_references(body: bytes, uri: str, counters: Counter[str]) -> Iterator[tuple[str, str]]:
    """The references in order, each with its base. uri: of the PDF. A PDF that cannot be read in
    all of its parts is counted in `skipped.pdf.REASON`: `not-installed`, `too-long`,
    `not-readable`. Raises BadInput if the process that reads PDFs cannot start reading."""
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
    base = uri
    for line in lines.decode().split("\n")[:-1]:  # the last may be cut
        kind, _, written = line.partition(" ")
        reference = as_text(bytes.fromhex(written))
        if kind == _REFERENCE:
            yield base, _with_scheme(reference)
        else:
            stated = base_uri(_with_scheme(reference), uri)
            base = stated if len(stated) <= LONGEST else ""


def _with_scheme(reference: str) -> str:
    """`www.example.org` is a host, as browsers' viewers of PDFs have it."""
    return f"http://{reference}" if _HOST(reference) else reference


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
    if done.returncode in (TOO_LONG, -signal.SIGXCPU, -signal.SIGKILL):
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
    """The process: it reads a PDF from standard input and writes its base, if it states one, and
    each URI as a line: what it is, and its bytes in hex."""
    import resource  # which not every system has; only this process needs it

    import pypdf  # noqa: F401 (if its import fails, the PDF is not to blame)

    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable()  # of each oddity
    try:
        is_damaged = _write(sys.stdin.buffer.read())
    except Exception:  # noqa: BLE001 (pypdf raises many kinds)
        is_damaged = True
    if is_damaged:
        sys.exit(NOT_READABLE)


def _write(body: bytes) -> bool:
    """Write the URIs; whether an object could not be read."""
    import pypdf

    from crawlrank.jobs.kernel.links.pdf_annotations import PdfAnnotations

    annotations = PdfAnnotations(pypdf.PdfReader(io.BytesIO(body), strict=False), body)
    if base := annotations.base():
        sys.stdout.write(f"{_BASE} {base[: LONGEST_RAW + 1].hex()}\n")
    left = MOST_BYTES
    for number, reference in enumerate(annotations.references()):
        written = reference[: LONGEST_RAW + 1].hex()
        left -= len(written)
        if number >= MOST_LINKS or left < 0:
            sys.exit(TOO_LONG)
        sys.stdout.write(f"{_REFERENCE} {written}\n")
        sys.stdout.flush()  # as this process may be stopped
    return annotations.is_damaged
