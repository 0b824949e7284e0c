"""Every runner gives the same: ids and graph, scores bit for bit and the same bytes of the
precedence file after K rounds, and within the certified errors after a tolerance."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.crawls import WEB, ok
from support.drawing import examples
from support.inputs.archive_samples import each, page
from support.paths import DAMAGED, LOOPBACK, SAMPLES
from support.runs import shared_warc
from support.work_folders import assert_same_counters, manifest_of

from crawlrank.pipeline.ranking.classes import cut

CRAWLS = {
    "loopback": [LOOPBACK],
    "aut": [SAMPLES / "aut-example.arc.gz", SAMPLES / "aut-example.warc.gz"],
    "damaged": sorted(DAMAGED.iterdir()),
}
RUNNERS = ("embedded", "inline", "local")
ROUNDS = {"web": 1, "damaged": 3, "loopback": 3, "aut": 6}
RECIPE = ("links", "canonicalized_links", "input_links", "map", "pr0", "pr", "score_uri")


def ranked(work: Path, runner: str, archives: list[Path], *options: object) -> dict[str, bytes]:
    """The recipe's own files of a run, and the rest of what it leaves."""
    said = ("--no-validate", "--quiet", "--jobs", 2 if runner == "local" else 1)
    ok("run", *archives, "--work", work / runner, "--runner", runner, *options, *said)
    out = work / f"{runner}-text"
    ok("export", "--format", "text", "--work", work / runner, "--out", out)
    return {path.stem: path.read_bytes() for path in out.iterdir()}


def summary(work: Path, runner: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((work / runner / "precedence.summary.json").read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "nodes", "runners"),
    [
        ("web", "linked", RUNNERS),
        ("damaged", "linked", RUNNERS[:2]),
        pytest.param("loopback", "linked", RUNNERS, marks=pytest.mark.slow),
        ("loopback", "all", RUNNERS[:2]),
        pytest.param("aut", "linked", RUNNERS[:2], marks=pytest.mark.slow),
    ],
)
def test_after_rounds_the_same_bytes(
    name: str, nodes: str, runners: tuple[str, ...], tmp_path: Path
) -> None:
    options = ("--iterations", ROUNDS.get(name, 15), "--nodes", nodes)
    archives = CRAWLS.get(name) or [shared_warc("web.warc.gz", WEB)]
    found = {runner: ranked(tmp_path, runner, archives, *options) for runner in runners}
    for runner in runners[1:]:
        assert found[runner].keys() == found["embedded"].keys() > {*RECIPE, f"pr{options[1]}"}
        for file, text in found["embedded"].items():
            assert found[runner][file] == text, (runner, file)
        assert_same_counters(*(tmp_path / name for name in ("embedded", runner)))
        told, expected = summary(tmp_path, runner), summary(tmp_path, "embedded")
        # bounds, each its own and right
        for differing in ("eta", "absolute", "nodes_near_a_boundary"):
            told.pop(differing), expected.pop(differing)
        assert told == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["loopback", *(pytest.param(name, marks=pytest.mark.slow) for name in ("damaged", "aut"))],
)
def test_after_a_tolerance_within_the_certified_errors(name: str, tmp_path: Path) -> None:
    scores, classes, told, eta = {}, {}, {}, {}
    for runner in RUNNERS[:2]:
        files = ranked(tmp_path, runner, CRAWLS[name], "--tolerance", "1e-9")
        scores[runner] = np.array([float(line.split()[1]) for line in files["pr"].splitlines()])
        rows = [line.rsplit(b" ", 1) for line in files["precedence"].splitlines()]
        classes[runner] = {uri: int(number) for uri, number in rows}
        told[runner] = summary(tmp_path, runner)
        manifest = manifest_of(tmp_path / runner)
        last = manifest["steps"]["page-rank"]["rounds"][-1]
        assert last["certificate"] <= 1e-9
        eta[runner] = last["eta"]
    one, other = (scores[runner] for runner in RUNNERS[:2])
    apart = np.abs(one - other) / np.minimum(one, other)
    assert apart.max() <= 1.01 * sum(eta.values())
    assert np.abs(one - other).sum() <= 2.01e-9 * one.sum()
    assert classes["embedded"].keys() == classes["inline"].keys()
    differing = [u for u in classes["inline"] if classes["embedded"][u] != classes["inline"][u]]
    near = min(entry["nodes_near_a_boundary"] for entry in told.values())
    spellings = max(entry["uris"] / entry["nodes"] for entry in told.values())
    assert len(differing) <= near * max(1.0, 10 * spellings)


@st.composite
def webs(draw: Any) -> dict[str, list[str]]:
    """Pages with links to each other, to pages never captured, and to other spellings."""
    names = [f"http://{'www.' * (n % 5 == 1)}h{n % 3}.example/{n}" for n in range(12)]
    uri = st.sampled_from([*names, "http://H0.example:80/0", "http://www.h1.example/1?b=2&a=1"])
    captured = draw(st.lists(st.sampled_from(names), min_size=1, max_size=8, unique=True))
    return {page: draw(st.lists(uri, max_size=9)) for page in captured}


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(web=webs(), nodes=st.sampled_from(["linked", "all"]))
def test_on_made_webs(web: dict[str, list[str]], nodes: str) -> None:
    if nodes == "linked" and not any(web.values()):
        return  # nobody gets an id, which is an error of its own
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = folder / "web.warc.gz"
        html = {uri: "".join(f"<a href='{to}'>" for to in links) for uri, links in web.items()}
        archive.write_bytes(each([page(text, uri) for uri, text in html.items()]))
        options = ("--iterations", 15, "--nodes", nodes)
        one, other = (ranked(folder, runner, [archive], *options) for runner in RUNNERS[:2])
        assert one == other


@pytest.mark.slow
def test_nodes_near_a_boundary_are_counted(tmp_path: Path) -> None:
    """With a coarse tolerance some are; the count is that of the classes cut from the scores."""
    options = ("--tolerance", "1e-2", "--classes-over", "all")
    files = ranked(tmp_path, "embedded", [SAMPLES / "aut-example.warc.gz"], *options)
    told = summary(tmp_path, "embedded")
    scores = np.array([float(line.split()[1]) for line in files["pr"].splitlines()])
    counted = cut(scores, 5, digits=told["digits"], eta=told["eta"]).near.sum()
    assert told["nodes_near_a_boundary"] == counted > 0
