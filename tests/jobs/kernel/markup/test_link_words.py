"""The words of links by machine code are those of the tree that lexbor builds."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from support.drawing import examples
from support.growth import assert_linear
from support.inputs.mutated_pages import pages
from support.inputs.samples import needs_reference

from crawlrank.jobs.kernel.links.html_documents import Document, HtmlOptions
from crawlrank.jobs.kernel.markup.link_words import (
    LONGEST_WORDS,
    WordedReference,
    words_in,
    words_of_links,
)
from crawlrank.jobs.kernel.markup.page_text import PageText
from crawlrank.jobs.kernel.markup.scanner import COLUMNS, References

UTF8 = "text/html; charset=utf-8"
NAV = HtmlOptions(nav=True, words=True)


def links_of(page: PageText) -> list[References]:
    """The links of a page that can be scanned."""
    groups = [group for group, _ in Document(page, NAV).references]
    return [group for group in groups if isinstance(group, References)]


def lines_of(page: PageText, links: list[References]) -> list[str]:
    words = [words_of_links(page, group) for group in links]
    for each, group in zip(words, links, strict=True):
        assert each.worded == sum(map(bool, each.lines))
        assert len(each.lines) == len(group)
    return [line for each in words for line in each.lines]


def words_of(html: str | bytes, media_type: str = UTF8) -> list[str]:
    page = PageText(html if isinstance(html, bytes) else html.encode(), media_type)
    return lines_of(page, links_of(page))


def words_in_tree(utf8: bytes, attribute: str) -> dict[str, str]:
    """The words of the links of a page by the value of an attribute, which no two links share.
    Where the parser opens one again, the words of all its elements count."""
    words = defaultdict[str, list[str]](list)
    root = LexborHTMLParser(utf8).root
    assert root is not None
    for node in root.css(f"a[{attribute}]"):
        words[node.attributes[attribute] or ""].append(words_in(node))
    return {name: " ".join(filter(None, parts)) for name, parts in words.items()}


X = "<a href=x>"


@pytest.mark.parametrize(
    ("html", "words"),
    [
        (f"{X}Hello</a>", ["Hello"]),
        (f"{X}</a>", [""]),
        (f"{X} \t\f\r\n\x01\x1f\x7f </a>", [""]),
        (f"{X} Hello\n <b>big</b>\tworld </a>", ["Hello big world"]),
        (f"{X}Hel<b>lo</b></a>", ["Hel lo"]),
        (f"{X}one</a>two{X}three</A >four", ["one", "three"]),
        (f"{X}one{X}two", ["one", "two"]),
        (f"{X}one<a name=y>two</a>three</a>", ["one"]),
        (f"{X}one</a", ["one"]),
        (f"{X}one<abbr>two</abbr></article>three", ["one two three"]),
        ("<A\nHREF='>'rel=x>one</a>", ["one"]),
        ("<a href=x/>one</a>", ["one"]),
        (f"{X}5<6 < 7</a>", ["5<6 < 7"]),
        (f"{X}one<", ["one<"]),
        (f"{X}one</", ["one</"]),
        (f"{X}1<!-- <a href=y>2</a> -->3<?x?>4</>5<!>6</ >7", ["1 3 4 5 6 7"]),
        (f"{X}one<!-- two", ["one"]),
        (f"{X}one<b two", ["one"]),
        (f"{X}one<img src=i alt=two>three", ["one two three"]),
        (f"{X}<IMG ALT='  A  logo ' alt=x></a>", ["A logo"]),
        (f'{X}<img alt="a > b"><img alt><img alt=\'\'></a>', ["a > b"]),
        (f"{X}<image alt=y><area alt=z><p alt=q>", ["y"]),
        (f"{X}one<img alt=two", ["one"]),
        (f"{X}<script>'</a>'</script>one<style>b{{}}</style></a>", ["one"]),
        (f"{X}<script><!--<script></script></a>--></script>one</a>", ["one"]),
        (f"{X}<script/>one</script>two</a>", ["two"]),
        (f"{X}<noscript>one <b>two</b></noscript></a>", ["one two"]),
        (f"{X}<textarea>1</a></textarea><title>2</title><xmp><i></xmp></a>", ["1</a> 2 <i>"]),
        (f"{X}<iframe>1</iframe>2<noembed>3</noembed>4<noframes>5</noframes></a>", ["2 4"]),
        (f"{X}one<plaintext>two</a>", ["one two</a>"]),
        (f"{X}<svg><title>1</title><style/><title/><script/><desc>2</desc></svg>3", ["1 2 3"]),
        (f"{X}<svg/><title>one</a></title></a>", ["one</a>"]),
        (f"{X}<svg><style>a < b{{}}</style><path/></svg>Home</a>", ["Home"]),
        (f"{X}<svg><script>a <", [""]),
        (f"{X}{'&CounterClockwiseContourIntegral;' * 150}", ["\u2233" * 62]),
        (f"<td>{X}one</table>two", ["one"]),
        (f"<table><tr><td>{X}one<td>two<tr><td>{X}three<tbody><td>four", ["one", "three"]),
        (f"<table><td>{X}one<table><td>two</table>three<td>four", ["one two three"]),
        (f"{X}one<table><td>two</td><td>three</table>four</a>five", ["one two three four"]),
        (f"{X}a&amp;b &eacute; &#x41;&#66</a>", ["a&b é AB"]),
        (f"{X}&nbsp;&#10;one&NewLine;two&#0;&shy;</a>{X}&lt;/a&gt;</a>", ["one two�", "</a>"]),
        (f"{X}one&</a>{X}two&notit;&notin;&x;</a>", ["one&", "two¬it;∉&x;"]),
        (f"{X}a\0\u200bb\u3000c\ufeff\u2028d\U0001f600e</a>", ["a b c d😀e"]),
        (f"{X}\u200b</a>", [""]),
        (f"{X}one{X}{'word ' * 1000}{X}{'é' * 3000}{X}two{X}{'&#x1F600;' * 300}",
         ["one", ("word " * 40).strip(), "é" * 200, "two", "😀" * 200]),
        ("", []),
    ],
)  # fmt: skip
def test_the_words_of_a_link(html: str, words: list[str]) -> None:
    assert words_of(html) == words


def test_the_charset_of_the_page() -> None:
    html = f"{X}Café&eacute;</a>{X}日本</a>{X}é"
    for charset in ("utf-8", "utf-16", "gb18030"):
        assert words_of(html.encode(charset), f"text/html; charset={charset}") == [
            *("Caféé", "日本", "é"),
        ]
    assert words_of(html.encode("latin-1", "ignore")) == ["Caf\ufffdé", "", "\ufffd"]
    assert words_of(html.encode("latin-1", "ignore"), "text/html") == ["Caféé", "", "é"]


def test_the_lines_of_a_page_may_be_more_than_fit_at_once() -> None:
    count = 3000
    html = "".join(f"<a href={n}>{n} {'x' * (n % 200)}" for n in range(count))
    assert words_of(html) == [
        f"{n} {'x' * (n % 200)}".strip()[:LONGEST_WORDS] for n in range(count)
    ]


def test_links_beside_other_tags() -> None:
    """Lines are those of the links around them, also of a link with other attributes that is not
    among the plain ones."""
    html = (
        f"{X}one</a><a rel=nofollow href=x>two</a>{X}<iframe src=y></iframe>three</a>"
        f"<svg><a href=x /><a rel=nofollow href=x>four</a></svg>{X}{X}five"
    )
    page = PageText(html.encode(), UTF8)
    document = Document(page, NAV)
    assert lines_of(page, links_of(page)) == ["one", "three", "", "", "five"]
    words = [
        reference.words
        for group, _ in document.references
        if not isinstance(group, References)
        for reference in group
        if isinstance(reference, WordedReference)
    ]
    assert words == ["two", "four"]


TEXT = st.sampled_from([
    *("x", "one two", " ", "\n", "\x01", "é", "日本", "\u200b", "\u3000", "5<6", "< ", "-", "]]>"),
    *("&amp;", "&nbsp;", "&lt;b&gt;", "&notit;", "&#10;", "&#x80;", "&", "&eacute", "=", ";", "'"),
]).map(str.encode)  # fmt: skip
BYTES = st.sampled_from([b"\xe9", b"\x81", b"\x82\xa0", b"\xc3", b"\xfe\xa1"])
IMAGE = st.sampled_from(["", " alt", " alt='a  b'", '\nALT = "<b>&amp;"', " src=i alt=é&eacute;x"])
OTHER = st.sampled_from([
    *(b"<br>", b"<!-- </a><a href=y> -->", b"<?x>", b"<script>'</a>'</script>", b"<wbr/>"),
    *(b"<style>b{}</style>", b"<textarea>1<b></textarea>", b"<iframe>2</iframe>"),
    *(b"<svg><title>4</title><g/></svg>", b"<select><option>5<option>6</select>"),
])  # fmt: skip
LEAF = TEXT | BYTES | OTHER | IMAGE.map(lambda value: f"<img{value}>".encode())


def joined(parts: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(parts, max_size=4).map(b"".join)


def within(
    contents: st.SearchStrategy[bytes], *names: str, end: bool = True
) -> st.SearchStrategy[bytes]:
    ends = st.just(True) if end else st.booleans()
    return st.tuples(st.sampled_from(names), contents, ends).map(
        lambda drawn: (
            b"<%b>%b%b" % (drawn[0].encode(), drawn[1], f"</{drawn[0]}>".encode() * drawn[2])
        )
    )


INLINE = joined(LEAF | within(joined(LEAF), "b", "i", "span", "noscript", "button"))
ROW = within(within(INLINE, "td", "th", end=False), "tr", end=False)
HELD = INLINE | ROW.map(lambda row: b"<table>%b</table>" % row)
HREFS = [
    b"x",
    b'"x"',
    b"'../x#\">' title='>'",
    b'"#\'"rel=x',
    b"x'y'>'",
    b'"x"title=">"/',
    b"'/>x' '",
]
LINK = st.tuples(
    st.sampled_from(HREFS), joined(HELD), st.sampled_from([b"</a>", b"</A\n>", b"", b"<a name=q>"])
).map(lambda drawn: b"<a data-n=N href=%b>%b%b" % drawn)
BLOCK = within(joined(INLINE | LINK), "p", "div", "li", "b", "h1", end=False) | INLINE | LINK
CELLS = joined(within(joined(INLINE | LINK), "td", "th", "caption", end=False))
TABLE = CELLS.map(lambda cells: b"</a><table><tr>%b</table>" % cells)
PAGE = joined(BLOCK | TABLE)
CHARSETS = ("utf-8", "windows-1252", "shift_jis", "gbk", "big5", "euc-kr", "euc-jp")


@settings(max_examples=examples(500), deadline=None)
@given(PAGE, st.sampled_from(CHARSETS))
def test_words_are_those_of_the_tree(html: bytes, charset: str) -> None:
    """Left out: `</>` and end tags without a start, which a tree does not see, and what ends a `p`
    within it; tags of tables elsewhere; tables with links in links; text between cells; references
    without semicolon in an `alt`."""
    numbers = itertools.count()
    page = PageText(
        re.sub(b"=N", lambda _: b"=%d" % next(numbers), html), f"text/html; charset={charset}"
    )
    links = links_of(page)
    if not page.is_read_by_parts:
        assert not links
        return
    words = lines_of(page, links)
    assert len(words) == next(numbers)
    wanted = words_in_tree(page.utf8, "data-n")
    assert words == [wanted[str(number)] for number in range(len(words))]


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        ("", X), ("", f"{X}<b "), (X, "<!-- "), ("", f"{X}<table>"), ("", f"{X}<script>"),
        ("", f"{X}<img alt='"), (X, "<b><i>"), (X, "x "), (X, "&"), ("", f"{X}&amp;&#"), (X, "<"),
        ("", f"{X}\u200b"), (X, " "), ("", f"{X}<svg><title>"), (X, "<img alt=x"),
    ],
)  # fmt: skip
def test_hostile_pages_take_linear_time(begin: str, piece: str) -> None:
    def read(size: int) -> None:
        page = PageText((begin + piece * (size // len(piece))).encode(), UTF8)
        words = lines_of(page, links_of(page))
        assert all(len(each) <= LONGEST_WORDS for each in words)

    assert_linear(read, 2**18)


def compared(body: bytes, media_type: str) -> list[tuple[str, str]]:
    """The words of each link by machine code, and those in the tree. Each link is given a number,
    as an attribute."""
    page = PageText(body, media_type)
    links = links_of(page)
    if not links:
        return []
    rows = b"".join(group.rows for group in links)
    positions = memoryview(rows).cast("i")[::COLUMNS].tolist()
    ends = [*positions[1:], len(page.markup)]
    numbered = [page.markup[: positions[0]]]
    for number, (begin, end) in enumerate(zip(positions, ends, strict=True)):
        numbered.append(b"<a data-n=%d%b" % (number, page.markup[begin + 2 : end]))
    charset = page.charset if page.markup is not page.utf8 else "utf-8"
    tree = PageText(b"".join(numbered), f"text/html; charset={charset}").utf8
    wanted = words_in_tree(tree, "data-n")
    words = lines_of(page, links)
    return [
        (each, wanted[str(number)][:LONGEST_WORDS].strip()) for number, each in enumerate(words)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reference", "links"),
    [(False, 80_000), pytest.param(True, 130_000, marks=needs_reference)],
)
def test_words_of_real_pages_are_those_of_their_trees(*, reference: bool, links: int) -> None:
    """All but one in a thousand: where an end tag without a start is inside a word."""
    pairs = [
        pair for page in pages(reference=reference) for pair in compared(page.body, page.media_type)
    ]
    assert len(pairs) > links
    assert sum(words != wanted for words, wanted in pairs) < len(pairs) / 1000
