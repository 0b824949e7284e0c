"""Archives of several crawls of made sites whose pages change at known rates.

    scripts/online/changing_site.py --folder work/changing [--pages 2000] [--days 0 7 14 28 56]

Pages change at random (Poisson processes), a tenth of them often; links lead to few pages mostly. A
file `rates.csv` has the changes a day of each page.
"""

from __future__ import annotations

import argparse
import hashlib
from datetime import datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path

import numpy as np
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

BEGIN = datetime(2026, 1, 1, tzinfo=timezone.utc)
HOSTS = ("www.news.example.org", "www.library.example.com")


def uri(page: int) -> str:
    return f"http://{HOSTS[page % 2]}/" + (f"page-{page}.html" if page > 1 else "")


class ChangingSite:
    """pages: how many. days: of the crawls, ascending."""

    def __init__(self, pages: int, days: list[float], seed: int = 1) -> None:
        draw = np.random.default_rng(seed)
        often = draw.random(pages) < 0.1
        self.rates = np.where(often, 0.5, 0.01) * draw.gamma(2, 0.5, pages)
        steps = np.diff([0.0, *days])
        self.versions = np.cumsum([draw.poisson(self.rates * step) for step in steps], axis=0)
        self.links = (pages * draw.random((pages, 8)) ** 3).astype(int)
        self.links[:, 0] = np.maximum(np.arange(pages) - 2, 0) // 4  # all are linked
        self.days = days

    def body(self, crawl: int, page: int) -> bytes:
        links = "".join(
            f'<a href="{uri(target)}">page {target}</a>\n' for target in self.links[page]
        )
        version = self.versions[crawl][page]
        return f"<html><title>Page {page}</title><p>Version {version}</p>\n{links}</html>".encode()

    def write(self, crawl: int, folder: Path) -> Path:
        path = folder / f"crawl-{crawl}.warc.gz"
        with path.open("wb") as stream:
            writer = WARCWriter(stream, gzip=True)
            for page in range(len(self.rates)):
                moment = BEGIN + timedelta(days=float(self.days[crawl]), seconds=page)
                writer.write_record(_record(writer, uri(page), self.body(crawl, page), moment))
        return path


def _record(writer: WARCWriter, target: str, body: bytes, moment: datetime):  # type: ignore[no-untyped-def]
    headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    digest = "sha1:" + hashlib.sha1(body).hexdigest()
    return writer.create_warc_record(
        target, "response", payload=BytesIO(body), http_headers=headers,
        warc_headers_dict={
            "WARC-Date": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "WARC-Payload-Digest": digest,
        },
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--days", type=float, nargs="+", default=[0, 7, 14, 28, 56])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    site = ChangingSite(options.pages, options.days, options.seed)
    for crawl in range(len(options.days)):
        print(site.write(crawl, options.folder))
    rows = (f"{uri(page)},{rate:.6g}\n" for page, rate in enumerate(site.rates))
    (options.folder / "rates.csv").write_text("uri,changes_per_day\n" + "".join(rows))


if __name__ == "__main__":
    main()
