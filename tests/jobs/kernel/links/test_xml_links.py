"""Links of feeds and sitemaps: each rule, what real ones look like, and XML made to hurt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.xml_links import (
    FEED_RULES,
    MANY,
    SITEMAP_RULES,
    document_of,
    xml_references,
)

URI = "http://h/"


def read(text: str, document: str = "feed") -> list[tuple[str, str, str]]:
    return [reference for _, reference in xml_references(text, document, URI)]


FEED = {
    "<link>x</link>": ("L", "link/text()"),
    "<item><link>\n <![CDATA[x]]>\n</link></item>": ("L", "link/text()"),
    "<LINK>x</LINK>": ("L", "link/text()"),
    "<link href='x'/>": ("L", "link/@href"),
    "<link rel='alternate' type='text/html' href=\"x\"></link>": ("L", "link/@href"),
    "<link rel='enclosure' href='x'/>": ("E", "link/@href"),
    "<link rel='self' href='x'/>": ("X", "link/@href"),
    "<atom:link rel='hub' href='x'/>": ("X", "atom:link/@href"),
    "<a10:link href='x'/>": ("L", "a10:link/@href"),
    "<comments>x</comments>": ("L", "comments/text()"),
    "<content src='x'/>": ("L", "content/@src"),
    "<enclosure length='1' url='x'/>": ("E", "enclosure/@url"),
    "<media:content url='x'>": ("E", "media:content/@url"),
    "<media:thumbnail url='x'/>": ("E", "media:thumbnail/@url"),
    "<image><url>x</url></image>": ("E", "url/text()"),
    "<logo>x</logo>": ("E", "logo/text()"),
    "<icon>x</icon>": ("E", "icon/text()"),
    "<source url='x'>y</source>": ("X", "source/@url"),
    "<outline text='a' htmlUrl='x'/>": ("L", "outline/@htmlurl"),
    "<outline xmlUrl='x'>": ("L", "outline/@xmlurl"),
    "<outline type='link' url='x'/>": ("L", "outline/@url"),
}
SITEMAP = {
    "<url><loc>x</loc></url>": ("L", "loc/text()"),
    "<image:image><image:loc>x</image:loc></image:image>": ("E", "image:loc/text()"),
    "<video:thumbnail_loc>x</video:thumbnail_loc>": ("E", "video:thumbnail_loc/text()"),
    "<video:content_loc>x</video:content_loc>": ("E", "video:content_loc/text()"),
    "<video:player_loc>x</video:player_loc>": ("E", "video:player_loc/text()"),
    "<xhtml:link rel='alternate' hreflang='de' href='x'/>": ("X", "xhtml:link/@href"),
}
GUIDS = {
    "<guid>http://h/x</guid>": 1,
    "<guid isPermaLink='true'>http://h/x</guid>": 1,
    "<guid isPermaLink='false'>http://h/x</guid>": 0,
    "<guid>4711</guid>": 0,
}


@pytest.mark.parametrize("text", FEED)
def test_feeds(text: str) -> None:
    assert read(f"<?xml version='1.0'?><rss>{text}</rss>") == [("x", *FEED[text])]


@pytest.mark.parametrize("text", SITEMAP)
def test_sitemaps(text: str) -> None:
    assert read(f"<urlset xmlns='s'>{text}</urlset>", "sitemap") == [("x", *SITEMAP[text])]


@pytest.mark.parametrize("text", GUIDS)
def test_guids(text: str) -> None:
    assert len(read(f"<rss>{text}</rss>")) == GUIDS[text]


def test_every_rule_has_a_case() -> None:
    contexts = {context for _, context in (*FEED.values(), *SITEMAP.values())}
    assert {rule.context for rule in FEED_RULES + SITEMAP_RULES} == contexts | {"guid/text()"}


NO_LINKS = [
    "<!-- <link>x</link> -->",
    "<![CDATA[<link>x</link>]]>",
    "<description>&lt;a href='x'&gt;</description>",
    "<link/>",
    "<link></link>",
    "<link>x",
    "<title link='x'>",
]


@pytest.mark.parametrize("text", NO_LINKS)
def test_no_links(text: str) -> None:
    assert read(f"<rss>{text}</rss>") == []


def test_a_prefix_of_the_root_is_that_of_its_elements() -> None:
    assert read("<sm:urlset><sm:loc>x</sm:loc></sm:urlset>", "sitemap")[0][0] == "x"
    assert read("<atom:feed><atom:link href='x'/></atom:feed>")[0][0] == "x"
    assert read("<rdf:RDF><item><link>x</link></item></rdf:RDF>")[0][0] == "x"


def test_references_to_characters() -> None:
    assert read("<rss><link>x?a&amp;b&#61;1</link></rss>")[0][0] == "x?a&b=1"
    assert read("<feed><link href='x?a&amp;b'/></feed>")[0][0] == "x?a&b"
    assert read("<rss><link><![CDATA[x?a&amp;b]]></link></rss>")[0][0] == "x?a&amp;b"


BASES = [  # (document, the base of each link)
    ("<feed xml:base='/b/'><link href='x'/></feed>", ["http://h/b/"]),
    ("<feed><link xml:base='/b/' href='x'/><link href='y'/></feed>", ["http://h/b/", URI]),
    (
        "<feed xml:base='/b/'><entry xml:base='c/'><link href='x'/></entry><link href='y'/></feed>",
        ["http://h/b/c/", "http://h/b/"],
    ),
    (
        "<rss><channel xml:base='http://o/d/'><link>x</link></channel><link>y</link></rss>",
        ["http://o/d/", URI],
    ),
    ("<rss><link xml:base='/b/'>x</link><link>y</link></rss>", ["http://h/b/", URI]),
    (
        "<feed><div xml:base='/b/'><div><link href='x'/></div><link href='y'/></div>"
        "<link href='z'/></feed>",
        ["http://h/b/", "http://h/b/", URI],
    ),
    ("<feed><div xml:base='/b/'/><link href='x'/></feed>", [URI]),
    ("<a:feed><a:entry xml:base='/b/'><a:link href='x'/></a:entry></a:feed>", ["http://h/b/"]),
    ("<feed><p xml:base='/b/'></q></p><link href='x'/></feed>", [URI]),
    ("<feed xml:base=' '><link href='x'/></feed>", [URI]),
]


@pytest.mark.parametrize(("text", "bases"), BASES)
def test_the_base_is_that_of_the_next_element_around(text: str, bases: list[str]) -> None:
    assert [base for base, _ in xml_references(text, "feed", URI)] == bases


def test_long_bases_within_each_other_keep_to_the_longest_uri() -> None:
    text = "<feed>" + f"<e xml:base='{'b' * 3000}/'>" * 9 + "<link href='x'/>"
    lengths = [len(base) for base, _ in xml_references(text, "feed", URI)]
    assert lengths == [0]
    assert len(read("<feed>" + f"<e xml:base='{'b' * 3000}/'>" * 2 + "<link href='x'/>")) == 1


def test_many_bases_are_linear() -> None:
    one = "<b xml:base='c/'>"
    assert_linear(lambda size: read(f"<feed>{one * (size // len(one))}<link href='x'/>"), 2**20)


def test_a_text_that_is_too_long_is_no_shorter_reference() -> None:
    for text in ("http://h/<![CDATA[" + "x" * 2**17 + "]]>", "http://h/" + "x" * 2**17):
        assert len(read(f"<rss><link>{text}</link></rss>")[0][0]) > 2**16
    assert read("<rss><link>" + " " * 2**17 + "x</link></rss>")[0][0] == "x"


def test_a_tag_of_many_attributes_is_one() -> None:
    many = "".join(f" a{n}='>'" for n in range(2 * MANY))
    assert [item[0] for item in read(f"<rss><link href='x'{many}/><link href='y'/></rss>")] == [
        *("x", "y")
    ]


LAUGHS = "<!DOCTYPE rss [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12)
)


def test_entities_and_external_ones_do_nothing() -> None:
    assert read(LAUGHS + "]><rss><link>/&a11;</link></rss>") == [
        ("/&a11;", "L", "link/text()"),
    ]
    external = "<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss><link>&x;</link></rss>"
    assert read(external) == [("&x;", "L", "link/text()")]


DOCUMENTS = {
    "<?xml version='1.0'?>\n<!-- x --><rss>": "feed",
    "\ufeff<feed xmlns='x'>": "feed",
    "<rdf:RDF>": "feed",
    '<!DOCTYPE rss PUBLIC "x" "y"><rss>': "feed",
    LAUGHS + "]><rss>": "feed",
    "<urlset>": "sitemap",
    "<sm:sitemapindex>": "sitemap",
    '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html lang="en">': "html",
    "<svg>": "svg",
    "<math>": "",
    "text <rss>": "",
    "</rss>": "",
    "": "",
}


@pytest.mark.parametrize("text", DOCUMENTS)
def test_documents(text: str) -> None:
    assert document_of(text) == DOCUMENTS[text]


HOSTILE = [
    *("<", "<a", "<a ", "<a x='", '<a x="', "<!--", "<![CDATA[", "<?", "<!DOCTYPE", "<!DOCTYPE ["),
    *("<link>", "a", "x=", "<link x", "&amp;", "<!DOCTYPE x []", "<!DOCTYPE[] ", " ", "<link x=''"),
]


@pytest.mark.few(2)
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear(piece: str) -> None:
    def read_all(size: int) -> None:
        long = piece * (size // len(piece))
        for text in (long, "<link>" + "<a" + long):
            read("<rss>" + text)
            read("<rss " + text + ">")
            read("<rss><link " + text + ">")

    assert_linear(read_all, 2**17)


@given(st.text(alphabet=st.sampled_from("<>link/![CDATA]-?'\"= \n&;a"), max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(reference for reference, _, _ in read(text))
    assert document_of(text) in ("feed", "sitemap", "svg", "html", "")
