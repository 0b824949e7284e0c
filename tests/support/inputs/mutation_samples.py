"""What mutated archives are made of: small real archives as they are, and single records of real
and of made ones, apart from the frames that they came in."""

from __future__ import annotations

import functools
import gzip
import io
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

from support.inputs.archive_samples import WRAPPINGS, arc, arc_head, each, page, plain, warc
from support.paths import DAMAGED, HERITRIX, REFERENCE, SAMPLES, SMALL_ARCHIVES

FOLDERS = (SAMPLES, DAMAGED, SMALL_ARCHIVES, HERITRIX)
STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
LARGEST = 48 * 2**10  # bytes of a sample: an archive of a few is gone through in milliseconds
LARGEST_FILE = 2**22  # bytes of a file that records are taken from
FROM_ONE_FILE = 24  # records
_NEXT = re.compile(
    rb"^(?=WARC/[01]\.[0-9]+\r?\n|(?:https?|dns|filedesc)://?\S{1,2000} [0-9.]{7,15} [0-9]{14} )",
    re.MULTILINE,
)


class Samples(NamedTuple):
    """files: archives in all containers. records: WARC and ARC records, apart."""

    files: dict[str, bytes]
    warc_records: list[bytes]
    arc_records: list[bytes]


@functools.cache
def samples(*, reference: bool) -> Samples:
    """The pieces; reference: those of the reference archives too, if they are there."""
    folders = [*FOLDERS]
    if reference and (REFERENCE / "archives").is_dir():
        folders += sorted((REFERENCE / "archives").iterdir())
    paths = [path for folder in folders for path in sorted(folder.glob("*.*")) if _is_archive(path)]
    files, records = {}, [*MADE]
    for path in paths:
        data = path.read_bytes()
        if len(data) <= LARGEST:
            files[path.name] = data
        records += _some(records_of(data))
    files |= {f"made {name}": wrap(MADE[:6]) for name, wrap in WRAPPINGS.items()}
    files |= {f"made WACZ {method}": wacz(MADE, method) for method in (STORED, DEFLATED)}
    arcs = [record for record in records if not record.startswith(b"WARC/")]
    return Samples(files, [r for r in records if r.startswith(b"WARC/")], arcs)


def _is_archive(path: Path) -> bool:
    named = re.search(r"\.(warc|arc|wat|wacz)\b", path.name)
    return bool(named) and path.stat().st_size <= LARGEST_FILE


