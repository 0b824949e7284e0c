"""A multi-WACZ: a JSON file that names WACZ files, which are read as if each was given.

Its `profile` is `multi-wacz-package` (https://specs.webrecorder.net/multi-wacz/), and each of its
`resources` has a `path` or a `url`: a URL, or a path below the folder of the JSON. As data packages
demand, a path neither begins with `/` nor goes up with `..`; so a file from elsewhere names none of
this machine but those beside it. What lies on the web names only what lies there, too.

Indexes of captures in lines of JSON may have such a name as well, and are told by their first line.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin

from crawlrank.jobs.kernel.archive.cdx import kind_of as index_kind
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import (
    WEB,
    PathOrUrl,
    is_url,
    is_web,
    lower_scheme,
    name_of,
    opened,
)

PROFILE = "multi-wacz-package"
EXPECTED = (
    f'a multi-WACZ: `"profile": "{PROFILE}"`, and `resources` with paths or URLs of WACZ files'
)
_INDEX = object()
LARGEST = 1 << 26  # bytes; some 300,000 WACZ files


def is_multi_wacz(path_or_url: PathOrUrl) -> bool:
    """By its name: nothing else but an index of captures has such a one."""
    return name_of(path_or_url).lower().endswith(".json")


def wacz_files(path_or_url: PathOrUrl) -> list[PathOrUrl]:
    """The files that it names, in its order; for an index the index itself. Raises BadInput."""
    document = _document(path_or_url)
    if document is _INDEX:
        return [path_or_url]
    resources = _resources(path_or_url, document)
    files = [_resource(path_or_url, entry, number) for number, entry in enumerate(resources, 1)]
    if not files:
        raise BadInput(str(path_or_url), "no resource", EXPECTED)
    return files


def _document(path_or_url: PathOrUrl) -> Any:
    """What is in the JSON; _INDEX for an index."""
    with opened(path_or_url) as file:
        try:
            if index_kind(file):
                return _INDEX
            text = file.read(LARGEST + 1)
        except OSError as error:
            what = f"cannot be read ({error.strerror or error})"
            raise BadInput(str(path_or_url), what, EXPECTED) from error
    if len(text) > LARGEST:
        raise BadInput(str(path_or_url), f"more than {LARGEST // 10**6} MB", EXPECTED)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            str(path_or_url), f"no JSON ({ascii(str(error))[1:-1]})", EXPECTED
        ) from error


def _resources(path_or_url: PathOrUrl, document: Any) -> list[Any]:
    """The resources of a document with the profile, or without one (as an archiving service sends
    it), if it has resources."""
    if isinstance(document, dict):
        profile, resources = document.get("profile", PROFILE), document.get("resources")
        if profile == PROFILE and isinstance(resources, list):
            return resources
        what = f"the profile {str(profile)[:60]!a}" if profile != PROFILE else "no resources"
        raise BadInput(str(path_or_url), what, EXPECTED)
    raise BadInput(str(path_or_url), "JSON that is no object", EXPECTED)


def _resource(path_or_url: PathOrUrl, entry: Any, number: int) -> PathOrUrl:
    where = f"{path_or_url}, resource {number}"
    path = (entry.get("path") or entry.get("url")) if isinstance(entry, dict) else None
    if not isinstance(path, str) or not path or not path.isprintable():
        raise BadInput(where, "no path or URL", EXPECTED)
    if "://" in path:
        path = lower_scheme(path)
        if path.startswith(WEB) or (is_url(path) and not is_web(path_or_url)):
            return path
        raise BadInput(where, f"the URL {path[:100]!a}", "a URL of https://")
    if is_web(path_or_url):
        return urljoin(str(path_or_url), path)
    if path.startswith("/") or ".." in PurePosixPath(path).parts:
        cure = "Name the WACZ files themselves."
        raise BadInput(where, f"the path {path[:100]!a}", "a path below the JSON's folder", cure)
    if is_url(path_or_url):
        return f"{str(path_or_url).rpartition('/')[0]}/{path}"
    return Path(path_or_url).parent / path
