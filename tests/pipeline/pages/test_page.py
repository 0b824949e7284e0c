"""The frame of pages: no text of an archive ends a block, and libraries are as published."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.pages.page import FOLDER, LIBRARIES, address, embedded_json, page

VALUES = st.recursive(
    st.text() | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


class _Blocks(HTMLParser):
    """The texts of the elements `script`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.elements = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.elements += 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(VALUES)
def test_data_stays_within_its_block(value: object) -> None:
    blocks = _Blocks(f'<script type="application/json">{embedded_json(value)}</script>')
    assert blocks.elements == 1
    assert json.loads("".join(blocks.texts)) == value


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>"])
def test_what_ends_scripts_does_not(text: str) -> None:
    assert not re.search("[<>&]", embedded_json([text, {text: text}]))


def test_numbers_that_json_lacks_are_null() -> None:
    value = {"score": float("nan"), "rounds": [{"eta": float("inf")}, (1.5, -float("inf"))]}
    assert json.loads(embedded_json(value)) == {
        "score": None,
        "rounds": [{"eta": None}, [1.5, None]],
    }


def test_links_lead_to_the_web_alone() -> None:
    assert address("https://example.org/a?b=1#c") == "https://example.org/a?b=1#c"
    assert address("http://example.org/\u202egpj") == "http://example.org/%E2%80%AEgpj"
    for uri in ("javascript:alert(1)", "data:text/html,x", "//example.org/", "", "file:///etc"):
        assert address(uri) is None


@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_are_as_published(name: str) -> None:
    library = LIBRARIES[name]
    content = (FOLDER / "vendor" / library["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == library["sha256"]
    assert library["licence"] in ("ISC", "MIT")
    assert (FOLDER / "vendor" / library["licence_file"]).stat().st_size > 500
    readme = (FOLDER / "vendor" / "README.md").read_text()
    assert f"| {library['version']} | {library['licence']} |" in readme


def test_scripts_of_a_page_are_those_of_its_policy() -> None:
    made = page("frame.html", {"x": 1}, libraries=["d3"], scripts=[], styles=[])
    policy = html.unescape(made.partition('http-equiv="Content-Security-Policy" content="')[2])
    digests = re.findall(r"'sha256-([^']+)'", policy.partition('"')[0])
    scripts = re.findall(r"<script>(.*?)</script>", made, re.DOTALL)
    assert digests == [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    assert len(scripts) == 2
