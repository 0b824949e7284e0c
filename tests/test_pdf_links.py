"""Links of PDFs: found with pypdf, counted without it, and no harm from what is no PDF."""

from __future__ import annotations

import importlib.util
import io
from collections import Counter

import pytest
from archive_samples import extracted, warc

from jobs.kernel.pdf_links import pdf_references


def made_pdf(*uris: str) -> bytes:
    pypdf = pytest.importorskip("pypdf", reason="the extra crawlrank[pdf] is not installed")
    annotations = pytest.importorskip("pypdf.annotations")
    writer = pypdf.PdfWriter()
    for number, uri in enumerate(uris):
        writer.add_blank_page(100, 100)
        writer.add_annotation(number, annotations.Link(rect=(0, 0, 9, 9), url=uri))
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def capture(pdf: bytes) -> bytes:
    return warc(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n" + pdf, "http://h/d/p")


def test_links_of_all_pages_on_request() -> None:
    data = capture(made_pdf("http://h/a", "b", "mailto:x@h"))
    links, _, _, counters = extracted(data, pdf=True)
    assert [(link.target, link.hop) for link in links] == [
        *((b"http://h/a", b"L"), (b"http://h/d/b", b"L")),
    ]
    assert counters["links.from.pdf"] == 2
    assert counters["dropped.scheme.mailto"] == 1
    assert extracted(data)[0] == []


@pytest.mark.parametrize(
    ("raw", "target"),
    [
        (b"http://h/\xe9", b"http://h/%E9"),
        (b"http://h/\x80\x9f", b"http://h/%80%9F"),  # no PDFDocEncoding either
        ("http://h/é".encode(), b"http://h/%C3%A9"),
        (b"\xef\xbb\xbf" + "http://h/é".encode(), b"http://h/%C3%A9"),
        (b"\xfe\xff" + "http://h/é".encode("utf-16-be"), b"http://h/%C3%A9"),
    ],
)
def test_uris_by_their_bytes(raw: bytes, target: bytes) -> None:
    escaped = b"".join(b"\\%03o" % byte for byte in raw)
    pdf = made_pdf("PLACE").replace(b"(PLACE)", b"(" + escaped + b")")
    assert escaped in pdf
    assert [link.target for link in extracted(capture(pdf), pdf=True)[0]] == [target]


def test_what_is_no_pdf_is_counted() -> None:
    pytest.importorskip("pypdf", reason="the extra crawlrank[pdf] is not installed")
    counters: Counter[str] = Counter()
    for body in (b"%PDF-1.4\n", made_pdf("http://h/a")[:-200] * 2, b"%PDF-1.4" + b"[" * 10**6):
        assert all(isinstance(reference, str) for reference in pdf_references(body, counters))
    assert set(counters) <= {"skipped.pdf.not-readable", "skipped.pdf.too-long"}


def test_without_pypdf_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    links, captures, _, counters = extracted(capture(b"%PDF-1.4"), pdf=True)
    assert (links, len(captures)) == ([], 1)
    assert counters["skipped.pdf.not-installed"] == 1
