"""WAT: metadata records whose JSON describes one record each of a WARC or ARC file.

Common Crawl and the Internet Archive make them with ia-web-commons. A WAT record is turned into the
record that it describes. Of a page it has the tags with links and no text, so the body becomes a
page of those tags and the title, and every rule for pages holds. It has no bodies of other types.

Envelope: Format, WARC-Header-Metadata (or ARC-Header-Metadata), Payload-Metadata. In the latter:
HTTP-Request-Metadata with Request-Message,
HTTP-Response-Metadata with Response-Message, Headers and HTML-Metadata (Head: Title, Base, Metas,
Link, Scripts; Links), or WARC-Metadata-Metadata with the lines of a metadata record
(Metadata-Records).
A path such as `A@/href` names the element and the attribute that an `url` comes from.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from crawlrank.jobs.kernel.archive.damage import Damage
from crawlrank.jobs.kernel.archive.http_payload import content_type, media_type
from crawlrank.jobs.kernel.archive.record_headers import (
    BLANKS,
    Fields,
    arc_header,
    first,
    header_of,
)
from crawlrank.jobs.kernel.archive.records import Record, record_of
from crawlrank.jobs.kernel.encodings.encoding import encoded
from crawlrank.jobs.kernel.formats.rows import method_named
from crawlrank.jobs.kernel.keys.uris import as_text
from crawlrank.jobs.kernel.markup.charsets import charset_of

_WORDS = re.compile(f"[^{BLANKS}]+").findall
_PATH = re.compile(r"([A-Z0-9]{1,20})@/([a-z][a-z-]{0,30})\Z", re.IGNORECASE)
# What an element must stand in so that a parser sees it; `%s` alone for most.
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
_READ_BY_RULES = ("rel", "type", "method", "name", "http-equiv", "content")
# Commas and brackets of a JSON text. Each takes some 100 bytes as an object, and a link has four or
# five of them. No page that is read whole has this number.
_MOST_VALUES = 2**20
_CSS_ESCAPED = re.compile(r"[\x00-\x20\"'()\\<>]")


def described(item: Record | Damage) -> Record | Damage:
    """The record that a WAT record describes, at the WAT's offset; any other item as it is."""
    if isinstance(item, Damage) or not is_wat(item):
        return item
    if sum(map(item.body.count, (b",", b"{", b"["))) > _MOST_VALUES:
        return Damage(item.offset, "bad-wat", f"more than {_MOST_VALUES} values")
    import json

    try:
        envelope = _dict(json.loads(item.body), "Envelope")
    except (ValueError, RecursionError) as error:
        return Damage(item.offset, "bad-wat", ascii(str(error)[:60]))
    return _record(item, envelope) if envelope else item


def is_wat(record: Record) -> bool:
    is_json = record.kind == "metadata" and record.media_type.startswith("application/json")
    return is_json and b'"Envelope"' in record.body


