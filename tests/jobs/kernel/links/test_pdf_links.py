"""Links of PDFs: found with pypdf, also by jobs that travel as a zip; refused without it; no harm
from what is no PDF."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support.crawls import crawlrank
from support.inputs.archive_samples import extracted, made_pdf, warc

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.links.pdf_links import pdf_references
from crawlrank.jobs.mapreduce.launch import write_zip


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


URIS = {
    b"http://h/\xe9": b"http://h/%E9",
    b"http://h/\x80\x9f": b"http://h/%80%9F",  # no PDFDocEncoding either
    "http://h/é".encode(): b"http://h/%C3%A9",
    b"\xef\xbb\xbf" + "http://h/éx".encode(): b"http://h/%C3%A9x",
    b"\xfe\xff" + "http://h/éy".encode("utf-16-be"): b"http://h/%C3%A9y",
}


def test_uris_by_their_bytes() -> None:
    pdf = made_pdf(*(f"PLACE{number}" for number in range(len(URIS))))
    for number, raw in enumerate(URIS):
        escaped = b"".join(b"\\%03o" % byte for byte in raw)
        place = b"(PLACE%d)" % number
        assert place in pdf
        pdf = pdf.replace(place, b"(" + escaped + b")")
    found = [link.target for link in extracted(capture(pdf), pdf=True)[0]]
    assert found == [*URIS.values()]


@pytest.mark.slow
def test_what_is_no_pdf_is_counted() -> None:
    pytest.importorskip("pypdf", reason="the extra crawlrank[pdf] is not installed")
    counters: Counter[str] = Counter()
    for body in (b"%PDF-1.4\n", made_pdf("http://h/a")[:-200] * 2, b"%PDF-1.4" + b"[" * 10**6):
        for base, reference in pdf_references(body, "http://h/", counters):
            assert isinstance(base + reference, str)
    assert set(counters) <= {"skipped.pdf.not-readable", "skipped.pdf.too-long"}


def test_without_pypdf_they_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    links, captures, _, counters = extracted(capture(b"%PDF-1.4"), pdf=True)
    assert (links, len(captures)) == ([], 1)
    assert counters["skipped.pdf.not-installed"] == 1


def as_a_task(archive: Path, folder: Path, *more: str) -> list[bytes]:
    """What a task of Hadoop writes, which imports the jobs from the zip in its own folder."""
    write_zip(folder / "crawlrank.zip")
    command = [
        *(sys.executable, "-m", "crawlrank.jobs.extract_links"),
        "--step-num=0",
        "--mapper",
        *more,
    ]
    done = subprocess.run(
        [*command, "--listed", "--pdf"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "crawlrank.zip"},
        input=json.dumps([str(archive)]).encode() + b"\n",
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.splitlines()


@pytest.mark.slow
def test_tasks_that_import_the_jobs_from_a_zip_read_them(tmp_path: Path) -> None:
    archive = tmp_path / "pdf.warc"
    archive.write_bytes(capture(made_pdf("http://h/a", "b")))
    (tmp_path / "task").mkdir()
    lines = as_a_task(archive, tmp_path / "task")
    assert [line for line in lines if line[:1] != b"@"] == [
        b"http://h/a http://h/d/p L",
        b"http://h/d/b http://h/d/p L",
    ]
    (told,) = [json.loads(line[9:]) for line in lines if line.startswith(b"@archive\t")]
    assert told["counters"]["links.from.pdf"] == 2
    assert not [name for name in told["counters"] if name.startswith("skipped")]


def test_a_reader_that_does_not_start_is_no_fault_of_the_pdf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one that finds a broken library."""
    (tmp_path / "pypdf.py").write_text("raise ImportError('a part of it is missing')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match=r"ended with 1 \(.ImportError: a part of it is missing"):
        list(pdf_references(b"%PDF-1.4", "http://h/", Counter()))


@pytest.mark.parametrize("command", ["run", "run local", "extract-links", "inspect"])
def test_without_pypdf_nothing_is_begun(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    archive = tmp_path / "pdf.warc"
    archive.write_bytes(capture(b"%PDF-1.4"))
    work, links, captures = (tmp_path / name for name in ("work", "links", "captures"))
    more: dict[str, tuple[object, ...]] = {
        "run": ("--work", work),
        "run local": ("--work", work, "--runner", "local"),
        "extract-links": ("--output", links, "--captures", captures),
        "inspect": ("--json", tmp_path / "told.json"),
    }
    said = crawlrank(command.split()[0], archive, "--pdf", "--quiet", *more[command])
    assert said.code == 3
    assert "pypdf, which reads PDFs, is not installed" in said.err
    assert "pip install 'pypdf>=5'" in " ".join(said.err.split())
    assert list(tmp_path.iterdir()) == [archive]
