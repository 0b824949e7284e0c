"""Every ranking on real crawls, real archives of others, and graphs that were hard: with default
options and with fixed rounds, in few and in many classes. Scores, bounds, classes and what people
are shown, against solutions in extended precision (support/rankings/exact_rankings.py).

A new method has to be given its solution here: a method without one fails.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest
from support.crawls import crawlrank, ok
from support.paths import REFERENCE, SAMPLES
from support.rankings import exact_rankings as exact
from support.rankings.exact_rankings import Exact, Ids, Web
from support.rankings.hard_graphs import hard_graphs

from crawlrank.jobs.kernel.keys.keys import key_of
from crawlrank.pipeline.ranking.methods import COMBINED, METHODS

pytestmark = pytest.mark.real
Flags = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float64]

#: name -> archives below SAMPLES or REFERENCE
CRAWLS = {
    "sample": ["aut-example.arc.gz", "aut-example.warc.gz"],
    "loopback": ["heritrix-loopback.warc.gz"],
    "several": [f"several-crawls/crawl-{n}.warc.gz" for n in (1, 2, 3, 4)],
    "ics": ["archives/ics-uci"],
    "whirlwind": ["archives/commoncrawl-whirlwind-python"],
    "aut": ["archives/archivesunleashed-aut"],
}
INPUTS = [*CRAWLS, *hard_graphs()]
ROUNDS: dict[str, tuple[object, ...]] = {
    "default": (), "10": ("--iterations", 10), "150": ("--iterations", 150)
}  # fmt: skip
BINS = (5, 100)
SAMPLED = 60


@dataclass(frozen=True)
class Ranking:
    """A way to rank. options: beside --method. solution: None where the ranking has none. most:
    pages of which all are compared; of a larger crawl SAMPLED are."""

    method: str
    solution: Callable[[Web], Exact | None]
    options: tuple[str, ...] = ()
    most: int | None = None


RANKINGS = {
    "pagerank": Ranking("pagerank", exact.pagerank),
    "weighted": Ranking(
        "pagerank",
        lambda web: exact.pagerank(web, weights=(0.5, 2)),
        ("--link-weight", "internal=0.5,external=2"),
    ),
    "personalized": Ranking(
        "personalized", lambda web: exact.pagerank(web, teleport=True), ("--teleport", "{weights}")
    ),
    "trustrank": Ranking(
        "trustrank", lambda web: exact.pagerank(web, teleport=True), ("--seeds", "{seeds}")
    ),
    "hits": Ranking("hits", exact.hits),
    "degree": Ranking("degree", exact.indegree),
    "harmonic": Ranking("harmonic", exact.harmonic, most=10_000),
    "opic": Ranking("opic", exact.opic),
    "opic-hits": Ranking("opic-hits", lambda web: exact.indegree(web) + 1),
    "site": Ranking("site", exact.sites),
    "site-harmonic": Ranking("site-harmonic", exact.site_harmonic),
}


def test_every_method_has_a_solution() -> None:
    methods = {ranking.method for ranking in RANKINGS.values()} | {"topic"}
    assert methods == METHODS.keys() - {COMBINED}


@dataclass(frozen=True, eq=False)
class Crawl:
    """A run, and its graph as its text files have it. keys, captured: of pages, by id."""

    work: Path
    web: Web
    keys: list[str]
    captured: Flags
    files: dict[str, Path]


@pytest.fixture(scope="module")
def crawl_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Crawl]:
    folder = tmp_path_factory.mktemp("real")

    @cache
    def made(name: str) -> Crawl:
        work, graph = folder / name, hard_graphs().get(name)
        if graph:
            links = folder / f"{name}.txt"
            links.write_text("".join(f"{source} {target}\n" for source, target in graph.links))
            ok("step", "import-text", "--links", links, "--order", "source-target", "--work", work)
            ok("run", "--work", work, "--nodes", "all", "--quiet")
        else:
            ok("run", *_archives(name), "--work", work, "--skip-bad-files", "--quiet")
        rows = _rows(work)
        web, keys = _web(work, folder / f"{name}-text")
        seeds = graph.seeds if graph else [rows["uri"][0], rows["uri"][len(keys) // 2]]
        weights = graph.weights if graph else dict(zip(seeds, (1.0, 3.0), strict=True))
        files = {"seeds": folder / f"{name}.seeds", "weights": folder / f"{name}.weights"}
        files["seeds"].write_text("".join(f"{uri}\n" for uri in seeds))
        files["weights"].write_text("".join(f"{uri} {w!r}\n" for uri, w in weights.items()))
        return Crawl(work, web, keys, rows["captures"] > 0, files)

    return made


def _archives(name: str) -> list[Path]:
    found = [
        path
        for folder in (SAMPLES, REFERENCE)
        for path in (folder / each for each in CRAWLS[name])
        if path.exists()
    ]
    if not found:
        pytest.skip("no reference data here")
    return found


def _rows(folder: Path) -> dict[str, Any]:
    """The columns of the scores, by id."""
    table = pq.read_table(folder / "scores" / "scores.parquet").sort_by("id")
    return {
        "score": table["score"].to_numpy(), "uri": table["uri"].to_pylist(),
        "captures": table["captures"].to_numpy(),
    }  # fmt: skip


def _web(work: Path, folder: Path) -> tuple[Web, list[str]]:
    ok("export", "--format", "text", "--work", work, "--out", folder)
    keys = [line.split(" ", 1)[1] for line in (folder / "map.txt").read_text().splitlines()]
    edges = []
    for line in (folder / "pr0.txt").read_text().splitlines():
        source, _, targets = line.split("\t")
        if source != "dummy" and targets != "O:dummy":
            edges += [(int(source), int(target)) for target in targets[2:].split(",")]
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    _, sites = np.unique([key.partition(")")[0] for key in keys], return_inverse=True)
    return Web(len(keys), pairs[:, 0], pairs[:, 1], sites, np.ones(len(keys))), keys


def started_at(crawl: Crawl, ranking: Ranking) -> Web:
    """The web with the weights that the ranking's file gives to pages."""
    (file,) = [word[1:-1] for word in ranking.options if word.startswith("{")] or [None]
    if file is None:
        return crawl.web
    number = {uri: n for n, uri in enumerate(_rows(crawl.work)["uri"])}
    weights = np.zeros(crawl.web.nodes)
    for line in crawl.files[file].read_text().splitlines():
        uri, *weight = line.split()
        weights[number[uri]] = float(weight[0]) if weight else 1.0
    return crawl.web._replace(weights=weights)


