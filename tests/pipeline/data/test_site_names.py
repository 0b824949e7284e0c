"""Names of sites by keys; the domains are those that publicsuffix.org's rules give by hand."""

from __future__ import annotations

import socket

import pytest
from support.inputs.samples import HOSTILE

from crawlrank.jobs.kernel.keys.keys import key_of
from crawlrank.pipeline.data.site_names import domain_name, host_name

#: URI -> host, registrable domain
URIS = {
    "http://www.bbc.co.uk/news": ("bbc.co.uk", "bbc.co.uk"),
    "http://news.bbc.co.uk:8080/": ("news.bbc.co.uk:8080", "bbc.co.uk"),
    "http://co.uk/": ("co.uk", "co.uk"),
    "http://project.github.io/": ("project.github.io", "project.github.io"),
    "http://docs.project.github.io/": ("docs.project.github.io", "project.github.io"),
    "http://github.io/": ("github.io", "github.io"),
    "http://someone.blogspot.com/2009/": ("someone.blogspot.com", "someone.blogspot.com"),
    "http://blogspot.com/": ("blogspot.com", "blogspot.com"),
    "http://a.city.kawasaki.jp/": ("a.city.kawasaki.jp", "city.kawasaki.jp"),
    "http://a.b.c.kawasaki.jp/": ("a.b.c.kawasaki.jp", "b.c.kawasaki.jp"),
    "http://b\xfccher.example.com/": ("xn--bcher-kva.example.com", "example.com"),
    "http://a.b\xfccher.de/": ("a.xn--bcher-kva.de", "xn--bcher-kva.de"),
    "http://\u0430.\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444/": (
        "xn--80a.xn--e1afmkfd.xn--p1ai",
        "xn--e1afmkfd.xn--p1ai",
    ),
    "http://a.b.intranet/": ("a.b.intranet", "b.intranet"),
    "http://localhost:8080/": ("localhost:8080", "localhost"),
    "http://10.0.0.1:81/x": ("10.0.0.1:81", "10.0.0.1"),
    "http://10.0.0.1/x": ("10.0.0.1", "10.0.0.1"),
    "http://[2001:db8::1]/": ("2001:db8::1", "2001:db8::1"),
    "http://a_b.example.com./": ("a_b.example.com", "example.com"),
}
#: what is before the first `)` of keys that no http URI has
PARTS = {
    "dns:www.example.org": "dns:www.example.org",
    "filedesc://x.arc": "filedesc://x.arc",
    "mailto:someone@example.org": "mailto:someone@example.org",
    "": "",
    ",": ".",
}


@pytest.mark.parametrize("uri", URIS)
def test_sites_of_uris(uri: str) -> None:
    key = key_of(uri.encode())
    assert key is not None
    part = key.decode().partition(")")[0]
    assert (host_name(part), domain_name(part)) == URIS[uri]


@pytest.mark.parametrize("part", PARTS)
def test_parts_that_are_no_host_are_sites_of_their_own(part: str) -> None:
    assert host_name(part) == PARTS[part]
    assert isinstance(domain_name(part), str)
    if ":" in part:
        assert domain_name(part) == part


def test_hostile_hosts_have_a_domain_that_ends_their_host() -> None:
    for uri in HOSTILE:
        part = (key_of(uri) or b"").decode().partition(")")[0]
        host = host_name(part)
        domain = domain_name(part)
        assert host.endswith(domain) or host.rpartition(":")[0].endswith(domain), uri


def test_the_list_is_read_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    from crawlrank.pipeline.data import site_names

    def refused(*args: object, **more: object) -> None:
        raise AssertionError("the network")

    site_names._suffixes.cache_clear()
    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    assert domain_name("uk,ac,ox,www") == "ox.ac.uk"
