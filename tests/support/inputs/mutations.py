"""Mutated archives, each made from a seed and a number alone, and what must hold for every one.

Three places are mutated: the bytes of a file in its container; the records before they are put in
a container (headers, lengths, order, HTML, CSS, XML, JSON, PDF); and the bodies of responses
before they are encoded.
"""

from __future__ import annotations

import gzip
import io
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import brotli
import zstandard

from crawlrank.jobs.kernel.archive.damage import REASONS, Damage
from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import DEFAULTS, ExtractionOptions
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.formats.lines import (
    format_capture,
    format_link,
    parse_capture,
    parse_link,
)
from crawlrank.jobs.kernel.formats.rows import Capture, Link
from support.inputs.archive_samples import WRAPPINGS
from support.inputs.mutation_samples import DEFLATED, STORED, Samples, answer, samples, wacz

# What means something to some reader of the kernel, and what readers stumble over.
_WORDS = rb"""
    < > </ /> <!-- --> --!> <![CDATA[ ]]> <? ?> <!DOCTYPE [ ] & ; &# &#x110000; &amp; " ' ` = /
    \ # ? : // http:// https://[ javascript: data: mailto: %00 %zz .. @import url( ) /* */ { } \41
    <div> </div> <p> <b> <i> <a <a/href= <base/href=// <table> <tr> <td> <svg> <math> <template>
    <frameset> <frame/src=x> <iframe/srcdoc=" <script> </script> <style> <textarea> <title>
    <noscript> <plaintext> <select> <option> <form> <meta/charset=utf-16> <meta/charset=gb18030>
    <loc> </loc> <link> <urlset> <rss> xml:base= srcset= 1x, rel=nofollow Sitemap: outlink: L
    HTTP/1.1 200 302 WARC/1.0 Content-Length: Content-Length:-1 Content-Encoding: gzip deflate br
    zstd Transfer-Encoding: chunked ffffffff 0 1a PK obj endobj stream endstream <</ >> R /Kids
    /Annots /URI xref trailer {"Envelope": null true 1e999 -1 \ud800 "url": "path": A@/href"""
_BYTES = (
    *(b"\r\n", b"\n", b"\r", b"\t", b" ", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3"),
    *("\u2028".encode(), "\u202e".encode(), b"\x1b[31m", b"\r\n\r\n", b"\x1f\x8b\x08\0"),
)
TOKENS = (*_WORDS.split(), *_BYTES)
NUMBERS = (0, 1, 2, 127, 128, 2**15, 2**16 - 1, 2**20, 2**27, 2**31 - 1, 2**31, 2**32 - 1)
CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 1, mtime=0),
    "deflate": lambda body: zlib.compress(body, 1),
    "br": lambda body: bytes(brotli.compress(body, quality=1)),
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
    "identity": lambda body: body,
}
Change = Callable[[random.Random, bytearray, bytes], None]


class Mutation(NamedTuple):
    """An archive, what it was made from, and the options to read it with."""

    data: bytes
    origin: str
    options: ExtractionOptions


def mutation(seed: int, number: int, *, reference: bool = False) -> Mutation:
    """The archive of that number: always the same, as far as compressors write the same."""
    rng = random.Random(f"{seed}:{number}")
    known = samples(reference=reference)
    make = rng.choice((_of_file, _of_records, _of_records, _of_body))
    data, origin = make(rng, known)
    return Mutation(data, origin, _options(rng))


def _options(rng: random.Random) -> ExtractionOptions:
    return ExtractionOptions(
        outlinks=rng.choice(("auto", "html", "metadata", "both")),
        links=rng.choice(("nav", "all", "all")),
        nofollow=rng.choice(("keep", "drop")),
        forms=rng.random() < 0.5,
        pdf=rng.random() < 0.05,  # each PDF takes a process
        max_record=rng.choice((2**12, 2**16, DEFAULTS.max_record, DEFAULTS.max_record)),
    )


def _of_file(rng: random.Random, known: Samples) -> tuple[bytes, str]:
    """A file with its bytes changed in their container."""
    name = rng.choice(list(known.files))
    other = known.files[rng.choice(list(known.files))]
    return changed(rng, known.files[name], other, BYTES), f"bytes of {name}"


def _of_records(rng: random.Random, known: Samples) -> tuple[bytes, str]:
    """Some records, some changed inside, in a container that may then be changed too."""
    pool = known.arc_records if rng.random() < 0.2 else known.warc_records
    records = [rng.choice(pool) for _ in range(rng.randrange(1, 6))]
    records = [record for record in records for _ in range(rng.choice((1, 1, 1, 2)))]
    for place, record in enumerate(records):
        if rng.random() < 0.7:
            records[place] = _true_length(rng, changed(rng, record, rng.choice(pool), TEXT))
    return _wrapped(rng, records)


def _of_body(rng: random.Random, known: Samples) -> tuple[bytes, str]:
    """A body that is changed, encoded, changed again and sent under headers that may lie."""
    record = rng.choice(known.warc_records)
    body = changed(rng, record.rpartition(b"\r\n\r\n")[0] or record, record, TEXT)
    codings = [rng.choice(list(CODINGS)) for _ in range(rng.choice((1, 1, 2)))]
    for coding in codings:
        body = CODINGS[coding](body)
    if rng.random() < 0.5:
        body = changed(rng, body, body, BYTES)
    told = codings if rng.random() < 0.8 else [rng.choice(list(CODINGS))]
    more = f"Content-Encoding: {', '.join(told)}\r\n"
    if rng.random() < 0.5:
        more += "Transfer-Encoding: chunked\r\n"
        body = _chunked(rng, body)
    types = ("text/html", "text/css", "application/rss+xml", "text/xml", "application/pdf", "-")
    media_type = rng.choice(types)
    data, origin = _wrapped(rng, [answer(body, media_type, more=more)])
    return data, f"{origin} of {media_type} in {', '.join(told)}"


