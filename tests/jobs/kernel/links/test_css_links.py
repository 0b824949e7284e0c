"""Links of style sheets: each way to write one, what is none, and sheets made to hurt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.growth import assert_linear

from crawlrank.jobs.kernel.links.css_links import css_references, may_hold_links

SHEETS = {
    "a{b:url(x)}": ["x"],
    "a{b:URL( x )}": ["x"],
    "a{b:url('x y')}": ["x y"],
    'a{b:url( "x)" )}': ["x)"],
    "@import 'x';": ["x"],
    '@import"x"screen;': ["x"],
    "@IMPORT url(x);": ["x"],
    "@import url('x') print;": ["x"],
    "a{b:url(x),url(y)}c{d:url(z)}": ["x", "y", "z"],
    r"a{b:url(x\ y\29)}": ["x y)"],
    r"a{b:url('\78 y')}": ["xy"],
    "a{b:url('x\\\ny')}": ["xy"],
    r"a{b:url(\110000)}": ["\ufffd"],
    "a{b:url(x": ["x"],
    "a{b:url('x": ["x"],
    "a{b:url(data:image/png;base64,AA==)}": ["data:image/png;base64,AA=="],
    "/* url(x) */": [],
    "/* url(x)": [],
    "a{content:'url(x)'}": [],
    'a{content:"it\'s url(x)"}b{c:url(y)}': ["y"],
    "a{content:'broken\n}b{c:url(y)}": ["y"],
    "a{b:url()}": [],
    "a{b:url(#x)}": [],
    "a{b:curl(x) -url(x)}": [],
    "@namespace svg url(http://www.w3.org/2000/svg);a{b:url(x)}": ["x"],
    "import 'x'": [],
    r"a{b:url(d\20 e)}": ["d e"],
    r"a{b:url('d\20 e')}": ["d e"],
    "a{b:url( x )}c{d:url(y": ["x", "y"],
    "a{b:url(x y)}c{d:url(z)}": ["z"],
    'a{b:url(x"y)}c{d:url(z)}': ["z"],
    "a{b:url(x(y)}c{d:url(z)}": ["z"],
    "@import/* */'x'; @import /**//**/ url(y)": ["x", "y"],
}


@pytest.mark.parametrize("css", SHEETS)
def test_sheets(css: str) -> None:
    assert list(css_references(css)) == SHEETS[css]
    assert may_hold_links(css.lower().encode()) or not SHEETS[css]


HOSTILE = [
    '"\\"',
    "/*",
    "url(",
    "url('",
    "@import ",
    "@import",
    "@namespace",
    "\\",
    "'\n",
    "url(\\",
]


@pytest.mark.few(3)
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_is_linear(piece: str) -> None:
    assert_linear(lambda size: list(css_references(piece * (size // len(piece)))), 2**18)


@given(st.text(alphabet=st.sampled_from("url(x)'\"\\ \n/*@import;{}"), max_size=200))
def test_any_text_is_a_sheet(css: str) -> None:
    assert all(reference.strip() for reference in css_references(css))
