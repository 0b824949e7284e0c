"""WAT: metadata records whose JSON describes one record each of a WARC or ARC file.

Made by ia-web-commons, as Common Crawl and the Internet Archive publish them. A WAT record is
turned into the record that it describes; of a page it has the tags with links and no text, so the
body is a page of those tags, and every rule for pages holds. It has no bodies of other types.

Envelope: Format, WARC-Header-Metadata (or ARC-Header-Metadata), Payload-Metadata. In the latter:
HTTP-Response-Metadata with Response-Message, Headers and HTML-Metadata (Head: Base, Metas, Link,
Scripts; Links), or WARC-Metadata-Metadata with the lines of a metadata record (Metadata-Records).
A path such as `A@/href` names the element and the attribute that an `url` comes from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from jobs.kernel.archive.damage import Damage
from jobs.kernel.archive.record_headers import Fields, every, first, timestamp14, unbracketed
from jobs.kernel.archive.records import LONGEST_TYPE, Record
from jobs.kernel.keys.uris import as_text
from jobs.kernel.markup.charsets import charset_of

_PATH = re.compile(r"([A-Z0-9]{1,20})@/([a-z][a-z-]{0,30})\Z", re.IGNORECASE)
# What an element must stand in for a parser to see it; `%s` alone for most.
_AROUND = {
    **dict.fromkeys(("td", "th"), "<table><tr>%s</table>"),
    **dict.fromkeys(("tr", "tbody", "thead", "tfoot"), "<table>%s</table>"),
}
_PLAIN = (
    *("blockquote", "del", "ins", "q"),
    *("a", "area", "audio", "body", "embed", "form", "iframe", "img", "input", "link", "meta"),
    *("object", "script", "source", "table", "track", "video"),
)
_AROUND.update(dict.fromkeys(_PLAIN, "%s"))
_TELLING = ("rel", "type", "method", "name", "http-equiv", "content")  # what a rule may look at
# Commas and brackets of a JSON text, each some 100 bytes once it is an object, and a link four or
# five of them: no page that is read whole has so many.
_MOST_VALUES = 2**20
_CSS_ESCAPED = re.compile(r"[\x00-\x20\"'()\\<>]")


def described(item: Record | Damage) -> Record | Damage:
    """The record that a WAT record describes; any other item as it is.

    The offset stays that of the WAT record, whose file this is.
    """
    if isinstance(item, Damage) or not is_wat(item):
        return item
    if sum(map(item.body.count, (b",", b"{", b"["))) > _MOST_VALUES:
        return Damage(item.offset, "bad-wat", f"more than {_MOST_VALUES} values")
    try:
        envelope = _dict(json.loads(item.body), "Envelope")
    except (ValueError, RecursionError) as error:
        return Damage(item.offset, "bad-wat", ascii(str(error)[:60]))
    return _record(item, envelope) if envelope else item


def is_wat(record: Record) -> bool:
    """Whether the record looks like one of a WAT."""
    is_json = record.kind == "metadata" and record.media_type.startswith("application/json")
    return is_json and b'"Envelope"' in record.body


def _mended(text: str) -> str:
    """A string of the JSON; bytes that were no UTF-8, lone surrogates to writers in Python, are
    escaped."""
    try:
        return text if text.isascii() else as_text(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # other surrogates, of no bytes
        return text


def _record(wat: Record, envelope: dict[str, Any]) -> Record:
    header = _fields(_dict(envelope, "WARC-Header-Metadata"))
    payload = _dict(envelope, "Payload-Metadata")
    http = _dict(payload, "HTTP-Response-Metadata")
    fields = _fields(_dict(http, "Headers"))
    record = wat._replace(
        kind=first(header, "warc-type").lower(),
        uri=unbracketed(first(header, "warc-target-uri")),
        timestamp=timestamp14(first(header, "warc-date")),
        media_type=first(fields if http else header, "content-type")[:LONGEST_TYPE],
        body=b"",
        status=_status(_dict(http, "Response-Message")),
        http_headers=fields,
        record_id=first(header, "warc-record-id"),
        concurrent_to=every(header, "warc-concurrent-to"),
        refers_to=first(header, "warc-refers-to"),
        digest=first(header, "warc-payload-digest"),
        refers_to_uri=unbracketed(first(header, "warc-refers-to-target-uri")),
        refers_to_timestamp=timestamp14(first(header, "warc-refers-to-date")),
    )
    if arc := _fields(_dict(envelope, "ARC-Header-Metadata")):
        record = _of_arc(record, arc, bool(http))
    if page := _dict(http or payload, "HTML-Metadata"):
        return record._replace(body=_page(page, record.media_type))
    return record._replace(body=_lines(_dict(payload, "WARC-Metadata-Metadata")))


def _of_arc(record: Record, arc: Fields, http: bool) -> Record:
    uri = first(arc, "target-uri")
    return record._replace(
        kind="warcinfo" if uri.lower().startswith("filedesc:") else "response",
        uri=uri,
        timestamp=timestamp14(first(arc, "date")),
        media_type=record.media_type if http else first(arc, "content-type")[:LONGEST_TYPE],
    )


def _status(message: dict[str, Any]) -> int | None:
    text = str(message.get("Status", ""))
    return int(text) if re.fullmatch(r"[1-9][0-9]{2}", text) else None


def _page(metadata: dict[str, Any], media_type: str) -> bytes:
    """A page of the tags with links, in the order of the JSON, in a charset that fits its header.

    What an HTML parser does with frames is done here: where a frameset is, nothing else is shown.
    """
    head = _dict(metadata, "Head")
    tags = [_tag("meta", _telling(entry)) for entry in _entries(head, "Metas")]
    if isinstance(base := head.get("Base"), str):
        tags.append(_tag("base", {"href": _mended(base)}))
    places = ((head, "Link"), (head, "Scripts"), (metadata, "Links"))
    links = [entry for place, name in places for entry in _entries(place, name)]
    frames = [link for link in links if str(link.get("path")).lower() == "frame@/src"]
    if frames:
        links = [link for link in links if str(link.get("path")).upper().startswith("LINK@")]
    tags += [tag for link in links for tag in _link_tags(link)]
    if frames:
        tags.append("<frameset>" + "".join(_tag("frame", {"src": _url(f)}) for f in frames))
    text = "<html>" + "\n".join(tags)
    codec = charset_of(text.encode("ascii", "replace"), media_type)
    return text.encode(codec, "xmlcharrefreplace")


def _link_tags(link: dict[str, Any]) -> Iterator[str]:
    path = str(link.get("path"))
    if path.upper() == "STYLE/#TEXT":
        yield f'<style>@import "{_CSS_ESCAPED.sub(_css_escape, _url(link))}";</style>'
    elif match := _PATH.match(path):
        element, attribute = match[1].lower(), match[2].lower()
        if element in _AROUND:
            attributes = {**_telling(link), attribute: _url(link)}
            if element == "input":  # no other button has a picture
                attributes["type"] = "image"
            yield _AROUND[element] % _tag(element, attributes)


def _css_escape(match: re.Match[str]) -> str:
    return f"\\{ord(match[0]):x} "


def _tag(element: str, attributes: dict[str, str]) -> str:
    """Values in a WAT are as they stood in the page, with their character references."""
    quoted = [(name, text.replace('"', "&quot;")) for name, text in attributes.items()]
    inside = "".join(f' {name}="{text}"' for name, text in quoted)
    end = "" if element in ("base", "body", "frame", "meta", "link", "img") else f"</{element}>"
    return f"<{element}{inside}>{end}"


def _telling(entry: dict[str, Any]) -> dict[str, str]:
    return {name: text for name in _TELLING if isinstance(text := entry.get(name), str)}


def _url(link: dict[str, Any]) -> str:
    url = link.get("url", link.get("href"))
    return _mended(url) if isinstance(url, str) else ""


def _lines(metadata: dict[str, Any]) -> bytes:
    """The lines of a metadata record again; a value with line ends in it is one line."""
    lines = [
        _mended(" ".join(f"{entry.get('Name')}: {entry.get('Value')}".split()))
        for entry in _entries(metadata, "Metadata-Records")
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _fields(values: dict[str, Any]) -> Fields:
    """Header fields; the values of a repeated one are a list."""
    return [
        (name.lower(), _mended(text.strip()))
        for name, value in values.items()
        for text in (value if isinstance(value, list) else [value])
        if isinstance(text, str)
    ]


def _dict(parent: object, name: str) -> dict[str, Any]:
    child = parent.get(name) if isinstance(parent, dict) else None
    return child if isinstance(child, dict) else {}


def _entries(parent: dict[str, Any], name: str) -> list[dict[str, Any]]:
    children = parent.get(name)
    return [c for c in children if isinstance(c, dict)] if isinstance(children, list) else []
