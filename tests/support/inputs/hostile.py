"""Hostile archives that are drawn by seed and number, and the CPU time of reading one.

A drawn archive has pieces of the inputs of one to three productions in one response, or these
inputs in a row.
"""

from __future__ import annotations

import random
import time
import zlib
from collections.abc import Callable

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.keys.heritrix_form import HeritrixRejects, heritrix_form
from crawlrank.jobs.kernel.keys.keys import forgetful_key_function
from support.inputs.archive_samples import extracted
from support.inputs.productions import Production, productions, record

#: bytes of gzip, and the CPU seconds in which they must be read by a machine on which YARDSTICK
#: steps of Python take a sixth of a second
PACKED, SECONDS = 1 << 16, 5
YARDSTICK = 2_000_000
_KEY_OF = forgetful_key_function("strip")
_HTTP, _END = b"HTTP/1.1 200 OK\r\n", b"\r\n\r\n"


def read(data: bytes) -> None:
    """Extract an archive, and make the key and Heritrix's form of each URI."""
    try:
        links, captures, _, _ = extracted(data, pdf=True, titles=True)
    except BadInput:
        return
    for uri in {*(link.target for link in links), *(capture.uri for capture in captures)}:
        _KEY_OF(uri)
        try:
            heritrix_form(uri.decode())
        except HeritrixRejects:
            continue


def seconds(act: Callable[[], object]) -> float:
    """The CPU seconds that a call takes in this process."""
    begin = time.process_time()
    act()
    return time.process_time() - begin


def is_too_long(taken: float) -> bool:
    """Whether CPU seconds are more than SECONDS, and on a slower machine, or beside other
    processes, more than as many times SECONDS as YARDSTICK takes longer now."""
    return taken > SECONDS and taken > SECONDS * 6 * seconds(_yardstick)


def _yardstick() -> None:
    total = 0
    for i in range(YARDSTICK):
        total += i * i % 7


def packed(data: bytes) -> int:
    """The number of bytes after compression."""
    return len(zlib.compress(data, 1))


def drawn(seed: int, number: int, most: int) -> bytes:
    """An archive of about `most` bytes, which compress to at most PACKED."""
    draw = random.Random(f"{seed} {number}")
    names = draw.choices([*productions()], k=draw.choice((1, 2, 2, 3)))
    share = most // len(names)
    return _mixed(draw, [_within(draw, productions()[name], share) for name in names])


def _within(draw: random.Random, make: Production, most: int) -> bytes:
    """An input of a random length, halved until it fits."""
    count = int(2 ** draw.uniform(0, 16))
    while count > 1 and (len(data := make(count)) > most or packed(data) > PACKED // 4):
        count //= 2
    return data if count > 1 else make(1)


def _mixed(draw: random.Random, archives: list[bytes]) -> bytes:
    """Mix the bodies in one response, if each archive has one; else join the archives."""
    bodies, media = list[bytes](), list[str]()
    for archive in archives:
        _, response, rest = archive.partition(_HTTP)
        header, end, body = rest.partition(_END)
        if not (response and end) or archive.count(_HTTP) != 1 or draw.random() < 0.2:
            return b"".join(archives)
        media.append(header.partition(b"Content-Type: ")[2].partition(b"\r")[0].decode())
        bodies.append(body.removesuffix(_END))
    pieces = list[bytes]()
    for body in bodies:
        cut = sorted(draw.randrange(len(body) + 1) for _ in range(draw.randrange(3)))
        pieces += [body[a:b] for a, b in zip([0, *cut], [*cut, len(body)], strict=True)]
    if draw.random() < 0.5:
        draw.shuffle(pieces)
    return record(b"".join(pieces), draw.choice(media))
