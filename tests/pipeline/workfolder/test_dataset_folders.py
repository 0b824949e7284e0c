"""Finished runs whose datasets lie at a URL, lack one, or are none: what the commands that read
them say, and that the cure which they name helps."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from support.crawls import INLINE, MORE_WEB, WEB, crawlrank, ok
from support.node_columns import read_node_columns
from support.openings import openings
from support.runs import FOLDER, copy_of, finished, shared_warc
from support.work_folders import edit_manifest

OPTIONS = ("--iterations", 5, "--captures", "latest", "--fold", "redirects", "--no-validate")
URI = "http://a.example/about"
OF_THE_RUN = "Run `crawlrank run` again with the same archives and options"


class Made(NamedTuple):
    """A work folder, the run that made it, and the folder of its datasets."""

    work: Path
    run: tuple[object, ...]
    data: Path


@pytest.fixture
def works() -> dict[str, Made]:
    """One crawl, with its datasets in the work folder as columns and as text, and at a URL; to read
    only."""
    archives = shared_warc("web.warc.gz", WEB), shared_warc("more.warc.gz", MORE_WEB)
    data = Path(os.environ[FOLDER]) / "datasets-at-a-url"
    at_url = ("--data", f"file://{data}")
    how = {"columns": (), "near": INLINE, "far": (*INLINE, *at_url)}
    made = {}
    for name, given in how.items():
        work = finished(archives, *OPTIONS, *given)
        run = ("run", *archives, "--quiet", *OPTIONS, *given)
        made[name] = Made(work, run, data if name == "far" else work)
    return made


def moved(work: Path, to: Path, url: str) -> Path:
    """A copy of a work folder that has its datasets at another URL."""
    copy_of(work, to)
    edit_manifest(to, lambda manifest: manifest["parameters"].update({"--data": url}))
    return to


def another(made: Made, to: Path) -> Made:
    """To change its datasets; those at a URL are of one work folder, so that one is made anew."""
    work = to / "work"
    if made.data == made.work:
        return Made(copy_of(made.work, work), (*made.run, "--work", work), work)
    run = (*made.run[:-1], f"file://{to}/data", "--work", work)
    ok(*run)
    return Made(work, run, to / "data")


def explained(work: Path, uri: str = URI) -> Any:
    return json.loads(ok("explain", "--work", work, uri, "--json", "-").out)


def compared(before: Path, after: Path) -> Any:
    told = json.loads(ok("diff", before, after, "--json", "-").out)
    del told["before"]["work"], told["after"]["work"]
    told["options"].pop("--data", None)
    return told


def brought(files: Counter[Path], data: Path) -> dict[str, int]:
    """How often the parts of each dataset were read at their URL, by what was opened there."""
    counts: dict[str, int] = {}
    for path, times in files.items():
        name = path.relative_to(data).parts[0]
        counts[name] = max(times, counts.get(name, 0))
    return counts


@pytest.mark.parametrize("uri", [URI, "http://a.example/", "http://c.example/never-captured"])
@pytest.mark.slow
def test_a_page_of_a_run_at_a_url(uri: str, works: dict[str, Made]) -> None:
    assert explained(works["far"].work, uri) == explained(works["near"].work, uri)


@pytest.mark.slow
def test_a_run_at_a_url_against_another(works: dict[str, Made]) -> None:
    far, near, columns = (works[name].work for name in ("far", "near", "columns"))
    assert compared(far, columns) == compared(near, columns)
    assert compared(columns, far) == compared(columns, near)


@pytest.mark.slow
def test_the_columns_of_a_run_at_a_url(works: dict[str, Made], tmp_path: Path) -> None:
    far, near = (read_node_columns(works[name].work, tmp_path) for name in ("far", "near"))
    for name in ("scores", "indegrees", "captured", "ranks", "classes"):
        assert np.array_equal(getattr(far, name), getattr(near, name)), name
    assert far.hosts == near.hosts


@pytest.mark.slow
def test_only_what_a_command_reads_is_brought_and_once(
    works: dict[str, Made], tmp_path: Path
) -> None:
    """In a folder of this machine each file is opened twice: its digest is compared first."""
    far, _, data = works["far"]
    with openings(data) as opened:
        explained(far)
        told = dict.fromkeys(("map", "uris", "ranks", "folds", "captures"), 2)
        assert brought(opened.files(), data) == told
        explained(far, "http://c.example/never-captured")
        assert "captures" not in brought(opened.files(), data)
        compared(far, far)
        told = dict.fromkeys(("map", "uris", "ranks"), 4)
        assert brought(opened.files(), data) == told
        ok("export", "--format", "text", "--work", far, "--out", tmp_path / "text")
        several = ("map", "selected", "captures", "canonical_links", "input_links", "graph")
        told = dict.fromkeys((*several, "ranks"), 2)
        assert brought(opened.files(), data) == told
    assert list(tmp_path.iterdir()) == [tmp_path / "text"]
    assert not [path for path in (tmp_path / "text").iterdir() if path.name.startswith(".")]


@pytest.mark.slow
def test_a_run_in_s3(bucket: Any, works: dict[str, Made], tmp_path: Path) -> None:
    data = works["far"].data
    for path in data.rglob("*"):
        if path.is_file():
            bucket.upload_file(str(path), "crawl", f"finished/{path.relative_to(data)}")
    work = moved(works["far"].work, tmp_path / "work", "s3://crawl/finished")
    assert explained(work) == explained(works["near"].work)
    bucket.delete_object(Bucket="crawl", Key="finished/map/_SUCCESS")
    said = crawlrank("explain", "--work", work, URI)
    assert (said.code, "s3://crawl/finished/map: not there" in said.err) == (3, True)


READERS = {
    "explain": lambda work, out: crawlrank("explain", "--work", work, URI, "--json", "-"),
    "diff": lambda work, out: crawlrank("diff", work, work, "--json", "-"),
    "export-text": lambda work, out: crawlrank(
        "export", "--format", "text", "--work", work, "--out", out
    ),
}


def lost(made: Made, dataset: str) -> None:
    for folder in (made.work, made.data):
        if (folder / dataset).is_dir():
            shutil.rmtree(folder / dataset)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "dataset", "reader"),
    [
        ("columns", "map", "explain"),
        ("columns", "graph", "diff"),
        pytest.param("columns", "selected", "export-text", marks=pytest.mark.slow),
        pytest.param("columns", "folds", "explain", marks=pytest.mark.slow),
        ("far", "ranks", "diff"),
        pytest.param("far", "captures", "explain", marks=pytest.mark.slow),
        pytest.param("near", "uris", "explain", marks=pytest.mark.slow),
        pytest.param("near", "selected", "export-text", marks=pytest.mark.slow),
        pytest.param("far", "graph", "export-text", marks=pytest.mark.slow),
        pytest.param("far", "folds", "explain", marks=pytest.mark.slow),
    ],
)
def test_the_run_makes_a_lost_dataset_again(
    name: str, dataset: str, reader: str, works: dict[str, Made], tmp_path: Path
) -> None:
    made, out = another(works[name], tmp_path), tmp_path / "text"
    before = READERS[reader](made.work, out)
    lost(made, dataset)
    said = READERS[reader](made.work, out)
    where = f"file://{made.data}/{dataset}" if name == "far" else str(made.work / dataset)
    assert said.code == 3, said
    assert f"{where}: not there; expected a dataset of a finished run. {OF_THE_RUN}" in said.err
    ok(*made.run)
    assert READERS[reader](made.work, out) == before


def test_a_store_that_is_out_of_reach(works: dict[str, Made], tmp_path: Path) -> None:
    work = moved(works["far"].work, tmp_path / "work", "hdfs://127.0.0.1:1/data")
    said = crawlrank("explain", "--work", work, URI)
    assert said.code == 3
    assert "hdfs://127.0.0.1:1/data/" in said.err and "cannot be read" in said.err
    assert "HADOOP_CONF_DIR" in said.err and OF_THE_RUN in said.err
    out = ok("status", "--work", work).out
    assert "The datasets at hdfs://127.0.0.1:1/data were not checked: " in out


@pytest.mark.parametrize(
    ("dataset", "file"),
    [
        ("ranks", "scores.npy"), ("map", "map.parquet"), ("graph", "sources.npy"),
        ("scores", "scores.parquet"), ("uris", "uris.parquet"), ("folds", "folds.parquet"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("reader", ["explain", "export-text"])
def test_a_damaged_dataset_is_told_as_one(
    dataset: str, file: str, reader: str, works: dict[str, Made], tmp_path: Path
) -> None:
    work = copy_of(works["columns"].work, tmp_path / "work")
    (work / dataset / file).write_bytes(b"nothing of that kind\n")
    said = READERS[reader](work, tmp_path / "text")
    if (dataset, reader) == ("folds", "export-text"):  # which does not read them
        assert said.code == 0
        return
    assert (said.code, str(work) in said.err, OF_THE_RUN in said.err) == (3, True, True), said
    assert "datasets-" not in said.err  # where it is linked


# ---- what other commands say of every kind of folder


IMPORTS = {
    "links": {"--links": "links.txt", "--captures": "captures.txt"},
    "keys": {"--canonical-links": "canonicalized_links.txt"},
    "graph": {"--graph": "pr0.txt", "--map": "map.txt"},
    "waiting": {"--graph": "pr0.txt"},
}
#: of a run that ends with code 4
ENDLESS = ("--tolerance", 1e-12, "--max-rounds", 1, "--quiet", "--jobs", 1)


def imported(kind: str, work: Path, text: Path) -> Path:
    """A work folder of imported text, ranked but for the one that waits."""
    given = [word for name, file in IMPORTS[kind].items() for word in (name, text / file)]
    ok("step", "import-text", "--work", work, *given)
    if kind != "waiting":
        run = ("--iterations", 5, "--no-validate", "--quiet", "--jobs", 1)
        ok("run", "--work", work, *run)
    return work


@pytest.fixture
def text(works: dict[str, Made], tmp_path: Path) -> Path:
    """The run as text."""
    ok(
        "export",
        "--format",
        "text",
        "--work",
        works["columns"].work,
        "--out",
        tmp_path / "of-the-run",
    )
    return tmp_path / "of-the-run"


def work_folders(works: dict[str, Made], text: Path, folder: Path) -> dict[str, Path]:
    """By kind; and `nothing`, which is none."""
    archives = works["columns"].run[1:3]
    assert crawlrank("run", *archives, "--work", folder / "exit-4", *ENDLESS).code == 4
    return {
        **{name: of.work for name, of in works.items()},
        **{kind: imported(kind, folder / kind, text) for kind in IMPORTS},
        **{kind: folder / kind for kind in ("exit-4", "nothing")},
    }


FINISHED = ("columns", "near", "far", "links", "keys", "graph")
AS_TEXT = "`crawlrank export --format text` writes them as text"
NOT_DONE = "is not done; expected a finished run. Finish it with `crawlrank run"
NO_URIS = "no URI in it; expected at least one http or https URI"
NO_MANIFEST = "no manifest.json in it; expected a work folder. Make one with"
UNFINISHED = {"waiting": NOT_DONE, "exit-4": NOT_DONE, "nothing": NO_MANIFEST}
#: command -> kind of folder -> what it says; of all other kinds, that it is done
SAID: dict[str, dict[str, str]] = {
    "status": {"nothing": NO_MANIFEST},
    "explain": UNFINISHED,
    "diff": UNFINISHED,
    "export-text": UNFINISHED,
    "export-precedence": {
        **{"keys": NO_URIS, "graph": NO_URIS, "far": AS_TEXT},
        **dict.fromkeys(("waiting", "exit-4", "nothing"), "scores: no such file or folder"),
    },
    "validate-opic": {
        **dict.fromkeys(("columns", "far", "links", "keys", "graph", "waiting", "exit-4"), AS_TEXT),
        "nothing": "graph: no such file or folder",
    },
    "join-scores": {
        **dict.fromkeys(("columns", "far", "links", "keys", "graph"), AS_TEXT),
        **dict.fromkeys(("waiting", "nothing"), "ranks: no such file or folder"),
        "exit-4": AS_TEXT,
    },
    "import-text": dict.fromkeys(
        (*FINISHED, "waiting", "exit-4"), "is a work folder already; expected a new folder"
    ),
    "inspect": dict.fromkeys((*FINISHED, "waiting", "exit-4"), "no archive among"),
}


def words(command: str, kind: str, work: Path, out: Path) -> tuple[object, ...]:
    uri = "example,a)/about" if kind in ("keys", "graph") else URI
    return {
        "status": ("--work", work),
        "explain": ("--work", work, uri),
        "diff": (work, work),
        "export-text": ("--work", work, "--out", out / "text"),
        "export-precedence": (work / "scores", "--uris", work / "uris", "--output", out / "p.txt"),
        "validate-opic": (work / "graph", work / "ranks", "--output", out / "report.json"),
        "join-scores": (
            *(work / "ranks", "--map", work / "map", "--uris", work / "uris"),
            *("--output", out / "scores.txt", *INLINE),
        ),
        "import-text": ("--work", work, "--links", out / "links.txt"),
        "inspect": (work, "--quiet"),
    }[command]


@pytest.mark.slow
def test_every_command_on_every_kind_of_folder(
    works: dict[str, Made], text: Path, tmp_path: Path
) -> None:
    for kind, work in work_folders(works, text, tmp_path).items():
        for command in SAID:
            if kind == "nothing" and command in ("import-text", "inspect"):
                continue  # a new folder, and archives that are not there: see their own tests
            out = tmp_path / f"{command} of {kind}"
            out.mkdir()
            (out / "links.txt").write_text("http://a/ http://b/\n")
            said = crawlrank(command, *words(command, kind, work, out))
            wanted = SAID[command].get(kind)
            allowed = (0, 4) if command == "validate-opic" else (0,)  # five rounds are few
            assert said.code == 3 if wanted else said.code in allowed, (command, kind, said)
            assert (wanted or "") in said.err, (command, kind, said)


def test_a_lost_dataset_of_an_import(text: Path, tmp_path: Path) -> None:
    work = imported("graph", tmp_path / "work", text)
    shutil.rmtree(work / "map")
    cure = "Import the text files into a new work folder with `crawlrank step import-text`"
    for command in (("export", "--format", "text", "--out", tmp_path / "text"), ("run",)):
        said = crawlrank(*command, "--work", work)
        assert said.code == 3
        assert str(work / "map") in said.err and "not there" in said.err and cure in said.err