@cache
def solution_of(ranking: Ranking, crawl: Crawl) -> Exact | None:
    return ranking.solution(started_at(crawl, ranking))


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", RANKINGS)
@pytest.mark.parametrize("crawl_name", INPUTS)
def test_a_ranking(
    crawl_name: str, name: str, rounds: str, crawl_of: Callable[[str], Crawl]
) -> None:
    crawl, ranking = crawl_of(crawl_name), RANKINGS[name]
    sampled = ranking.most is not None and crawl.web.nodes > ranking.most
    truth = None if sampled else solution_of(ranking, crawl)
    options = [word.format(**crawl.files) for word in ranking.options]
    how = ("--work", crawl.work, "--name", f"{name}-{rounds}", "--method", ranking.method)
    said = crawlrank("rank", *how, *options, *ROUNDS[rounds])
    if sampled:
        check_sample(crawl.work / "rankings" / f"{name}-{rounds}", crawl.web)
        return
    if truth is None:
        assert said.code == 3 or rounds != "default"
        return
    assert said.code == 0, said
    folder = crawl.work / "rankings" / f"{name}-{rounds}"
    scores = _rows(folder)["score"]
    last = json.loads((folder / "manifest.json").read_text())["steps"]["page-rank"]["rounds"][-1]
    check_bounds(scores, truth, last, ranking.method)
    check_shown(said.out, folder, truth)
    for bins in BINS:
        check_classes(crawl, folder, scores, truth, bins)


