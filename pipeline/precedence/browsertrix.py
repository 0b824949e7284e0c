"""The configuration of Browsertrix Crawler: its seeds and its scope, by the class of a page.

Its fields are those of https://crawler.docs.browsertrix.com/user-guide/yaml-config/. A crawl by a
browser is expensive, so the classes say how far it goes:

    class 1          a seed; the links of the page to its own host are followed, one hop
    other classes    a seed, and no links of it
    the last class   no seed, and excluded, so that no link of class 1 leads to it

The lines are JSON, which YAML reads. Pages come best first, so the last class comes last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

#: what JavaScript's regular expressions give a meaning
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/-]")
_BEGINNING = re.compile(r"https?://(?:www[0-9]*\.)?", re.IGNORECASE)
_OF_ANY_SCHEME = r"^https?:\/\/(www[\d]*\.)?"  # Browsertrix takes these for one page


def config_lines(pages: Iterable[tuple[str, int]], last_class: int) -> Iterator[str]:
    """The file, line by line. pages: URI and class, the best first."""
    yield "# seeds and scope for Browsertrix Crawler, by the classes of a ranking of crawlrank"
    yield "seeds:"
    is_last = False
    for uri, number in pages:
        if number >= last_class > 1:
            if not is_last:
                yield "exclude:"
            is_last = True
            yield f"- {json.dumps(exclusion(uri))}"
        else:
            scope = {"scopeType": "host", "depth": 1} if number == 1 else {"scopeType": "page"}
            yield f"- {json.dumps({'url': uri} | scope)}"


def exclusion(uri: str) -> str:
    """The regular expression of JavaScript that matches a page in the form in which Browsertrix
    looks: with parameters in the order of their names."""
    begin = _BEGINNING.match(uri)
    rest = uri[begin.end() :] if begin else uri
    path, mark, query = rest.partition("?")
    if mark:
        parameters = sorted(query.split("&"), key=lambda each: each.partition("=")[0])
        path += "?" + "&".join(parameters)
    return _OF_ANY_SCHEME + _SPECIAL.sub(r"\\\g<0>", path) + "$"
