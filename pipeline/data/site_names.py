"""The sites of pages: hosts, and the domains that somebody has registered.

The site of a page is known by its key. A key begins with the labels of the host, reversed, and its
port unless that is the scheme's usual one: `uk,co,example,www:8080)/path`. What is before the first
`)` is the part read here. A key without `)`, such as `dns:example.org`, is no page of a host: the
whole key is its site.

A registrable domain is a public suffix and one label more, as https://publicsuffix.org/list/ says,
with the suffixes that companies give to their customers (`github.io`). A name under no listed
suffix has its last label as the suffix, which is the list's rule `*`. A host that is a public
suffix itself, an address and a name of one label are sites of their own. A domain has no port,
since all servers of it are its owner's. surt writes an IPv6 address without brackets, so that its
port cannot be told from its last group: such a site keeps what is there.

The list is that of the release of tldextract that is installed. It is never fetched: no network,
and no cache on disk.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII).fullmatch


def host_name(part: str) -> str:
    """`www.archive.org:8080` of the key's part `org,archive,www:8080`."""
    host, colon, port = part.rpartition(":")
    if not port.isdigit():
        host, colon, port = part, "", ""
    return ".".join(reversed(host.split(","))) + colon + port


def is_address(name: str) -> bool:
    """Whether a host without its port is an address of IP."""
    return ":" in name or bool(_ADDRESS(name))


def domain_name(part: str) -> str:
    """`archive.org` of the same."""
    name = host_name(part)
    host, colon, port = name.rpartition(":")
    if colon and port.isdigit() and ":" not in host:
        name = host
    if is_address(name) or "." not in name:
        return name
    parts = _suffixes()(name)
    if parts.suffix:
        return f"{parts.domain}.{parts.suffix}" if parts.domain else name
    return ".".join(name.split(".")[-2:])


@cache
def _suffixes() -> Callable[[str], Any]:
    import tldextract  # takes a fifth of a second to import, and most rankings need no list

    offline = tldextract.TLDExtract(
        cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True
    )
    return offline.extract_str


NAMES: dict[str, Callable[[str], str]] = {"host": host_name, "domain": domain_name}
