"""`crawlrank diff` against plain counting over the text of both work folders."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.compared import ROUNDS, Plain, made_archives, made_works
from support.crawls import crawlrank, ok, response, write_records, write_warc
from support.runs import copy_of
from support.work_folders import edit_manifest

from crawlrank.jobs.kernel.formats.order import rounded

Works = dict[str, list[Path]]


@pytest.fixture(scope="module")
def works() -> Works:
    return made_works(2)


@pytest.fixture(scope="module")
def plains(works: Works) -> tuple[Plain, Plain]:
    return Plain(works["text"][0]), Plain(works["text"][1])


def compared(before: Path, after: Path, *options: object) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(ok("diff", before, after, "--json", "-", *options).out)
    for side in (told["before"], told["after"]):
        del side["work"]
    return told


@pytest.fixture(scope="module")
def told(works: Works) -> dict[str, Any]:
    return compared(*works["columns"], "--top", 100, "--links", 100)


@pytest.mark.slow
def test_runners_agree(works: Works, told: dict[str, Any]) -> None:
    for one, other in (("text", "columns"), ("columns", "text")):
        found = compared(works[one][0], works[other][1], "--top", 100, "--links", 100)
        assert found == told, (one, other)


def test_pages_and_classes(told: dict[str, Any], plains: tuple[Plain, Plain]) -> None:
    one, other = plains
    common = one.score_of.keys() & other.score_of.keys()
    assert told["common"] == len(common) > 40
    pairs = Counter((one.class_of(key), other.class_of(key)) for key in common)
    numbers = range(1, 7)
    assert told["classes"] == [[pairs[was, now] for now in numbers] for was in numbers]
    assert told["risen"] == sum(n for (was, now), n in pairs.items() if now < was) > 5
    assert told["fallen"] == sum(n for (was, now), n in pairs.items() if now > was) > 5
    for name, has, lacks in (("new", other, one), ("gone", one, other)):
        alone = sorted(has.score_of.keys() - lacks.score_of.keys(), key=has.place_of.__getitem__)
        assert len(alone) > 3
        by_class = Counter(has.class_of(key) for key in alone)
        assert told[name] == [by_class[number] for number in numbers]
        assert [page["uri"] for page in told[f"{name}_best"]] == [has.uri_of[key] for key in alone]


def test_the_order(told: dict[str, Any], plains: tuple[Plain, Plain]) -> None:
    """Both coefficients by their definitions, over all pairs of pages."""
    one, other = plains
    common = sorted(one.score_of.keys() & other.score_of.keys())
    a, b = ([rounded(side.score_of[key]) for key in common] for side in plains)
    pairs = [(i, j) for i in range(len(common)) for j in range(i)]
    signs = [(sign(a[i] - a[j]), sign(b[i] - b[j])) for i, j in pairs]
    untied = [sum(abs(pair[side]) for pair in signs) for side in (0, 1)]
    assert min(untied) < len(pairs)  # so that ties count
    tau = sum(x * y for x, y in signs) / (untied[0] * untied[1]) ** 0.5
    assert told["kendall"] == pytest.approx(tau)
    assert told["spearman"] == pytest.approx(pearson(mean_ranks(a), mean_ranks(b)))
    assert told["digits"] == 9


def sign(x: float) -> int:
    return (x > 0) - (x < 0)


def mean_ranks(values: list[float]) -> list[float]:
    return [sum((x < v) + (x == v) / 2 for x in values) for v in values]


def pearson(a: list[float], b: list[float]) -> float:
    p, q = sum(a) / len(a), sum(b) / len(b)
    products = [sum((x - s) * (y - t) for x, y in zip(c, d, strict=True))
                for c, s, d, t in ((a, p, b, q), (a, p, a, p), (b, q, b, q))]  # fmt: skip
    return products[0] / (products[1] * products[2]) ** 0.5


def test_why_pages_moved(told: dict[str, Any], plains: tuple[Plain, Plain]) -> None:
    one, other = plains
    key_of = {uri: key for side in plains for key, uri in side.uri_of.items()}
    moves = told["risen_most"] + told["fallen_most"]
    assert len(moves) == told["risen"] + told["fallen"]
    for move in moves:
        key, before, after = move["key"], move["before"], move["after"]
        assert (before["place"], after["place"]) == (one.place_of[key], other.place_of[key])
        won = other.sources_of[key] - one.sources_of[key]
        lost = one.sources_of[key] - other.sources_of[key]
        for links, wanted, side, lacks, word in (
            (move["won"], won, other, one, "new"), (move["lost"], lost, one, other, "gone"),
        ):  # fmt: skip
            assert {key_of[link["uri"]] for link in links["most"]} == wanted
            assert links["count"] == len(wanted)
            for link in links["most"]:
                source = key_of[link["uri"]]
                assert link["gives"] == pytest.approx(side.gives(source))
                assert link["page"] == ("kept" if source in lacks.score_of else word)
        assert move["kept"]["count"] == len(one.sources_of[key] & other.sources_of[key])
        change = move["won"]["gives"] - move["lost"]["gives"] + move["kept"]["gives"]
        assert after["score"] - before["score"] == pytest.approx(change, abs=1e-5)


def test_those_that_moved_most_come_first(told: dict[str, Any]) -> None:
    for name, direction in (("risen_most", 1), ("fallen_most", -1)):
        classes = [
            direction * (move["before"]["precedence"] - move["after"]["precedence"])
            for move in told[name]
        ]
        assert classes == sorted(classes, reverse=True) and classes[-1] > 0


def test_top_and_links_bound_what_is_told(works: Works, told: dict[str, Any]) -> None:
    few = compared(*works["text"], "--top", 2, "--links", 1)
    for name in ("risen_most", "fallen_most"):
        for short, whole in zip(few[name], told[name][:2], strict=True):
            assert short["won"]["most"] == whole["won"]["most"][:1]
            assert short["won"]["gives"] == pytest.approx(whole["won"]["gives"])
    assert few["new_best"] == told["new_best"][:2]


def test_a_run_is_the_same_as_itself(works: Works) -> None:
    told = compared(works["columns"][0], works["text"][0])
    assert (told["risen"], told["fallen"], sum(told["new"]), sum(told["gone"])) == (0, 0, 0, 0)
    assert told["spearman"] == told["kendall"] == pytest.approx(1)
    assert told["options"] == {}


def test_tables(works: Works, told: dict[str, Any], tmp_path: Path) -> None:
    output = tmp_path / "new" / "diff.json"
    said = ok("diff", *works["text"], "--json", output).out
    for words in ("risen most", "links of pages that have fallen", "new, best first", "tau-b"):
        assert words in said
    assert told["risen_most"][0]["after"]["uri"] in said
    assert json.loads(output.read_text())["schema"] == "crawlrank-diff-1"


def test_refused(works: Works, tmp_path: Path) -> None:
    known = works["columns"][0]
    other = tmp_path / "other"
    web = {"http://z.test/": ["/a"], "http://z.test/a": ["/"]}
    ok("run", write_warc(tmp_path / "z.warc", web), "--work", other, "--no-validate", "--quiet")
    said = crawlrank("diff", known, other)
    assert (said.code, "no page in common" in said.err) == (3, True)
    assert crawlrank("diff", known, tmp_path / "none").code == 3
    manifest = other / "manifest.json"
    whole = manifest.read_text()
    manifest.write_text(whole.replace('"format": 2', '"format": 1'))
    said = crawlrank("diff", other, known)
    assert (said.code, "of another version" in said.err) == (3, True)
    manifest.write_text(whole)
    edit_manifest(other, lambda data: data["steps"]["export-precedence"].pop("fingerprint"))
    said = crawlrank("diff", known, other)
    assert (said.code, "export-precedence is not done" in said.err) == (3, True)


def test_options_that_differ_are_told(works: Works, tmp_path: Path) -> None:
    work = copy_of(works["columns"][0], tmp_path / "work")
    given = "--bins", 3, "--no-validate", "--iterations", ROUNDS, "--quiet", "--force"
    ok("run", made_archives()[0], "--work", work, *given)
    told = compared(works["columns"][0], work)
    assert told["options"] == {"--bins": [6, 3], "--unlisted": [7, 4]}
    assert (told["bins"], told["risen"], told["fallen"]) == (3, 0, 0)  # both cut as the second


@pytest.mark.slow
def test_a_link_lost_as_its_page_has_another_status(tmp_path: Path) -> None:
    """The sources are in both runs, as others link to them."""
    sources = {"410 Gone": "/s", "302 Found": "/u", "200 OK": "/v"}
    links = {"http://a.example/": [*sources.values(), "/t"], "http://a.example/t": ["/"]}
    once = {f"http://a.example{path}": ["/t", "/"] for path in sources.values()}
    first = write_warc(tmp_path / "1.warc.gz", {**links, **once})
    rest = write_warc(tmp_path / "2.warc.gz", links)
    later = [
        response(f"http://a.example{path}", b"no links", status) for status, path in sources.items()
    ]
    given = "--quiet", "--no-validate", "--bins", 20
    ok("run", first, "--work", tmp_path / "one", *given)
    others = rest, write_records(tmp_path / "3.warc", later)
    ok("run", *others, "--work", tmp_path / "other", *given)
    output = tmp_path / "diff.json"
    said = ok("diff", tmp_path / "one", tmp_path / "other", "--json", output).out
    told = json.loads(output.read_text())
    lost = {
        (link["uri"], link["status"])
        for move in told["risen_most"] + told["fallen_most"]
        for link in move["lost"]["most"]
    }
    assert lost == {
        (f"http://a.example{path}", int(status[:3])) for status, path in sources.items()
    }
    for status in ("410", "302", "200"):
        assert (f"its status is {status} now" in said) == (status != "200")
