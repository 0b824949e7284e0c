"""Hostile inputs by the productions of grammars that take a list or a string: each may be made of
any length, and the work on it must grow as its length does.

A production is a function of a count: it makes an archive, most often of one record.
"""

from __future__ import annotations

from collections.abc import Callable

Production = Callable[[int], bytes]
URI = "http://h.example/d/p"
LONG = 1 << 14


def record(body: bytes, media: str = "text/html", header: bytes = b"", uri: str = URI) -> bytes:
    """A response. header: lines of HTTP, each with its end."""
    block = (
        b"HTTP/1.1 200 OK\r\nContent-Type: " + media.encode() + b"\r\n" + header + b"\r\n" + body
    )
    return warc(block, uri.encode())


def warc(
    block: bytes, uri: bytes = URI.encode(), more: bytes = b"", kind: bytes = b"response"
) -> bytes:
    """more: lines of the WARC header, each with its end."""
    return (
        b"WARC/1.0\r\nWARC-Type: %b\r\nWARC-Target-URI: %b\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        b"Content-Type: application/http; msgtype=response\r\n%bContent-Length: %d\r\n\r\n"
        % (kind, uri, more, len(block))
    ) + block + b"\r\n\r\n"  # fmt: skip


def repeated(
    one: bytes, before: bytes = b"", after: bytes = b"", media: str = "text/html"
) -> Production:
    """A body of a unit many times."""
    return lambda n: record(before + one * n + after, media)


def numbered(
    one: str, before: bytes = b"", after: bytes = b"", media: str = "text/html"
) -> Production:
    """A production of units that differ: `{}` is their number."""
    return lambda n: record(
        before + "".join(one.format(i) for i in range(n)).encode() + after, media
    )


def linked(uri: Callable[[int], str]) -> Production:
    """A page with some links of that length, each to another page."""
    return lambda n: record("".join(f'<a href="{uri(n)}?{i}">' for i in range(8)).encode())


def based(base: Callable[[int], str], references: int = 200) -> Production:
    return lambda n: record(
        f'<base href="{base(n)}">'.encode()
        + "".join(f'<a href="{i}">' for i in range(references)).encode()
    )


def headed(name: str, value: Callable[[int], str]) -> Production:
    """A page with a long field of HTTP."""
    return lambda n: record(b"", header=f"{name}: {value(n)}\r\n".encode())