@pytest.mark.parametrize("name", CRAWLS)
def test_a_topic(name: str, tmp_path: Path) -> None:
    """Two words that many links have, of which one counts for less."""
    work = tmp_path / "work"
    kept = ("--anchor-text", "--titles", "--skip-bad-files", "--quiet")
    ok("run", *_archives(name), "--work", work, *kept)
    web, keys = _web(work, tmp_path / "text")
    number = {key: n for n, key in enumerate(keys)}
    links, titles = texts_of(work, number, tmp_path / "anchors.csv")
    common = Counter(word for _, _, text in links for word in words_of(text)).most_common(40)
    topic = {common[9][0]: 1.0, common[-1][0]: 0.5}
    words = tmp_path / "words.txt"
    words.write_text("".join(f"{word}\t{weight}\n" for word, weight in topic.items()))
    truth = topic_solution(web, keys, topic, links, titles)
    said = ok("rank", work, "--method", "topic", "--words", words, "--name", "topic")
    folder = work / "rankings" / "topic"
    last = json.loads((folder / "manifest.json").read_text())["steps"]["page-rank"]["rounds"][-1]
    scores, captured = _rows(folder)["score"], _rows(work)["captures"] > 0
    check_bounds(scores, truth, last, "topic")
    check_shown(said.out, folder, truth)
    for bins in BINS:
        check_classes(Crawl(work, web, keys, captured, {}), folder, scores, truth, bins)


Texts = list[tuple[int, int, str]]


def texts_of(work: Path, number: dict[str, int], file: Path) -> tuple[Texts, Texts]:
    """Source, target and words of links between pages that have scores, but for links of a page to
    itself; and each page, twice, with its titles. number: the id of a key."""
    ok("export", work, "--format", "anchors", "--output", file)
    with file.open(newline="") as lines:
        links = [(row["src"], row["dest"], row["anchor"]) for row in csv.DictReader(lines)]
    titles = list[tuple[str, str, str]]()
    for part in sorted((work / "captures").glob("*.parquet")):
        pages = pq.read_table(part, columns=["uri", "title"]).to_pylist()
        titles += [(page["uri"], page["uri"], page["title"] or "") for page in pages]
    uris = {uri for row in links + titles for uri in row[:2]}
    ids = {uri: number.get((key_of(uri.encode()) or b"").decode(), -1) for uri in uris}
    of_links, of_titles = (
        [(ids[a], ids[b], text) for a, b, text in dict.fromkeys(rows) if min(ids[a], ids[b]) >= 0]
        for rows in (links, titles)
    )
    return [row for row in of_links if row[0] != row[1]], of_titles


def words_of(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text.casefold())
    return set(re.findall(r"\w+", "".join(c for c in plain if not unicodedata.combining(c))))


def topic_solution(
    web: Web, keys: list[str], topic: dict[str, float], links: Texts, titles: Texts
) -> Exact:
    """From the definition in docs/topic.md."""

    def weight(text: str) -> float:
        return sum(topic[word] for word in words_of(text) & topic.keys())

    of_links: dict[tuple[int, int], float] = defaultdict(float)
    of_hosts: dict[tuple[int, str], float] = defaultdict(float)
    of_titles: dict[int, float] = defaultdict(float)
    for source, target, text in links:
        host = keys[source].partition(")")[0]
        of_links[source, target] = max(of_links[source, target], weight(text))
        of_hosts[target, host] = max(of_hosts[target, host], weight(text))
    for page, _, text in titles:
        of_titles[page] = max(of_titles[page], weight(text))
    pages = np.zeros(web.nodes)
    for (page, _), more in of_hosts.items():
        pages[page] += more
    for page, more in of_titles.items():
        pages[page] += more
    pairs = zip(web.sources.tolist(), web.targets.tolist(), strict=True)
    each = 1 + 4 * np.array([of_links.get(pair, 0.0) for pair in pairs], exact.Long)
    start = exact.Long("0.9") * pages / pages.astype(exact.Long).mean() + exact.Long("0.1")
    return exact.weighted(web, each, (1 - exact.Long(0.85)) * start)


