"""A made web on named hosts: pages in six charsets, a host with and without www, redirects in a
circle, and pages that are gone when it is crawled again.

One server answers for all hosts as Heritrix's proxy, as in odd_site.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from crawlrank.pipeline.precedence.beans import ANNOTATOR
from heritrix.job import Plan
from heritrix.made_site import Answer
from heritrix.recrawl import NOTED

HOSTS = ("www.a.example", "a.example", "b.example", "c.example")
#: charset of a page, '' if it names none -> words of its queries
WORDS = {
    "utf-8": ("café", "日本語"),
    "iso-8859-1": ("café", "naïve"),
    "windows-1252": ("œuvre", "café"),
    "shift_jis": ("日本語", "検索"),
    "gbk": ("中文", "搜索"),
    "": ("müller", "español"),
}
PAGES = 80  # of a host
GONE = {"/p/5": 404, "/p/7": 410}  # in the second crawl


def front(host: str) -> str:
    return f"http://{host}/"


def named_answers(crawl: int = 1, *, seed: int = 1) -> dict[str, Answer]:
    """What the hosts answer, by URI as Heritrix asks for it."""
    rng = random.Random(seed)
    answers: dict[str, Answer] = {}
    for host in HOSTS:
        base = f"http://{host}"
        for number in range(PAGES):
            targets = [f"/p/{min(number, rng.randrange(PAGES))}" for _ in range(3)]
            targets += [f"/p/{n}" for n in (2 * number + 1, 2 * number + 2) if n < PAGES]
            answers[f"{base}/p/{number}"] = _page([*targets, "/missing", "/round"])
        for charset, words in WORDS.items():
            queries = [f"/find?q={word}" for word in words]
            answers[f"{base}/in/{charset or 'none'}"] = _page(queries, charset)
            for word in words:  # Heritrix asks in UTF-8, whatever the page's charset
                answers[f"{base}/find?q={quote(word)}"] = _page(["/p/1"])
        indexes = [f"/in/{charset or 'none'}" for charset in WORDS]
        others = [front(other) for other in HOSTS if other != host]
        answers[front(host)] = _page(["/p/0", "/to", *indexes, *others])
        answers[f"{base}/to"] = Answer(302, b"moved", location="/p/2")
        answers[f"{base}/round"] = Answer(302, b"moved", location="/and/round")
        answers[f"{base}/and/round"] = Answer(302, b"moved", location="/round")
        if crawl > 1:
            for path, status in GONE.items():
                answers[base + path] = Answer(status, b"gone")
    return answers


def named_plan(proxy: str, settings: Mapping[str, str]) -> Plan:
    """A crawl of it all through the proxy at that URL, from the front page of the first host."""
    address, port = proxy.removeprefix("http://").split(":")
    through = {
        "fetchHttp.httpProxyHost": address,
        "fetchHttp.httpProxyPort": port,
        "fetchDns.disableJavaDnsResolves": "true",  # that is: ask Java, not a name server
        "frontier.maxRetries": "8",
    }
    scope = [f"+{front(host)}" for host in HOSTS]
    return Plan([front(HOSTS[0])], scope, {**through, **settings}, None, ANNOTATOR, NOTED)


def named_options(folder: Path) -> list[str]:
    """Options of Java that give an address to every host; writes a file to `folder`."""
    hosts = folder / "hosts"
    hosts.write_text("".join(f"127.0.0.1 {name}\n" for name in HOSTS), "utf-8")
    return [f"-Djdk.net.hosts.file={hosts}"]


def _page(links: list[str], charset: str = "utf-8") -> Answer:
    anchors = "\n".join(f'<a href="{link}">link</a>' for link in links)
    body = f"<!DOCTYPE html><html><body>{anchors}</body></html>"
    kind = f"text/html; charset={charset}" if charset else "text/html"
    return Answer(200, body.encode(charset or "iso-8859-1"), kind)