def _chunked(rng: random.Random, body: bytes) -> bytes:
    step = rng.choice((1, 100, 5000)) if len(body) < 9000 else 5000
    chunks = [body[at : at + step] for at in range(0, len(body), step)]
    data = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    return changed(rng, data, data, BYTES) if rng.random() < 0.3 else data


def _wrapped(rng: random.Random, records: list[bytes]) -> tuple[bytes, str]:
    if rng.random() < 0.1:
        data, name = wacz(records, rng.choice((STORED, DEFLATED))), "wacz"
    else:
        name = rng.choice(list(WRAPPINGS))
        data = WRAPPINGS[name](records)
    if rng.random() < 0.3:
        return changed(rng, data, data, BYTES), f"records in changed {name}"
    return data, f"records in {name}"


def _true_length(rng: random.Random, record: bytes) -> bytes:
    """The record with its length made true again, mostly, so that what changed is read."""
    head, blank, block = record.partition(b"\r\n\r\n")
    if not head.startswith(b"WARC/") or rng.random() < 0.2:
        return record
    block = block.removesuffix(b"\r\n\r\n")
    length = b"Content-Length: %d" % len(block)
    head = re.sub(rb"Content-Length: *[0-9]+", length, head, count=1, flags=re.IGNORECASE)
    return head + blank + block + b"\r\n\r\n"


# ---- changes in place


def changed(rng: random.Random, data: bytes, other: bytes, changes: tuple[Change, ...]) -> bytes:
    made = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 9))):
        if made:
            rng.choice(changes)(rng, made, other)
    return bytes(made)


def _flip(rng: random.Random, data: bytearray, other: bytes) -> None:
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _cut(rng: random.Random, data: bytearray, other: bytes) -> None:
    place = rng.randrange(len(data))
    del data[place : place + rng.choice((1, 20, 2000))]


def _truncate(rng: random.Random, data: bytearray, other: bytes) -> None:
    del data[rng.randrange(len(data)) :]


def _splice(rng: random.Random, data: bytearray, other: bytes) -> None:
    place, start = rng.randrange(len(data)), rng.randrange(len(other) or 1)
    data[place:place] = other[start : start + rng.choice((1, 90, 9000))]


def _zero(rng: random.Random, data: bytearray, other: bytes) -> None:
    place, size = rng.randrange(len(data)), rng.choice((1, 4, 512, 5000))
    data[place : place + size] = bytes(len(data[place : place + size]))


def _repeat(rng: random.Random, data: bytearray, other: bytes) -> None:
    place = rng.randrange(len(data))
    piece = data[place : place + rng.choice((4, 100, 3000))]
    data[place:place] = piece * rng.choice((1, 2, 50))


def _reorder(rng: random.Random, data: bytearray, other: bytes) -> None:
    first, second = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
    data[:] = data[second:] + data[first:second] + data[:first]


def _number(rng: random.Random, data: bytearray, other: bytes) -> None:
    """A length in binary, as zips and frames have them."""
    place, size = rng.randrange(len(data)), rng.choice((2, 4))
    number = rng.choice(NUMBERS) % 2 ** (8 * size)
    data[place : place + size] = number.to_bytes(size, rng.choice(("little", "little", "big")))


def _digits(rng: random.Random, data: bytearray, other: bytes) -> None:
    """A length in digits, as headers and chunks have them."""
    if found := list(re.finditer(rb"[0-9]+", data[: 2**14])):
        number = rng.choice(found)
        lies = (*NUMBERS, -1, 10**17, 10**18, int(number[0][:9]) + rng.randrange(-9, 9))
        data[number.start() : number.end()] = b"%d" % rng.choice(lies)


def _token(rng: random.Random, data: bytearray, other: bytes) -> None:
    place, token = rng.randrange(len(data)), rng.choice(TOKENS)
    data[place : place + rng.choice((0, len(token)))] = token


def _tokens(rng: random.Random, data: bytearray, other: bytes) -> None:
    """A few tokens again and again: nesting, attributes, beginnings without an end."""
    tokens = b"".join(rng.choice(TOKENS) for _ in range(rng.choice((1, 2, 3))))
    place, count = rng.randrange(len(data)), rng.choice((2, 300, 5000))
    data[place:place] = tokens * count


BYTES: tuple[Change, ...] = (
    *(_flip, _flip, _cut, _truncate, _splice, _zero, _repeat, _reorder, _number, _digits),
)
TEXT: tuple[Change, ...] = (
    *(_token, _token, _token, _tokens, _flip, _cut, _splice, _zero, _repeat, _digits),
)


# ---- what must hold


def checked(made: Mutation) -> Counter[str]:
    """Read the archive to its end: rows that read back as they were, known reasons of damage, or
    BadInput in printable words. Returns the counters; anything else raises."""
    counters: Counter[str] = Counter()
    items: Any = ()
    try:
        items = list(extract(io.BytesIO(made.data), "fuzz.warc", made.options, counters))
    except BadInput as error:
        assert str(error).isprintable(), ascii(str(error))
    for item in items:
        if isinstance(item, Link):
            assert parse_link(format_link(item)) == item, item
        elif isinstance(item, Capture):
            assert parse_capture(format_capture(item)) == item, item
        else:
            assert isinstance(item, Damage)
            assert item.reason in REASONS, item
            assert item.detail.isprintable(), item
    return counters
