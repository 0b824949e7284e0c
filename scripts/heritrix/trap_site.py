"""A site with two traps: a calendar whose pages never end, and a host of videos that it embeds.

A crawl that begins at the front page stays on the first host, follows the calendar as far as its
limit of hops, and fetches of the second host what pages embed. A crawl that takes all of this for
seeds has no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from heritrix.made_site import Answer
from heritrix.serving import ADDRESSES, NOT_FOUND, server

PAGES = 40
VIDEOS = 6
_PATH = re.compile(r"(http://[^/]+)/(?:(p|cal|embed|watch)/(\d+))?")


@contextmanager
def trap_site() -> Iterator[tuple[str, str]]:
    """The site and the host of videos, served to the end of the block: their URLs."""
    hosts = list[str]()

    def answer(uri: str) -> Answer:
        match = _PATH.fullmatch(uri)
        return _page(hosts, *match.groups("")) if match else NOT_FOUND

    with ExitStack() as stack:
        for address in ADDRESSES[:2]:
            hosts.append(stack.enter_context(server(address, answer)))
        yield hosts[0], hosts[1]


def _page(hosts: list[str], host: str, kind: str, number: str) -> Answer:
    n, markup = int(number or 0), list[str]()
    if host == hosts[1]:  # every video leads to others
        links = [f"/watch/{2 * n + 1}", f"/watch/{2 * n + 2}"]
    elif kind == "cal":
        links = [f"/cal/{n + 1}", "/"]
    else:
        links = ["/", "/cal/0", *(f"/p/{m}" for m in (2 * n + 1, 2 * n + 2) if m < PAGES)]
        if n < VIDEOS:
            markup.append(f'<iframe src="{hosts[1]}/embed/{n}"></iframe>')
    markup += [f'<a href="{link}">{link}</a>' for link in links]
    return Answer(200, f"<!DOCTYPE html><body>{''.join(markup)}</body>".encode())
