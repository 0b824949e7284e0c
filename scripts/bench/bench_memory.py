"""Peak memory and time of `crawlrank step extract-links` on huge records, bombs and a huge archive.

    scripts/bench/bench_memory.py --folder work/memory [--json FILE] [KIND…]

Each file is made in the folder, read by the command in a process of its own, and removed. Peaks are
resident memory as the system tells it of that process; `--limit` is what they are held to.
Exit code 1 if one is over. Kinds can be named; `--size` is that of the huge records, in MB.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import brotli
import zstandard

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD  # noqa: E402

MB, MIB = 10**6, 2**20
SAMPLE = ROOT / "sample_data" / "aut-example.warc.gz"
PAGE = b'<p>Some words of a page, <a href="/page.html">and a link</a>, and more of them.</p>\n'
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n%b\r\n"
WARC = (
    b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: http://example.com/x\r\n"
    b"WARC-Date: 2024-05-06T07:08:09Z\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
)
Blocks = Iterable[bytes]
_COUNTS = re.compile(r"^ *((?:captures|damage|links) .*?[0-9,]+)$", re.MULTILINE)


def repeated(line: bytes, size: int, begin: bytes = b"") -> Iterator[bytes]:
    """size bytes, in blocks of 1 MiB, so that this process stays small."""
    yield begin
    block = line * (MIB // len(line))
    left = size - len(begin)
    while left > 0:
        yield block[:left]
        left -= len(block)


def chunked(blocks: Blocks) -> Iterator[bytes]:
    for block in blocks:
        for at in range(0, len(block), 4000):
            piece = block[at : at + 4000]
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def response(
    blocks: Callable[[], Blocks], media_type: bytes = b"text/html", more: bytes = b""
) -> Iterator[bytes]:
    """A record; the blocks are made twice, as its length comes first."""
    http = HTTP % (media_type, more)
    length = len(http) + sum(map(len, blocks()))
    yield WARC % (b"response", b"application/http; msgtype=response", length) + http
    yield from blocks()
    yield b"\r\n\r\n"


def metadata(media_type: bytes, blocks: Callable[[], Blocks]) -> Iterator[bytes]:
    yield WARC % (b"metadata", media_type, sum(map(len, blocks())))
    yield from blocks()
    yield b"\r\n\r\n"


def encoded(coding: str, blocks: Blocks) -> bytes:
    """The blocks in a content coding; codings apart by blanks are put around one another."""
    for name in coding.split():
        if name == "gzip":
            coder = zlib.compressobj(9, zlib.DEFLATED, 31)
            blocks = [*map(coder.compress, blocks), coder.flush()]
        elif name == "deflate":
            coder = zlib.compressobj(9)
            blocks = [*map(coder.compress, blocks), coder.flush()]
        elif name == "br":
            brotli_coder = brotli.Compressor(quality=5, lgwin=24)
            blocks = [*map(brotli_coder.process, blocks), brotli_coder.finish()]
        else:
            zstd_coder = zstandard.ZstdCompressor(9).compressobj()
            blocks = [*map(zstd_coder.compress, blocks), zstd_coder.flush()]
    return b"".join(blocks)


def bomb(coding: str, size: int) -> Iterator[bytes]:
    body = encoded(coding, repeated(bytes(1000), size))
    names = ", ".join(coding.split()).encode()
    return response(lambda: [body], more=b"Content-Encoding: %b\r\n" % names)


def wat(size: int) -> Iterator[bytes]:
    """Links in JSON, up to the size."""
    begin = (
        b'{"Envelope": {"WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI":'
        b' "http://h/w"}, "Payload-Metadata": {"HTTP-Response-Metadata": {"Response-Message":'
        b' {"Status": "200"}, "Headers": {"Content-Type": "text/html"}, "HTML-Metadata":'
        b' {"Links": ['
    )
    end = b"{}]}}}}}"
    link = b'{"path": "A@/href", "url": "http://example.com/"}, '
    count = (size - len(begin) - len(end)) // len(link)
    return metadata(b"application/json", lambda: [begin, *itertools.repeat(link, count), end])


def small() -> Iterator[bytes]:
    return response(lambda: [b"<a href=/end>"])


def plain(path: Path, records: Blocks) -> None:
    with path.open("wb") as file:
        file.writelines(itertools.chain(records, small()))


def gzipped(path: Path, records: Blocks) -> None:
    with path.open("wb") as file:
        for record in (records, small()):
            with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1) as member:
                for block in record:
                    member.write(block)


def zstd(path: Path, records: Blocks) -> None:
    with path.open("wb") as file:
        for record in (records, small()):
            with zstandard.ZstdCompressor(1).stream_writer(file, closefd=False) as frame:
                for block in record:
                    frame.write(block)


def wacz(path: Path, records: Blocks) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, blocks in (("a", records), ("b", small())):
            with archive.open(f"archive/{name}.warc", "w", force_zip64=True) as entry:
                entry.writelines(blocks)


def many(path: Path, size: int) -> None:
    """A real archive over and over."""
    data = SAMPLE.read_bytes()
    with path.open("wb") as file:
        file.writelines(itertools.repeat(data, -(-size // len(data))))


def empty_records(path: Path) -> None:
    """15 KB of gzip with 600,000 records."""
    record = b"WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
    gzipped(path, itertools.repeat(record * 1000, 600))


def long_ids(path: Path) -> None:
    """4,000 captures whose ids have a megabyte."""
    with path.open("wb") as file:
        for number in range(4000):
            record_id = b"\r\nWARC-Record-ID: <urn:%d:%b>\r\n" % (number, b"x" * (MIB - 4096))
            file.write(gzip.compress(b"".join(small()).replace(b"\r\n", record_id, 1), 1))


def wacz_entries(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(200_000):
            archive.writestr(zipfile.ZipInfo(f"archive/{number}.warc"), b"")
        archive.writestr("archive/last.warc", b"".join(small()))


def kinds(size: int) -> dict[str, Callable[[Path], None]]:
    """What is measured: how each file is written."""
    bombs = {
        f"bomb, {coding}": lambda path, coding=coding: plain(path, bomb(coding, size))
        for coding in ("gzip", "deflate", "br", "zstd", "gzip gzip", "gzip br", "zstd zstd zstd")
    }
    return _huge(size) | _fitting() | bombs


def _huge(size: int) -> dict[str, Callable[[Path], None]]:
    """Records that are over the bound."""

    def page(wanted: int) -> Iterator[bytes]:
        return response(lambda: repeated(PAGE, wanted))

    return {
        "huge plain": lambda path: plain(path, page(size)),
        "huge gzip": lambda path: gzipped(path, page(size)),
        "huge zstd": lambda path: zstd(path, page(size)),
        "huge WACZ": lambda path: wacz(path, page(size)),
        "huge chunked": lambda path: plain(
            path,
            response(lambda: chunked(repeated(PAGE, size)), more=b"Transfer-Encoding: chunked\r\n"),
        ),
        "archive, 4 times": lambda path: many(path, size // 8),
        "archive, 96 times": lambda path: many(path, 3 * size),
        "empty records": empty_records,
        "long ids": long_ids,
        "WACZ entries": wacz_entries,
    }


def _fitting() -> dict[str, Callable[[Path], None]]:
    """Records that are as large as they may be."""
    fit = MAX_RECORD - 4096  # without its header
    half = fit // 2
    emoji = "\U0001f600 <p>".encode()

    def of(media_type: bytes, line: bytes, begin: bytes = b"") -> Callable[[Path], None]:
        return lambda path: plain(path, response(lambda: repeated(line, fit, begin), media_type))

    return {
        "fits, HTML": of(b"text/html", PAGE),
        "fits, emoji": of(b"text/html", emoji),
        "fits, Latin-1": of(b"text/html; charset=iso-8859-1", "\xe4 <p>".encode("latin-1")),
        "fits, many links": of(b"text/html", b"<a href=?>"),
        "fits, attributes": of(
            b"text/html", b"<a " + b" ".join(b"a%d" % n for n in range(999)) + b">"
        ),
        "fits, srcset": of(b"text/html", b"<img srcset='" + b"a 1x," * 999 + b"'>"),
        "fits, CSS": of(b"text/css", b"a { background: url(x.png) }\n"),
        "fits, sitemap": of(b"text/xml", b"<url><loc>http://h/</loc></url>\n", b"<urlset>"),
        "fits, image": of(b"image/png", bytes(1000)),
        "fits, chunked": lambda path: plain(
            path,
            response(
                lambda: chunked(repeated(PAGE, fit - half // 100)),
                more=b"Transfer-Encoding: chunked\r\n",
            ),
        ),
        "fits, WAT": lambda path: plain(path, wat(fit)),
        "fits, small WAT": lambda path: plain(path, wat(12 * MIB)),
        "fits, outlinks": lambda path: plain(
            path, metadata(b"text/anvl", lambda: repeated(b"outlink: http://h/x L a/@href\n", fit))
        ),
    }


def measured(path: Path, folder: Path) -> tuple[float, float, int, str]:
    """(peak MB, CPU seconds, exit code, what was said last) of the command on the file."""
    command = [
        sys.executable,
        "-m",
        "crawlrank",
        "step",
        "extract-links",
        str(path),
        "--links",
        "all",
    ]
    command += ["--output", str(folder / "links.txt"), "--captures", str(folder / "captures.txt")]
    child = subprocess.Popen(
        [*command, "--runner", "inline"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=ROOT
    )
    assert child.stdout
    said = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss * 1024 / MB, usage.ru_utime + usage.ru_stime, child.returncode, said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", help="beginnings of the kinds to measure")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1074, help="MB")
    parser.add_argument("--limit", type=int, default=336, help="MB")
    parser.add_argument("--json", type=Path, help="also write the figures here")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(f"{'file':<18}{'MB':>8}{'peak MB':>10}{'CPU s':>8}")
    rows = []
    for kind, write in kinds(given.size * MB).items():
        if not given.kinds or kind.startswith(tuple(given.kinds)):
            rows.append(one(kind, write, given.folder))
    if given.json:
        figures = {"size": given.size, "limit": given.limit, "kinds": rows}
        given.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if any(row["exit"] or row["peak"] > given.limit for row in rows) else 0


def one(kind: str, write: Callable[[Path], None], folder: Path) -> dict[str, Any]:
    """The figures of a file, which is there only while it is read."""
    path = folder / "one.warc"
    try:
        write(path)
        peak, cpu, code, said = measured(path, folder)
        size = path.stat().st_size / 1e6
    finally:
        for name in ("one.warc", "links.txt", "captures.txt"):
            (folder / name).unlink(missing_ok=True)
    counts = ", ".join(" ".join(words.split()) for words in _COUNTS.findall(said))
    row = f"{kind:<18}{size:>8,.1f}{peak:>10.0f}{cpu:>8.1f}"
    print(f"{row}  {counts}{f'  exit {code}: {said[-500:]}' if code else ''}", flush=True)
    return {"kind": kind, "mb": size, "peak": peak, "cpu": cpu, "exit": code}


if __name__ == "__main__":
    sys.exit(main())
