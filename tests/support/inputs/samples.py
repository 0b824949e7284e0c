"""Lines for the tests of several jobs: made links that are hard to partition, and a real archive's.

`REFERENCE` is the folder of reference data beside the checkout; tests that use it skip without it.
"""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest

from support.paths import DATA, REFERENCE

needs_reference = pytest.mark.skipif(not REFERENCE.is_dir(), reason="no reference data here")

HOSTILE = [
    b"http://0.example/",
    b"http://EXAMPLE.com:80/A?b=1&a=2",
    b"https://example.com/a%20b%2Fc",
    b"https://example.com/~~dummy",
    b"http://user:secret@example.com/",
    b"http://[2001:db8::1]:8080/x",
    b"http://0x7f.1/",
    b"http://999.1.2.3/",
    b"http://b\xc3\xbccher.example/stra\xc3\x9fe?q=\xe2\x82\xac",
    b"http://example.com/\xff\xfe",
    b"http://example.com/O:1,2,dummy",
    b"http://example.com/@counters",
    b"http://example.com/'\"<script>",
    b"http://www.example.com/index.html;jsessionid=0123456789abcdef0123456789abcdef",
    b"http://a.b.c.d.e.f.g.example/" + b"x/" * 200,
]


def oracle(name: str) -> list[bytes]:
    """Lines of one of the files of data/pagerank-oracle."""
    return gzip.decompress((DATA / "pagerank-oracle" / name).read_bytes()).splitlines()


def made_links(links: int = 400, seed: int = 7) -> list[bytes]:
    """`target source hop`: nine in ten within one host, hostile URIs, self-links, duplicates."""
    rng = random.Random(seed)
    big = [b"http://big.example/%d" % number for number in range(60)]
    others = HOSTILE + [b"http://site%d.test/" % number for number in range(20)]

    def page() -> bytes:
        return rng.choice(big if rng.random() < 0.9 else others)

    lines = [b"%s %s L" % (page(), page()) for _ in range(links)]
    lines += [b"%s %s R" % (uri, uri) for uri in rng.sample(big + others, 10)]
    lines += [
        b"%s %s %s" % (uri, big[0], hop) for uri in HOSTILE for hop in (b"L", b"E", b"I", b"P")
    ]
    lines += [b"http://www.big.example/%d %s X" % (number, big[1]) for number in range(30)]
    lines += rng.sample(lines, 60)
    rng.shuffle(lines)
    return lines


def made_captures(seed: int = 8) -> list[bytes]:
    """Lines of captures: some pages more than once, some under several spellings or unlinked."""
    rng = random.Random(seed)
    uris = [b"http://big.example/%d" % number for number in range(0, 60, 2)]
    uris += [b"http://BIG.example:80/%d" % number for number in range(0, 20, 2)]
    uris += [b"http://unlinked.example/", *HOSTILE[:6]]
    rows = []
    for uri in uris * 2 + uris[:7]:
        timestamp = b"2024%02d01000000" % rng.randrange(1, 13)
        row = [uri, timestamp, b"200", b"text/html", b"-", b"response", b"a.warc", b"0"]
        row += [b"http://big.example/", b"LL"] * rng.randrange(2)  # older files do not have them
        rows.append(b"\t".join(row))
    return rows


def write(path: Path, lines: list[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