def _mended(text: str) -> str:
    """A string of the JSON. Bytes that were no UTF-8, which Python writes as lone surrogates, are
    escaped."""
    try:
        return text if text.isascii() else as_text(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:  # other surrogates, of no bytes
        return text


def _record(wat: Record, envelope: dict[str, Any]) -> Record:
    payload = _dict(envelope, "Payload-Metadata")
    http = _dict(payload, "HTTP-Response-Metadata")
    fields = _fields(_dict(http, "Headers"))
    header = header_of(_fields(_dict(envelope, "WARC-Header-Metadata")))
    if arc := _fields(_dict(envelope, "ARC-Header-Metadata")):
        header = arc_header(
            first(arc, "target-uri"), first(arc, "date"), first(arc, "content-type")
        )
    kind = content_type(fields) if http else media_type((header.media_type,))
    if page := _dict(http or payload, "HTML-Metadata"):
        body = _page(page, kind)
    elif info := _dict(payload, "WARC-Info-Metadata"):
        body = f"software: {info.get('software', '')}".encode("utf-8", "replace")
    else:
        body = _lines(_dict(payload, "WARC-Metadata-Metadata"))
    status = _status(_dict(http, "Response-Message"))
    record, _ = record_of(header, b"", wat.offset, wat.size, 0)
    record = record._replace(media_type=kind, body=body, status=status, http_headers=fields)
    method = _dict(_dict(payload, "HTTP-Request-Metadata"), "Request-Message").get("Method")
    if record.kind == "request" and isinstance(method, str):
        record = record._replace(method=method_named(method))
    return record


def _status(message: dict[str, Any]) -> int | None:
    text = str(message.get("Status", ""))
    return int(text) if re.fullmatch(r"[1-9][0-9]{2}", text) else None


def _page(metadata: dict[str, Any], media_type: str) -> bytes:
    """A page of the tags with links, in the order of the JSON and in the charset of its header.

    A frameset hides everything else, as in an HTML parser.
    """
    head = _dict(metadata, "Head")
    tags = [_tag("meta", _rule_attributes(entry)) for entry in _entries(head, "Metas")]
    if isinstance(title := head.get("Title"), str):
        tags.append(f"<title>{html.escape(_mended(title))}</title>")
    if isinstance(base := head.get("Base"), str):
        tags.append(_tag("base", {"href": _mended(base)}))
    lists = ((head, "Link"), (head, "Scripts"), (metadata, "Links"))
    links = [entry for parent, name in lists for entry in _entries(parent, name)]
    frames = [link for link in links if str(link.get("path")).lower() == "frame@/src"]
    if frames:
        links = [link for link in links if str(link.get("path")).upper().startswith("LINK@")]
    tags += [tag for link in links for tag in _link_tags(link)]
    if frames:
        tags.append("<frameset>" + "".join(_tag("frame", {"src": _url(f)}) for f in frames))
    text = "<html>" + "\n".join(tags)
    return encoded(text, charset_of(text.encode("ascii", "replace"), media_type))


def _link_tags(link: dict[str, Any]) -> Iterator[str]:
    path = str(link.get("path"))
    if path.upper() == "STYLE/#TEXT":
        yield f'<style>@import "{_CSS_ESCAPED.sub(_css_escape, _url(link))}";</style>'
    elif match := _PATH.match(path):
        element, attribute = match[1].lower(), match[2].lower()
        if element in _AROUND:
            attributes = {**_rule_attributes(link), attribute: _url(link)}
            if element == "input":  # no other button has a picture
                attributes["type"] = "image"
            yield _AROUND[element] % _tag(element, attributes)


def _css_escape(match: re.Match[str]) -> str:
    return f"\\{ord(match[0]):x} "


def _tag(element: str, attributes: dict[str, str]) -> str:
    """Values in a WAT still have the character references of the page."""
    quoted = [(name, text.replace('"', "&quot;")) for name, text in attributes.items()]
    inside = "".join(f' {name}="{text}"' for name, text in quoted)
    end = "" if element in ("base", "body", "frame", "meta", "link", "img") else f"</{element}>"
    return f"<{element}{inside}>{end}"


def _rule_attributes(entry: dict[str, Any]) -> dict[str, str]:
    return {name: text for name in _READ_BY_RULES if isinstance(text := entry.get(name), str)}


def _url(link: dict[str, Any]) -> str:
    url = link.get("url", link.get("href"))
    return _mended(url) if isinstance(url, str) else ""


def _lines(metadata: dict[str, Any]) -> bytes:
    """The lines of a metadata record again; a value with line ends in it is one line."""
    lines = [
        _mended(" ".join(_WORDS(f"{entry.get('Name')}: {entry.get('Value')}")))
        for entry in _entries(metadata, "Metadata-Records")
    ]
    return "\n".join(lines).encode("utf-8", "replace")


def _fields(values: dict[str, Any]) -> Fields:
    """Header fields; the values of a repeated one are a list."""
    return [
        (name.lower(), _mended(text.strip(BLANKS)))
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