def captured(uri: Callable[[int], str]) -> Production:
    """Captures of URIs of that length, or of more of them where they would be longer than LONG."""
    return lambda n: b"".join(
        record(b"", uri=f"{uri(min(n, LONG))}?{i}") for i in range(max(8, 8 * n // LONG))
    )


CJK, ACUTE = "\u4e2d", "\u0301"  # a letter of three bytes, a mark on the letter before
FEED, SITEMAP = "application/rss+xml", "application/xml"
CSS = "text/css"

HTML: dict[str, Production] = {
    "links": numbered('<a href="{}">x</a>'),
    "same-links": repeated(b'<a href="x">x</a>'),
    "attributes": numbered(" a{}=b", b"<a", b" href=x>"),
    "same-attributes": repeated(b" a=b", b"<a", b" href=x>"),
    "attribute-value": repeated(b"a", b'<a href="x" title="', b'">'),
    "reference": repeated(b"a", b'<a href="/', b'">'),
    "unclosed-quote": repeated(b'<a href="x', b"", b""),
    "open-tags": repeated(b"<a"),
    "less-than": repeated(b"<"),
    "slashes-in-tag": repeated(b"/", b"<a ", b" href=x>"),
    "nested-div": repeated(b"<div>"),
    "nested-links": repeated(b"<a href=x><b>"),
    "nested-formats": repeated(b"<b><i><p>"),
    "misnested-formats": repeated(b"<b><p></b>"),
    "fonts": numbered("<font a={}><p>"),
    "end-tags": repeated(b"</p>"),
    "svg-end-tags": repeated(b"</svg>", b"<svg>"),
    "nested-svg": repeated(b"<svg><desc>"),
    "nested-math": repeated(b"<math><mi>"),
    "foreign-in-html": repeated(b"<svg><foreignObject><div>"),
    "tables": repeated(b"<table><tr><td>"),
    "foster-parents": repeated(b"<table><a href=x>"),
    "cells": repeated(b"<tr><td>", b"<table>"),
    "selects": repeated(b"<option>", b"<select>"),
    "nested-selects": repeated(b"<select><table>"),
    "nested-templates": repeated(b"<template>"),
    "nested-shadow-roots": repeated(b"<div><template shadowrootmode=open>"),
    "shadow-roots": repeated(b"<div><template shadowrootmode=open></template></div>"),
    "robots-rules": repeated(b"max-snippet:-1 x:", b'<meta name=robots content="', b'">'),
    "title": repeated(b"a ", b"<title>"),
    "title-references": repeated(b"&amp&#0;", b"<title>"),
    "title-ends": repeated(b"</title</titl", b"<title>"),
    "whole-titles": repeated(b"<title>x</title>"),
    "svg-titles": repeated(b"<svg><title>x</title></svg>"),
    "nested-titles": repeated(b"<svg><g><title>x</title><math>"),
    "xhtml-title": repeated(b"<![CDATA[<!--", b"<title>", media="application/xhtml+xml"),
    "nested-lists": repeated(b"<ul><li>"),
    "forms": numbered('<form action="{}"><input>'),
    "buttons": repeated(b"<button>"),
    "frames": numbered('<frameset><frame src="{}">'),
    "iframes": numbered('<iframe src="{}"></iframe>'),
    "srcdocs": repeated(
        b'<iframe srcdoc="&lt;base href=b&gt;&lt;a href=x&gt;"></iframe>', b"<base href=a>"
    ),
    "srcdoc": repeated(b"&lt;a href=x&gt;", b'<iframe srcdoc="', b'"></iframe>'),
    "nested-srcdocs": lambda n: record(
        (b"<iframe srcdoc='" * min(n, 3)) + b"&amp;lt;a href=x&amp;gt;" * n
    ),
    "srcset": numbered("{}.png 1x, ", b'<img srcset="', b'">'),
    "srcset-commas": repeated(b",", b'<img srcset="', b'">'),
    "srcset-parentheses": repeated(b"(", b'<img srcset="a ', b'">'),
    "ping": numbered("{} ", b'<a href=x ping="', b'">'),
    "rel": numbered("r{} ", b'<a href=x rel="', b'">'),
    "archive": numbered("{},", b'<object archive="', b'">'),
    "meta-refresh": repeated(b" ", b'<meta http-equiv=refresh content="0', b';url=x">'),
    "meta-refreshes": numbered('<meta http-equiv=refresh content="0;url={}">'),
    "meta-robots": repeated(b"nofollow,", b'<meta name=robots content="', b'">'),
    "canonicals": numbered('<link rel=canonical href="{}">'),
    "bases": numbered('<base href="{}/">'),
    "comments": repeated(b"<!-- -->"),
    "open-comments": repeated(b"<!--"),
    "comment-ends": repeated(b"--", b"<!--"),
    "bogus-comments": repeated(b"<!a>"),
    "cdata": repeated(b"<![CDATA[x]]>", b"<svg>"),
    "entities": repeated(b"&amp;", b'<a href="', b'">'),
    "open-entities": repeated(b"&"),
    "long-entity": repeated(b"a", b'<a href="&', b'">'),
    "numbers": repeated(b"&#65;", b'<a href="/', b'">'),
    "long-number": repeated(b"0", b'<a href="&#', b'">'),
    "scripts": repeated(b"<script>a='<a href=x>'</script>"),
    "script-escapes": repeated(b"<!--<script>", b"<script>"),
    "styles": repeated(b"<style>a{background:url(x)}</style>"),
    "style-attributes": repeated(b'<p style="background:url(x)">'),
    "titles": repeated(b"<title>", b"<title>"),
    "plaintext": repeated(b"<plaintext>"),
    "noscripts": repeated(b"<noscript><a href=x></noscript>"),
    "zero-bytes": repeated(b"\0", b"<a href=x"),
    "bad-utf-8": repeated(b"\xc3", b'<a href="/', b'">'),
    "blanks": repeated(b" ", b"<a", b" href=x>"),
    "doctypes": repeated(b"<!doctype html>"),
    "utf-16": lambda n: record(b"\xff\xfe" + '<a href="x">'.encode("utf-16-le") * n),
    "utf-7": repeated(b"+AGE-", b"<meta charset=utf-7>"),
    "iso-2022-jp": repeated(b"\x1b$B!!\x1b(B", b"<meta charset=iso-2022-jp>"),
    "gb18030": repeated(b"\x81\x30\x81\x30", b"<meta charset=gb18030>"),
    "charsets": repeated(b"<meta charset=x>"),
}
STYLES: dict[str, Production] = {
    "urls": numbered("a{{background:url({})}}", media=CSS),
    "open-urls": repeated(b"url(", media=CSS),
    "imports": numbered('@import "{}";', media=CSS),
    "open-strings": repeated(b'"', media=CSS),
    "escapes": repeated(b"\\61 ", b"a{b:url(", b")}", CSS),
    "comments": repeated(b"/**/", media=CSS),
    "open-comments": repeated(b"/*", media=CSS),
    "nested-functions": repeated(b"a(", media=CSS),
    "braces": repeated(b"{", media=CSS),
    "backslashes": repeated(b"\\", media=CSS),
    "backslashes-in-url": repeated(b"\\", b"url(", media=CSS),
    "blanks-in-url": repeated(b" ", b"url(", media=CSS),
    "image-sets": numbered("image-set(url({}) 1x) ", b"a{b:", b"}", CSS),
}
DOCUMENTS: dict[str, Production] = {
    "items": numbered("<item><link>http://h/{}</link></item>", b"<rss>", b"</rss>", FEED),
    "nested": repeated(b"<a>", b"<rss>", b"", FEED),
    "attributes": numbered(' a{}="b"', b"<rss><item", b"/></rss>", FEED),
    "namespaces": numbered(' xmlns:a{}="b"', b"<rss", b"></rss>", FEED),
    "nested-namespaces": repeated(b'<a xmlns="b">', b"<rss>", b"", FEED),
    "entities": repeated(b"&amp;", b"<rss><item><link>http://h/", b"</link></item></rss>", FEED),
    "declared": lambda n: record(
        b'<!DOCTYPE a [<!ENTITY a "%b">]><rss>&a;</rss>' % (b"x" * n), FEED
    ),
    "declarations": numbered('<!ENTITY a{} "b">', b"<!DOCTYPE a [", b"]><rss/>", FEED),
    "instructions": repeated(b"<?a b?>", b"<rss>", b"</rss>", FEED),
    "cdata": repeated(b"<![CDATA[x]]>", b"<rss><item><link>", b"</link></item></rss>", FEED),
    "open-cdata": repeated(b"<![CDATA[", b"<rss>", b"", FEED),
    "comments": repeated(b"<!-- -->", b"<rss>", b"</rss>", FEED),
    "descriptions": repeated(
        b"&lt;a href=x&gt;", b"<rss><item><description>", b"</description></item></rss>", FEED
    ),
    "atom": numbered(
        '<link href="{}"/>', b'<feed xmlns="http://www.w3.org/2005/Atom">', b"</feed>", FEED
    ),
    "sitemap": numbered(
        "<url><loc>http://h.example/{}</loc></url>", b"<urlset>", b"</urlset>", SITEMAP
    ),
    "sitemaps": numbered(
        "<sitemap><loc>http://h.example/{}</loc></sitemap>",
        b"<sitemapindex>",
        b"</sitemapindex>",
        SITEMAP,
    ),
    "alternates": numbered(
        '<xhtml:link href="http://h.example/{}"/>', b"<urlset><url>", b"</url></urlset>", SITEMAP
    ),
    "text": numbered("http://h.example/{}\n", media="text/plain"),
    "robots": lambda n: record(
        b"Sitemap: /a\n" * n, "text/plain", uri="http://h.example/robots.txt"
    ),
    "robots-line": lambda n: record(
        b"Sitemap: " + b"a" * n, "text/plain", uri="http://h.example/robots.txt"
    ),
    "robots-rules": lambda n: record(
        b"Disallow: /*a\n" * n, "text/plain", uri="http://h.example/robots.txt"
    ),
    "pdf": repeated(b"1 0 obj<</URI(http://h/)>>endobj ", b"%PDF-1.4 ", media="application/pdf"),
    "pdf-arrays": repeated(b"[", b"%PDF-1.4 1 0 obj", media="application/pdf"),
    "pdf-dictionaries": repeated(b"<<", b"%PDF-1.4 1 0 obj", media="application/pdf"),
    "pdf-xrefs": repeated(b"xref 0 1 ", b"%PDF-1.4 ", media="application/pdf"),
}
FIELDS: dict[str, Production] = {
    "links": headed("Link", lambda n: "<a>; rel=next, " * n),
    "quoted-link": headed("Link", lambda n: '<a>\\"' * n),
    "link-parameters": headed("Link", lambda n: "<a>" + "; b=c" * n),
    "open-links": headed("Link", lambda n: "<" * n),
    "link-semicolons": headed("Link", lambda n: "<a>" + ";" * n),
    "location": headed("Location", lambda n: "/" + "a" * n),
    "location-dots": headed("Location", lambda n: "/" + "../" * n),
    "refresh": headed("Refresh", lambda n: "0;" + " " * n + "url=x"),
    "refresh-numbers": headed("Refresh", lambda n: "0" * n + ";url=x"),
    "content-location": headed("Content-Location", lambda n: "a/" * n),
    "media-parameters": headed("Content-Type", lambda n: "text/html" + "; a=b" * n),
    "media-quotes": headed("Content-Type", lambda n: 'text/html; a="' + '\\"' * n),
    "codings": headed("Content-Encoding", lambda n: "identity, " * n),
    "robots-tag": headed("X-Robots-Tag", lambda n: "nofollow, " * n),
    "fields": lambda n: record(b"", header=b"".join(b"A%d: b\r\n" % i for i in range(n))),
    "same-fields": lambda n: record(b"", header=b"Link: <a>\r\n" * n),
    "folded": lambda n: record(b"", header=b"Link: <a>\r\n" + b" , <b>\r\n" * n),
    "colons": lambda n: record(b"", header=b":" * n + b"\r\n"),
    "no-colons": lambda n: record(b"", header=b"a\r\n" * n),
    "blanks": lambda n: record(b"", header=b"A:" + b" " * n + b"b\r\n"),
    "carriage-returns": lambda n: record(b"", header=b"A: b" + b"\r" * n + b"\n"),
    "chunks": lambda n: record(
        b"1\r\na\r\n" * n + b"0\r\n\r\n", header=b"Transfer-Encoding: chunked\r\n"
    ),
    "chunk-size": lambda n: record(b"0" * n + b"\r\n", header=b"Transfer-Encoding: chunked\r\n"),
    "warc-fields": lambda n: warc(b"", more=b"".join(b"A%d: b\r\n" % i for i in range(n))),
    "warc-same-fields": lambda n: warc(b"", more=b"WARC-Concurrent-To: <urn:uuid:a>\r\n" * n),
    "warc-folded": lambda n: warc(b"", more=b"A: b\r\n" + b" c\r\n" * n),
    "warc-value": lambda n: warc(b"", more=b"WARC-Refers-To-Target-URI: " + b"a" * n + b"\r\n"),
    "warc-blank-lines": lambda n: warc(b"") + b"\r\n" * n + warc(b""),
    "warc-garbage": lambda n: warc(b"") + b"WARC/1" * n + warc(b""),
    "warc-no-length": lambda n: warc(b"").replace(b"Content-Length", b"A") + b"a\r\n\r\n" * n,
    "gzip-heads": lambda n: warc(b"") + b"\x1f\x8b\x08\0" * n,
    "zstd-heads": lambda n: warc(b"") + b"\x28\xb5\x2f\xfd" * n,
    "lz4-heads": lambda n: warc(b"") + b"\x04\x22\x4d\x18" * n,
    "records": lambda n: warc(b"HTTP/1.1 200 OK\r\n\r\n") * n,
    "metadata": lambda n: warc(b"outlink: http://h/a L a/@href\r\n" * n, kind=b"metadata").replace(
        b"application/http; msgtype=response", b"application/warc-fields"
    ),
    "arc-lines": lambda n: (
        b"filedesc://a 0.0.0.0 20240506070809 text/plain 5\n1 0 a\n\n" + b"http://h/ " * n
    ),
    "cdx-fields": lambda n: b" CDX " + b"N " * n + b"\n" + b"a " * n + b"\n",
    "cdx-lines": lambda n: (
        b" CDX N b a m s k r M S V g\n"
        + b"h)/ 20240506070809 http://h/ text/html 200 A - - 1 1 a\n" * n
    ),
    "cdxj-braces": lambda n: b'h)/ 20240506070809 {"url": "http://h/", "a": ' + b"{" * n + b"\n",
    "cdxj-lists": lambda n: (
        b'h)/ 20240506070809 {"url": "http://h/", "a": ' + b"[" * n + b"]" * n + b"}\n"
    ),
    "cdxj-lines": lambda n: b'h)/ 20240506070809 {"url": "http://h/"}\n' * n,
}
#: of a URI, that pages link to, that is captured and that is a base; up to 8,192 characters count
PARTS: dict[str, Callable[[int], str]] = {
    "userinfo": lambda n: f"http://{'a' * n}@h/",
    "colons": lambda n: f"http://{'a:' * n}@h/",
    "at-signs": lambda n: f"http://{'a@' * n}h/",
    "port": lambda n: f"http://h:{'0' * n}80/",
    "labels": lambda n: f"http://{'a.' * n}example/",
    "label": lambda n: f"http://{'a' * n}.example/",
    "host-dots": lambda n: f"http://h{'.' * n}/",
    "escaped-host": lambda n: f"http://{'%61' * n}/",
    "www": lambda n: f"http://{'www.' * n}h/",
    "idna": lambda n: f"http://{CJK * n}.example/",
    "idna-labels": lambda n: f"http://{(CJK + '.') * n}example/",
    "punycode": lambda n: f"http://xn--{'a' * n}/",
    "combining": lambda n: f"http://a{ACUTE * n}.example/",
    "ipv6": lambda n: f"http://[{'0:' * n}]/",
    "ipv4": lambda n: f"http://{'1.' * n}1/",
    "segments": lambda n: f"http://h/{'a/' * n}",
    "slashes": lambda n: f"http://h/{'/' * n}",
    "dots": lambda n: f"http://h/{'./' * n}",
    "parents": lambda n: f"http://h/{'../' * n}",
    "segments-and-parents": lambda n: f"http://h/{'a/' * n}{'../' * n}",
    "backslashes": lambda n: "http://h/" + "\\" * n,
    "percents": lambda n: f"http://h/{'%' * n}",
    "escapes": lambda n: f"http://h/{'%41' * n}",
    "escaped-percents": lambda n: f"http://h/%{'25' * n}41",
    "bad-escapes": lambda n: f"http://h/{'%zz' * n}",
    "blanks": lambda n: f"http://h/{' ' * n}a",
    "text": lambda n: f"http://h/{CJK * n}",
    "query": lambda n: f"http://h/?{'a=b&amp;' * n}",
    "question-marks": lambda n: f"http://h/{'?' * n}",
    "ampersands": lambda n: f"http://h/?{'&amp;' * n}",
    "sessions": lambda n: f"http://h/;jsessionid={'0' * 32}" * 1 + ";jsessionid=" * n,
    "cfid": lambda n: f"http://h/?{'cfid=' * n}",
    "phpsessid": lambda n: f"http://h/?{'phpsessid=' + '0' * 32 + '&amp;'}" + "phpsessid=" * n,
    "sid": lambda n: f"http://h/?{'sid=' * n}",
    "aspx": lambda n: f"http://h/{'(s(' * n}a.aspx",
    "fragment": lambda n: f"http://h/#{'#' * n}",
    "scheme": lambda n: f"{'a' * n}://h/",
    "http-in-http": lambda n: "http://" * n + "h/",
}  # fmt: skip


def productions() -> dict[str, Production]:
    """All of them, by grammar and name."""
    grammars = {"html": HTML, "css": STYLES, "documents": DOCUMENTS, "fields": FIELDS}
    made = {
        f"{grammar}-{name}": one for grammar, of in grammars.items() for name, one in of.items()
    }
    for name, part in PARTS.items():
        made[f"link-{name}"] = linked(part)
        made[f"base-{name}"] = based(part)
        made[f"capture-{name}"] = captured(part)
    return made
