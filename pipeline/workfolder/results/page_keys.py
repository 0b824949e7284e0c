"""The keys of pages that users name, by URI or by key, in a finished work folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawlrank.jobs.kernel.keys.keys import key_function, www_rule

if TYPE_CHECKING:
    from crawlrank.pipeline.workfolder.results.finished import Finished


class NotAURI(ValueError):
    """The text is neither a URI nor a key."""


def _has_host(uri: str) -> bool:
    try:
        return bool(urlsplit(uri).hostname)
    except ValueError:  # of brackets that do not fit
        return False


def key_maker(finished: Finished) -> Callable[[str], str]:
    """A function from a URI to the key that the run makes of it, and from a key to the key itself.
    It raises NotAURI for all else."""
    of_uri = key_function(www_rule(finished.parameters))

    def key_of(page: str) -> str:
        if not page.lower().startswith(("http://", "https://")):
            if ")" in page or not finished.has_uris:
                return page
            raise NotAURI(f"{page!r} is no URI: write it with http:// or https://, or give a key")
        if not _has_host(page):
            raise NotAURI(f"{page!r} is no URI: its host is missing or cannot be read")
        key = of_uri(page.encode("utf-8", "replace"))
        if key is None:
            raise NotAURI(f"{page!r} is a URI of which surt makes no key, so it is never a page")
        return key.decode()

    return key_of