def check_bounds(scores: Scores, truth: Exact, last: dict[str, Any], method: str) -> None:
    """last: the entry of the last round."""
    error = np.abs(scores - truth)
    own = 1e-17 * truth  # of the solution
    eta = last["eta"] if last["eta"] is not None else np.inf
    with np.errstate(invalid="ignore"):
        allowed = np.where(truth > 0, eta * truth, 0 if np.isfinite(eta) else np.inf)
    if "absolute" in last:
        allowed = np.minimum(allowed, last["absolute"])
    assert (error <= allowed + own).all(), (error - allowed).max()
    if truth.sum() == 0:  # of sites that do not link to each other
        return
    whole = np.sqrt((error * error).sum()) if method == "hits" else error.sum() / scores.sum()
    assert whole <= last["certificate"] + 1e-18
    off = np.abs(scores / scores.sum(dtype=exact.Long) - truth / truth.sum()).sum()
    assert off <= last["probability_certificate"] + 1e-18 * len(scores)


def check_sample(folder: Path, web: Web) -> None:
    """Harmonic centrality of some pages, the best among them."""
    scores = _rows(folder)["score"]
    pages = np.random.default_rng(1).choice(web.nodes, SAMPLED, replace=False)
    pages = np.concatenate((pages, np.argsort(scores)[-SAMPLED:]))
    truth = exact.harmonic(web, pages)
    last = json.loads((folder / "manifest.json").read_text())["steps"]["page-rank"]["rounds"][-1]
    assert (np.abs(scores[pages] - truth) <= last["eta"] * truth + 1e-17 * truth).all()


def check_shown(out: str, folder: Path, truth: Exact) -> None:
    """The digits in the table of the best pages are those of the solution."""
    number = {uri: n for n, uri in enumerate(_rows(folder)["uri"])}
    table = out.partition("pages with the highest scores\n")[2].partition("\n\n")[0]
    rows = [line.split() for line in table.splitlines()[1:]]
    assert rows or "sites" in out
    for _, text, uri in rows:
        assert is_shown_right(text, float(truth[number[uri]])), (text, uri, truth[number[uri]])


def is_shown_right(text: str, value: float) -> bool:
    if text.startswith("<"):
        return value <= float(text[1:])
    if "±" in text:
        shown, off = text.split("±")
        return abs(float(shown) - value) <= float(off) + 10.0 ** np.floor(np.log10(float(shown)))
    digits = len(re.sub(r"e.*", "", text).replace(".", "").lstrip("0"))
    return f"{float(text):.{max(digits, 1) - 1}e}" == f"{value:.{max(digits, 1) - 1}e}"


def check_classes(crawl: Crawl, folder: Path, scores: Scores, truth: Exact, bins: int) -> None:
    """The written classes are those of the written scores, and those of the solution but for as
    many pages as are said to be near a boundary."""
    file = folder / f"in-{bins}" / "precedence.txt"
    file.parent.mkdir()
    ok("export", "--work", folder, "--bins", bins, "--output", file)
    lines = dict(line.rsplit(" ", 1) for line in file.read_text().splitlines())
    summary = json.loads((file.parent / "precedence.summary.json").read_text())
    uris = _rows(folder)["uri"]
    listed = np.array([uri in lines for uri in uris])
    assert listed.mean() > 0.98
    written = np.array([int(lines.get(uri, 0)) for uri in uris])
    of_scores, of_truth = (
        classes(crawl, values, bins, summary["digits"]) for values in (scores, truth)
    )
    assert (written == of_scores)[listed].all()
    assert np.count_nonzero(of_scores != of_truth) <= summary["nodes_near_a_boundary"]


def classes(crawl: Crawl, scores: Any, bins: int, digits: int) -> Ids:
    """From the definition: rounded scores, the highest first, then keys, cut into equal parts of
    the captured pages."""
    shown = [float(f"{score:.{digits - 1}e}") for score in scores.tolist()]
    order = sorted(range(len(shown)), key=lambda n: (-shown[n], crawl.keys[n]))
    over = crawl.captured if crawl.captured.any() else np.ones(len(shown), bool)
    before = np.cumsum(over[order]) - over[order]
    found = np.empty(len(shown), np.int64)
    found[order] = np.minimum(1 + bins * before // over.sum(), bins)
    return found
