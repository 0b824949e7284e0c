"""The kind of a link's reference: what its target takes from the address of its page. With it a
page that has the same body at another address gets its own targets.

The kinds, with the names of RFC 3986 (4.1, 4.2); a link has several, with commas between them,
where its page refers to the target in several ways:

| kind | reference | has | takes from its page |
|---|---|---|---|
| `-` | URI | all of the target | nothing |
| `//` | network-path | all but the scheme | the scheme |
| `/` | absolute-path | path and query | scheme and host |
| `C.N` | relative-path | the last N names of the path, and the query | the directory C levels up |
| `?` | the same, of no path | the query | all else |
| `#` | same-document | nothing | all |

A kind comes from two targets of one reference: that on its page, and that on a page of another
scheme at a host that nobody has. So the standard's parser alone reads references. Of `http:a`,
which some pages of the nineties have for `a`, the kind is `-`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from crawlrank.jobs.kernel.formats.rows import UNKNOWN, Link
from crawlrank.jobs.kernel.keys.uris import resolve

DEEPEST = 32  # directories
LONGEST_KEPT = 1024  # bytes of what is remembered, so that no archive can fill the memory
BETWEEN = b","
NETWORK_PATH, ABSOLUTE_PATH, QUERY, SAME_DOCUMENT = b"//", b"/", b"?", b"#"
_DIRECTORIES = [b"~%d~" % level for level in range(DEEPEST)]
_HOST = b"://elsewhere.invalid/"
_PATH = _HOST + b"/".join([*_DIRECTORIES, b"~"])
_PAGE = _PATH + b"?~"


def elsewhere(uri: str) -> str:
    """A page of another scheme, at a host that nobody has."""
    return ("http" if uri.startswith("https:") else "https") + _PAGE.decode()


def kind_of(target: bytes, other: bytes) -> bytes:
    """The kind of a reference. other: its target on the page `elsewhere`."""
    is_short = len(target) + len(other) <= LONGEST_KEPT
    return _kept_kind(target, other) if is_short else _kind(target, other)


def _kind(target: bytes, other: bytes) -> bytes:
    if target == other or target.partition(b":")[0] == other.partition(b":")[0]:
        return UNKNOWN  # that names its scheme, which is not the page's
    rest = other[other.find(b":") :]
    if not rest.startswith(_HOST):
        return NETWORK_PATH if target.endswith(rest) else UNKNOWN
    if rest == _PAGE:
        return SAME_DOCUMENT
    path = rest.partition(b"?")[0]
    if path == _PATH:
        return QUERY
    names = path.removeprefix(_HOST).split(b"/")
    same = 0
    while same < min(DEEPEST, len(names)) and names[same] == _DIRECTORIES[same]:
        same += 1
    return b"%d.%d" % (DEEPEST - same, len(names) - same) if same else ABSOLUTE_PATH


_kept_kind = lru_cache(1 << 16)(_kind)  # pages of a site repeat its menus


def links_at(uri: bytes, link: Link, kinds: bytes, counters: Counter[str]) -> Iterator[Link]:
    """A link as another page has it, which has the body of the link's page: one for each target
    there. uri: of that page. counters: of `links.unresolved`, references without a target there."""
    targets = dict[bytes, None]()
    for kind in kinds.split(BETWEEN):
        target = link.target if kind == UNKNOWN else _target_at(uri, link.target, kind)
        if target is None:
            counters["links.unresolved"] += 1
        else:
            targets[target] = None
    return (link._replace(target=target, source=uri) for target in targets)


def _target_at(uri: bytes, target: bytes, kind: bytes) -> bytes | None:
    """The target on the page `uri` of the reference of that kind. None if there is none."""
    reference = _reference(target, kind)
    if reference is None:
        return None
    resolved = resolve(reference.decode(), uri.decode())
    return resolved if isinstance(resolved, bytes) else None


def _reference(target: bytes, kind: bytes) -> bytes | None:
    """A reference of that kind to the target, for the page that has it. No name in it is read as a
    scheme or a host. None if the target has no host and path, which the kind needs: extraction
    writes no such line, but a file made by hand may have one."""
    rest = target.partition(b":")[2]
    path, mark, query = rest.partition(b"?")
    if kind == QUERY:
        return b"?" + query
    if kind == SAME_DOCUMENT:
        return b""
    if not path.startswith(b"//") or path.find(b"/", 2) < 0:
        return None
    if kind == NETWORK_PATH:
        return rest
    if kind == ABSOLUTE_PATH:
        return b"/." + path[path.index(b"/", 2) :] + mark + query
    up, own = map(int, kind.split(b"."))
    return b"./" + b"../" * up + b"/".join(path.split(b"/")[3:][-own:]) + mark + query
