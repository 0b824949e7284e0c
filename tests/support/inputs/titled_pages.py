"""Pages with titles that are easily read wrongly: the page, its media type, and its title."""

from __future__ import annotations

UTF8, XHTML = "text/html; charset=utf-8", "application/xhtml+xml"


def _xhtml(head: bytes) -> bytes:
    begin = b'<html xmlns="http://www.w3.org/1999/xhtml"><head>'
    return begin + head + b"</head><body><p>x</p></body></html>"


PAGES: dict[str, tuple[bytes, str, str]] = {
    "blanks": (b"<title>\n one \t two\r\nthree </title>", UTF8, "one two three"),
    "none": (b"<h1>x</h1>", UTF8, ""),
    "empty": (b"<title></title><title>second</title>", UTF8, ""),
    "only blanks": (b"<title> \n\t </title>", UTF8, ""),
    "a dash": (b"<title> - </title>", UTF8, ""),
    "several": (b"<title>first</title><title>second</title>", UTF8, "first"),
    "unclosed": (b"<title>a<p>b", UTF8, "a<p>b"),
    "in the body": (b"<body><p>x<div><title>late</title></div>", UTF8, "late"),
    "after the body": (b"<body>x</body></html><title>last</title>", UTF8, "last"),
    "capital letters": (b"<TITLE LANG=en>x</Title >", UTF8, "x"),
    "of SVG": (b"<svg><title>no</title><g><title>no</title></g></svg><title>yes", UTF8, "yes"),
    "of SVG alone": (b"<svg><title>no</title></svg>", UTF8, ""),
    "of HTML in SVG": (
        b"<svg><foreignObject><title>yes</title></foreignObject></svg>", UTF8, "yes",
    ),
    "of MathML": (b"<math><title>no</title></math><title>yes</title>", UTF8, "yes"),
    "in a template": (b"<template><title>no</title></template><title>yes</title>", UTF8, "yes"),
    "in a select": (b"<select><title>x</title></select>", UTF8, "x"),
    "in noscript": (b"<head><noscript><title>x</title></noscript>", UTF8, "x"),
    "in a comment": (b"<!-- <title>no</title> --><title>yes</title>", UTF8, "yes"),
    "in a script": (b"<script>'<title>no</title>'</script><title>yes</title>", UTF8, "yes"),
    "in a style": (b"<style><title>no</title></style><title>yes</title>", UTF8, "yes"),
    "in an attribute": (b"<a title='<title>no</title>'>x</a><title>yes</title>", UTF8, "yes"),
    "in srcdoc": (b"<iframe srcdoc='<title>no</title>'></iframe><title>yes</title>", UTF8, "yes"),
    "markup": (b"<title><b>x</b><!-- y --><!DOCTYPE z></title>", UTF8,
               "<b>x</b><!-- y --><!DOCTYPE z>"),
    "references": (b"<title>&lt;i&gt; &amp;amp; &#65;&#x42; &#128; &copy2 &notit; &no; &</title>",
                   UTF8, "<i> &amp; AB \u20ac \u00a92 \u00acit; &no; &"),
    "many digits": (b"<title>&#%b; &#%b65;</title>" % (b"9" * 9000, b"0" * 5000), UTF8, "\ufffd A"),
    "no-break space": (b"<title>&nbsp;x&nbsp;</title>", UTF8, "\u00a0x\u00a0"),
    "NUL": (b"<title>a\0b</title>", UTF8, "a\ufffdb"),
    "controls": (b"<title>a\x01\x1b[31mb\x7f&#x9d;&#7;c</title>", UTF8, "a [31mb c"),
    "directions": ("<title>\u202egnp.\u2066x\u2069\u200fy</title>".encode(), UTF8, "gnp.xy"),
    "ends of lines": ("<title>a\u2028b\u2029c</title>".encode(), UTF8, "a b c"),
    "windows-1251": ("<title>Привет</title>".encode("cp1251"),
                     "text/html; charset=windows-1251", "Привет"),
    "declared": ("<meta charset=koi8-r><title>Привет</title>".encode("koi8-r"), "text/html",
                 "Привет"),
    "Shift_JIS": ("<title>表示ソ</title>".encode("shift_jis"), "text/html; charset=Shift_JIS",
                  "表示ソ"),
    "UTF-16": ("\ufeff<title>日本 &amp;</title>".encode("utf-16-le"), "text/html", "日本 &"),
    "no UTF-8": (b"<title>a\xffb</title>", UTF8, "a\ufffdb"),
    "XHTML": (_xhtml(b"<title>a &amp; b</title>"), XHTML, "a & b"),
    "empty in XHTML": (_xhtml(b"<title/>"), XHTML, ""),
    "CDATA in XHTML": (
        _xhtml(b"<title>1<![CDATA[ < 2 ]]><!-- no --> &lt; 3</title>"), XHTML, "1 < 2 < 3",
    ),
    "CDATA in HTML": (b"<title><![CDATA[x]]></title>", UTF8, "<![CDATA[x]]>"),
}  # fmt: skip