def _some(records: list[bytes]) -> list[bytes]:
    fitting = [record for record in records if 100 <= len(record) <= LARGEST]
    return fitting[:: max(1, len(fitting) // FROM_ONE_FILE)][:FROM_ONE_FILE]


def records_of(data: bytes) -> list[bytes]:
    """The records of a plain or gzipped file as far as they are easily found."""
    if data.startswith(b"\x1f\x8b"):
        data = _inflated(data)
    return [piece for piece in _NEXT.split(data) if piece[:8].strip()]


def _inflated(data: bytes) -> bytes:
    parts = []
    while data.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(31)
        try:
            parts.append(member.decompress(data))
        except zlib.error:
            break
        data = member.unused_data
    return b"".join(parts)


HTML = """<!doctype html><html><head><base href="/d/"><meta charset=utf-8><title>&amp;</title>
<meta http-equiv=refresh content="5; url=r"><meta name=robots content="nofollow">
<link rel=stylesheet href=s.css><style>@import "i.css"; b { background: url('b.png') }</style>
<script src=s.js>document.write("<a href=no>")</script></head><body background=bg style="x:url(y)">
<!-- <a href=no> --><template><a href=no></a></template><noscript><img src=n.png></noscript>
<a href="a?x=1&amp;y=%C3%A4#f" rel=ugc>&auml;</a><map><area href=//h2/></map><form action=f></form>
<img srcset="1.png 1x, 2.png 2x" src=0.png><svg><use href=u.svg#x /><image xlink:href=i /></svg>
<iframe srcdoc="<a href=in>"></iframe><table><tr><td background=t><b><p><i></b></p></table>
<math><mi xlink:href=m></mi></math><video poster=p><source src=v></video></body></html>"""
FRAMES = "<frameset><frame src=f1><frame src='f2'><noframes><a href=no></noframes></frameset>"
CSS = "@charset 'utf-8'; @import url(a.css); /* url(no) */ p { background: url( \"b\\41 .png\" ) }"
RSS = """<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "b">]><rss xmlns:media="m"><channel>
<link>http://h/1</link><item><guid>http://h/2</guid><description><![CDATA[<a href=no>]]>
</description><enclosure url="http://h/3"/></item></channel></rss>"""
ATOM = '<feed xml:base="http://h/b/"><entry><link rel="next" href="x"/></entry></feed>'
SITEMAP = "<urlset><url><loc>http://h/&amp;1</loc><image:loc>i</image:loc></url></urlset>"
ROBOTS = "User-agent: *\nDisallow: /\nSitemap: http://h/sitemap.xml\nsitemap : /s2.xml # x"
PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Annots [4 0 R]>> endobj
4 0 obj <</Type /Annot /Subtype /Link /Rect [0 0 9 9] /A <</S /URI /URI (http://h/p)>>>> endobj
trailer <</Root 1 0 R>>
%%EOF
"""
FIELDS = "via: http://h/\r\nhopsFromSeed: LL\r\noutlink: http://h/x L a/@href\r\n  folded\r\n"
WAT = {
    "Envelope": {
        "Format": "WARC",
        "WARC-Header-Metadata": {
            **{"WARC-Type": "response", "WARC-Target-URI": "http://h/w"},
            **{"WARC-Date": "2024-05-06T07:08:09Z", "WARC-Record-ID": "<urn:uuid:1>"},
        },
        "Payload-Metadata": {
            "HTTP-Response-Metadata": {
                "Response-Message": {"Status": "200"},
                "Headers": {"Content-Type": "text/html", "Location": ["/l", "/m"]},
                "HTML-Metadata": {
                    "Head": {"Base": "/b/", "Metas": [{"name": "robots", "content": "none"}]},
                    "Links": [
                        *({"path": "A@/href", "url": "a&amp;b"}, {"path": "TD@/background"}),
                        *({"path": "IMG@/src", "url": "i"}, {"path": "STYLE/#text", "url": "s"}),
                    ],
                },
            }
        },
    }
}


def answer(body: bytes | str, media_type: str, uri: str = "http://h/d/p", more: str = "") -> bytes:
    """A WARC response of status 200; more: lines of its HTTP header, each with its end."""
    data = body.encode() if isinstance(body, str) else body
    return warc(f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{more}\r\n".encode() + data, uri)


MADE = [
    page(HTML, "http://h/d/p"),
    page(FRAMES, "http://h/frames"),
    answer(CSS, "text/css"),
    answer(RSS, "application/rss+xml"),
    answer(ATOM, "application/atom+xml"),
    answer(SITEMAP, "application/xml"),
    answer(ROBOTS, "text/plain", "http://h/robots.txt"),
    answer(PDF, "application/pdf"),
    answer(HTML, "application/xhtml+xml", more="X-Robots-Tag: nofollow\r\nLink: <n>; rel=next\r\n"),
    answer(gzip.compress(HTML.encode(), mtime=0), "text/html", more="Content-Encoding: gzip\r\n"),
    warc(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nRefresh: 0; url=y\r\n\r\n", "http://h/302"),
    warc(FIELDS.encode(), "http://h/d/p", "metadata", media_type="application/warc-fields"),
    warc(json.dumps(WAT).encode(), "http://h/w", "metadata", media_type="application/json"),
    *(arc_head(), arc_head(2)),
    arc(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + HTML.encode(), "http://h/a"),
    arc(b"HTTP/1.0 200 OK\r\n\r\n" + FRAMES.encode(), "http://h/2", version=2),
]


def wacz(records: list[bytes], method: int) -> bytes:
    """Two archives of the records in a zip, the same bytes at any time of day."""
    files = {"archive/a.warc.gz": each(records[:4]), "archive/b.warc": plain(records[4:])}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return made.getvalue()
