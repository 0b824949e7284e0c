"""One option of a run changes, and exactly the steps that depend on it are done again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.crawls import WEB, crawlrank
from support.runs import copy_of, finished, shared_warc

from crawlrank.pipeline.options import RANKING_PARAMETERS, RunOptions
from crawlrank.pipeline.ranking.inputs import COMBINE, COMBINE_BY
from crawlrank.pipeline.steps import STEPS, later_steps

PAGES = {
    "one.txt": "http://a.example/ 1\n",
    "other.txt": "http://a.example/news 0.5\n",
    "seeds.txt": "http://a.example/\n",
    "others.txt": "http://a.example/about\n",
    "words.txt": "x\n",
    "more-words.txt": "x\ny\n",
}
#: option -> words before, words after, the first step that depends on it
CHANGES: dict[str, tuple[str, str, str]] = {
    "--bins": ("", "--bins 3", "export-precedence"),
    "--unlisted": ("", "--unlisted 9", "export-precedence alone"),
    "--jobs": ("", "--jobs 2", ""),
    "--perturb": ("--method hits --perturb 0.1", "--method hits --perturb 0.2", "page-rank"),
    "--tolerance": ("", "--tolerance 1e-5", "page-rank"),
    "--link-weight": ("", "--link-weight internal=2", "page-rank"),
    "--site-by": ("--method site", "--method site --site-by domain", "page-rank"),
    "--log2m": ("--method harmonic", "--method harmonic --log2m 8", "page-rank"),
    "--nodes": ("", "--nodes all", "assign-ids"),
    "--pdf": ("", "--pdf", "extract-links"),
    "--captures": ("", "--captures latest", "extract-links"),
    "--fold": ("", "--fold redirects", "extract-links"),
    "--outlinks": ("", "--outlinks html", "extract-links"),
    "--links": ("", "--links all", "extract-links"),
    "--forms": ("--links all", "--links all --forms", "extract-links"),
    "--nofollow": ("", "--nofollow drop", "extract-links"),
    "--max-record": ("", "--max-record 1000000", "extract-links"),
    "--max-links-per-page": ("", "--max-links-per-page 9", "extract-links"),
    "--keep-www": ("", "--keep-www", "canonicalize"),
    "--surt-exact": ("", "--surt-exact", "canonicalize"),
    "--method": ("", "--method degree", "page-rank"),
    "--iterations": ("--iterations 30", "--iterations 40", "page-rank"),
    "--teleport": (
        "--method personalized --teleport one.txt",
        "--method personalized --teleport other.txt",
        "page-rank",
    ),
    "--seeds": (
        "--method trustrank --seeds seeds.txt",
        "--method trustrank --seeds others.txt",
        "page-rank",
    ),
    "--from-seeds-file": (
        "--method trustrank --from-seeds-file seeds.txt",
        "--method trustrank --from-seeds-file others.txt",
        "page-rank",
    ),
    "--relevance": (
        "--method opic-hits",
        "--method opic-hits --relevance one.txt",
        "page-rank",
    ),
    "--words": (
        "--anchor-text --method topic --words words.txt",
        "--anchor-text --method topic --words more-words.txt",
        "page-rank",
    ),
    "--site-weight": ("--method site", "--method site --site-weight one", "page-rank"),
    "--classes-over": ("", "--classes-over all", "export-precedence"),
    "--ties": ("", "--ties together", "export-precedence"),
    "--spellings": ("", "--spellings captured", "export-precedence alone"),
    "--aliases": ("", "--aliases www", "export-precedence alone"),
    "--min-agreement": ("", "--min-agreement 0.5", "validate-opic"),
    "--memory": ("", "--memory 900MB", ""),
    "--max-rounds": ("", "--max-rounds 900", ""),
}


def again(first: str) -> set[str]:
    """The steps that depend on a step, and itself. Classes are those of the precedence file and of
    the validation, but the list of addresses is of the file alone."""
    if first == "export-precedence":
        return {first, "validate-opic"}
    name = first.removesuffix(" alone")
    return {name, *later_steps(name)} if name else set()


@pytest.fixture(autouse=True)
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of pages in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in PAGES.items():
        Path(name).write_text(text)


@pytest.mark.few(2)
@pytest.mark.parametrize("option", CHANGES)
def test_the_steps_that_depend_on_it_are_done_again(option: str, tmp_path: Path) -> None:
    before, after, first = CHANGES[option]
    archive, work = shared_warc("web.warc.gz", WEB), tmp_path / "work"
    run = ("run", archive, "--work", work, "--force", "-v", "--jobs", 1)
    if any(name in before for name in PAGES):
        assert crawlrank(*run, *before.split()).code == 0
    else:
        copy_of(finished(archive, *before.split()), work)
    said = crawlrank(*run, *after.split())
    assert said.code == 0, said
    done = set(re.findall(r"^(\S+): (?:[0-9.]+ s|[0-9:]+)$", said.err, re.M)) & STEPS.keys()
    kept = set(re.findall(r"^(\S+): unchanged, kept$", said.err, re.M))
    assert "page-rank" in done | kept
    assert done == again(first) & (done | kept)


def test_every_option_that_results_depend_on_is_changed_here() -> None:
    """A run never is a combination, and the runner changes the form of all datasets."""
    left_out = {COMBINE.option, COMBINE_BY.option, "--runner"}
    assert {*RunOptions().parameters(), *RANKING_PARAMETERS} - left_out <= CHANGES.keys()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "words", ["--aliases www", "--link-weight internal=2", "--method hits --perturb 0.1"]
)
def test_an_option_that_is_left_out_later_is_a_change(words: str, tmp_path: Path) -> None:
    archive, work = shared_warc("web.warc.gz", WEB), tmp_path / "work"
    copy_of(finished(archive, *words.split()), work)
    *method, name, value = words.split()
    said = crawlrank("run", archive, "--work", work, "--jobs", 1, *method)
    assert said.code == 3, said
    assert (
        f"was made with {name} {value}" in said.err and f"now it is run without {name}" in said.err
    )
    assert crawlrank("run", archive, "--work", work, "--jobs", 1, *words.split()).code == 0
