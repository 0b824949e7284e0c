"""A web of odd spellings: pages that link to every http(s) URI of a table, and answers to all.

One server answers for all hosts as Heritrix's proxy. Heritrix still wants an address of each
name; a file of hosts gives it one, so that no name is asked of anybody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from crawlrank.pipeline.precedence.beans import ANNOTATOR
from heritrix.job import Plan
from heritrix.made_site import Answer
from heritrix.recrawl import NOTED

ON_A_PAGE = 200  # links
FRONT = "http://front.example/"

_NAME = re.compile(r"https?://(?:[^/@]*@)?([^/:]+)")
_USUAL = re.compile(r"https?://[a-z0-9.-]+\.[a-z]+/[A-Za-z0-9/._~-]*(?:#[A-Za-z0-9_-]*)?")
#: whose port is the usual one over http, or one that no server has
_NOT_SERVED = re.compile(r"https://[^/]*:80/|https?://[^/]*:-")

#: Heritrix takes some spellings for the same URI and fetches one of them; here it fetches all
NO_FOLDING = """
<bean id="canonicalizationPolicy"
      class="org.archive.modules.canonicalize.RulesCanonicalizationPolicy">
  <property name="rules"><list/></property>
</bean>"""


def odd_rows(table: Path) -> list[tuple[str, str]]:
    """The rows of uuri.tsv as (URI, form) that Heritrix takes, that a server can answer, and that
    are not quite usual. All over http: what is odd about them is not in the scheme.
    """
    lines = table.read_bytes().decode().split("\n")
    rows = [line.split("\t") for line in lines[1:] if line]
    return [
        (_over_http(uri), _over_http(form))
        for uri, form, _ in rows
        if form != "REJECT" and not _USUAL.fullmatch(uri) and not _NOT_SERVED.match(form)
    ]


def _over_http(uri: str) -> str:
    return re.sub(r"^(\s*http)s", r"\1", uri, flags=re.IGNORECASE)


def odd_answers(uris: Sequence[str]) -> dict[str, Answer]:
    """The front page and the pages of links; any other URI has the answer `leaf`."""
    chunks = [uris[i : i + ON_A_PAGE] for i in range(0, len(uris), ON_A_PAGE)]
    numbered = [f"{FRONT}{number}.html" for number in range(len(chunks))]
    answers = {FRONT: _page(numbered)}
    answers.update(zip(numbered, map(_page, chunks), strict=True))
    return answers


def leaf(uri: str) -> Answer:
    return Answer(200, f"<p>{escape(uri)}</p>".encode())


def _page(links: Sequence[str]) -> Answer:
    anchors = "\n".join(f'<a href="{escape(uri)}">link</a>' for uri in links)
    return Answer(200, f"<!DOCTYPE html><html><body>{anchors}</body></html>".encode())


def odd_plan(proxy: str, fragment: Path | None = None) -> Plan:
    """A crawl of it all, from its front page, through the proxy at that URL; notes precedences."""
    address, port = proxy.removeprefix("http://").split(":")
    settings = {
        "fetchHttp.httpProxyHost": address,
        "fetchHttp.httpProxyPort": port,
        "fetchDns.disableJavaDnsResolves": "true",  # that is: ask Java, not a name server
    }
    return Plan([FRONT], ["+http://("], settings, fragment, NO_FOLDING + ANNOTATOR, NOTED)


def java_options(forms: Sequence[str], folder: Path) -> list[str]:
    """Options that give an address to every name in the forms; writes a file to `folder`."""
    names = {match[1] for form in [FRONT, *forms] if (match := _NAME.match(form))}
    hosts = folder / "hosts"
    hosts.write_text("".join(f"127.0.0.1 {name}\n" for name in sorted(names)), "utf-8")
    # names of numbers too, of which Java would make addresses of its own, or refuse them
    return [f"-Djdk.net.hosts.file={hosts}", "-Djdk.net.allowAmbiguousIPAddressLiterals=true"]
