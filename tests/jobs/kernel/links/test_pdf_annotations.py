"""Links of damaged PDFs: what is null, of another type or leads nowhere costs itself alone."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Callable

import pytest
from support.drawing import examples
from support.growth import assert_linear
from support.inputs.made_pdfs import Objects, link, of_annotations, of_pages, uri_action, written

from crawlrank.jobs.kernel.links.body_links import body_links
from crawlrank.jobs.kernel.links.pdf_links import pdf_references

pypdf = pytest.importorskip("pypdf", reason="the extra crawlrank[pdf] is not installed")

from crawlrank.jobs.kernel.links.pdf_annotations import PdfAnnotations  # noqa: E402

A, B = link(uri_action("(http://h/a)")), link(uri_action("(http://h/b)"))
#: objects -> the links
CASES = {
    "null annotation": (of_annotations("null", A, B), "a b"),
    "dangling annotation": (of_annotations("99 0 R", A), "a"),
    "number as annotation": (of_annotations("7", A, "true", "(x)", "[1]"), "a"),
    "null annotations": (of_annotations(annots="null"), ""),
    "dangling annotations": (of_annotations(annots="99 0 R"), ""),
    "an annotation in place of an array": (of_annotations(annots=A), ""),
    "null action": (of_annotations(link("null"), A), "a"),
    "dangling action": (of_annotations(link("99 0 R"), A), "a"),
    "array as action": (of_annotations(link(f"[{uri_action('(http://h/x)')}]"), A), "a"),
    "null URI": (of_annotations(link(uri_action("null")), A), "a"),
    "dangling URI": (of_annotations(link(uri_action("99 0 R")), A), "a"),
    "number as URI": (of_annotations(link(uri_action("7")), A), "a"),
    "array as URI": (of_annotations(link(uri_action("[(http://h/x)]")), A), "a"),
    "empty URI": (of_annotations(link(uri_action("()")), A), "a"),
    "hexadecimal URI": (of_annotations(link(uri_action("<687474703A2F2F682F61>"))), "a"),
    "a page in its own place": (
        of_annotations(A) | {2: b"<</Type/Pages/Kids[null 2 0 R 99 0 R 7 3 0 R 3 0 R]>>"}, "a",
    ),
    "a page without a type": (of_annotations(A) | {3: b"<</Annots[%b]>>" % A.encode()}, "a"),
    "no tree": (of_annotations(A) | {2: b"null"}, "a"),
    "no catalogue": (of_annotations(A) | {1: b"null"}, "a"),
}  # fmt: skip


def read(pdf: bytes) -> tuple[list[str], bool]:
    """The URIs without `http://h/`, and whether an object could not be read."""
    annotations = PdfAnnotations(pypdf.PdfReader(io.BytesIO(pdf), strict=False), pdf)
    uris = [uri.decode().removeprefix("http://h/") for uri in annotations.references()]
    return uris, annotations.is_damaged


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("at", [0, 1, 200])
def test_what_is_nothing_costs_itself_alone(name: str, at: int) -> None:
    objects, links = CASES[name]
    uris, is_damaged = read(written(objects, at=at))
    assert uris == links.split()
    assert is_damaged == (name == "no catalogue")


@pytest.mark.parametrize("stated", ["null", "7", "[1]", "99 0 R", "<</Base null>>", "<</Base 7>>"])
@pytest.mark.few(1)
def test_a_base_that_is_none(stated: str) -> None:
    objects = of_annotations(link(uri_action("(x)")), catalogue=f"/URI {stated}")
    assert targets(objects) == ["http://h/d/x"]


def targets(objects: Objects) -> list[str]:
    groups = body_links("pdf", written(objects), "http://h/d/p", "application/pdf", Counter())
    return [target.decode() for group, *_ in groups for target in group]


#: URI in the PDF -> targets without a base, and with the base http://b/c/
REFERENCES = {
    "x": ("http://h/d/x", "http://b/c/x"),
    "/x": ("http://h/x", "http://b/x"),
    "?x": ("http://h/d/p?x", "http://b/c/?x"),
    "http://e/": ("http://e/", "http://e/"),
    "www.example.org": ("http://www.example.org/",) * 2,
    "WWW.Example.org/x": ("http://www.example.org/x",) * 2,
    "www.html": ("http://h/d/www.html", "http://b/c/www.html"),
    "x/www.example.org": ("http://h/d/x/www.example.org", "http://b/c/x/www.example.org"),
}


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("base", ["", "http://b/c/", "7 0 R"])
def test_the_base_of_the_catalogue(base: str) -> None:
    annotations = (link(uri_action(f"({uri})")) for uri in REFERENCES)
    stated = base if base.endswith("R") else f"<</Base({base})>>"
    objects = of_annotations(*annotations, catalogue=f"/URI {stated}" * bool(base))
    objects |= {7: b"8 0 R", 8: b"<</Base 9 0 R>>", 9: b"(http://b/c/)"}
    assert targets(objects) == [pair[bool(base)] for pair in REFERENCES.values()]


@pytest.mark.parametrize(("base", "target"), [
    ("/c/", "http://h/c/x"), ("www.example.org/", "http://www.example.org/x"),
    ("http://b/" + "c" * 9000 + "/", None), ("", "http://h/d/x"), ("mailto:a@b", None),
])  # fmt: skip
@pytest.mark.few(1)
def test_odd_bases(base: str, target: str | None) -> None:
    objects = of_annotations(link(uri_action("(x)")), catalogue=f"/URI<</Base({base})>>")
    assert targets(objects) == [target] * (target is not None)


# each object replaced, one at a time

REPLACED = (b"null", b"7", b"true", b"[]", b"<<>>", b"%d 0 R", b"998 0 R", b"99 0 R")


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(examples(20)))
def test_each_object_replaced(seed: int) -> None:
    """All links stay but those that need it; those of all pages, if no page is in the tree."""
    draw = random.Random(seed)
    objects, needs = of_pages(draw.randrange(1, 6), draw.randrange(4))
    every = set().union(*needs.values())
    for number in objects:
        content = draw.choice(REPLACED)
        content = content % number if b"%d" in content else content
        changed = objects | {number: content, 998: b"999 0 R", 999: b"998 0 R"}
        pdf = written(changed, listed=draw.random() < 0.7, at=draw.choice((0, 0, 0, 3, -5)))
        found = {f"http://h/{uri}" for uri in read(pdf)[0]}
        left = every - needs.get(number, set())
        assert found == left or (found == every and (number < 10 and not left)), (number, content)


def test_a_circle_of_nodes_is_read_once() -> None:
    objects, needs = of_pages(4, 2)
    objects[5] = objects[5][:-1] + b" 2 0 R 3 0 R 4 0 R]"
    uris, _ = read(written(objects))
    assert len(uris) == len({*uris}) == len(set().union(*needs.values()))


# work


def shared(count: int) -> bytes:
    """Pages that share one array of annotations that are nothing."""
    objects = of_annotations()
    objects[2] = b"<</Type/Pages/Kids[%b]>>" % b" ".join(b"%d 0 R" % n for n in range(9, count))
    objects[4] = b"[%b]" % (b"null " * count)
    return written(objects | dict.fromkeys(range(9, count), b"<</Type/Page/Annots 4 0 R>>"))


def dangling(count: int) -> bytes:
    return written(of_annotations(*(f"{number} 0 R" for number in range(9, count))))


def misplaced(count: int) -> bytes:
    objects = of_annotations(*(f"{number} 0 R" for number in range(9, count)))
    return written(objects | dict.fromkeys(range(9, count), A.encode()), at=7)


@pytest.mark.slow
@pytest.mark.parametrize("made", [shared, dangling, misplaced])
def test_work_is_linear(made: Callable[[int], bytes]) -> None:
    made_before = {count: made(count) for count in (500, 4000)}
    assert_linear(lambda count: read(made_before[count]), 4000)


@pytest.mark.slow
def test_by_a_process_of_its_own() -> None:
    counters = Counter[str]()
    for name, (objects, links) in CASES.items():
        uris = [uri for _, uri in pdf_references(written(objects), "http://h/", counters)]
        assert uris == [f"http://h/{link}" for link in links.split()], name
    assert counters == {"skipped.pdf.not-readable": 1}


@pytest.mark.slow
def test_what_is_left_out_of_too_many_links_is_counted() -> None:
    long = of_annotations(*(f"{link('5 0 R')}" for _ in range(2000)))
    long |= {5: uri_action("6 0 R").encode(), 6: b"(http://h/" + b"a" * 2**17 + b")"}
    counters = Counter[str]()
    read_uris = [*pdf_references(written(long), "http://h/", counters)]
    assert 100 < len(read_uris) < 2000
    assert counters == {"skipped.pdf.too-long": 1}
