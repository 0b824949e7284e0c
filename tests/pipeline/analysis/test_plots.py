"""`crawlrank plot`: what it reads of both engines' work folders, and the pictures."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import INLINE, crawlrank, datasets, ok
from support.inputs.made_uris import made_uris
from support.inputs.samples import HOSTILE
from support.paths import LOOPBACK
from support.runs import finished

from crawlrank.jobs.kernel.keys.keys import key_function
from crawlrank.pipeline.analysis.plots.plot_data import HostRange, Pages, host_ranges, read_pages
from crawlrank.pipeline.ranking.sites.names import host_name

NAMES = ("score-distribution", "rank-against-indegree", "classes-by-host")


def batches(keys: list[str], size: int) -> Iterator[pa.RecordBatch]:
    for at in range(0, len(keys), size):
        yield pa.record_batch({"key": pa.array(keys[at : at + size], pa.string())})


@given(
    st.lists(st.sampled_from(["a)", "a)/b)", "b,a)/", "b,a:8)/", "c", "é,c)/x"])), st.integers(1, 4)
)
def test_hosts_are_ranges_of_keys(keys: list[str], size: int) -> None:
    keys = sorted(keys, key=str.encode)
    found = list(host_ranges(batches(keys, size)))
    grouped = [(host, len(list(same))) for host, same in groupby(k.split(")")[0] for k in keys)]
    assert [(host.key, host.end - host.begin) for host in found] == grouped
    assert [host.begin for host in found] == [0, *(host.end for host in found)][: len(found)]


def test_the_keys_of_a_host_follow_each_other() -> None:
    made = {key_function(False)(uri) for uri in made_uris(5_000, 1, HOSTILE)}
    keys = sorted(key.decode() for key in made if key and key.isascii())
    hosts = [host.key for host in host_ranges(batches(keys, 100))]
    assert len(hosts) == len(set(hosts)) > 100


@pytest.mark.parametrize(
    ("uri", "host"),
    [
        (b"http://www.archive.org/a)b", "archive.org"),
        (b"http://web.archive.org:8080/", "web.archive.org:8080"),
        (b"http://127.0.0.1:18081/x", "127.0.0.1:18081"),
        (b"http://127.0.0.1/", "127.0.0.1"),
        (b"http://localhost/", "localhost"),
    ],
)
def test_names_of_hosts(uri: bytes, host: str) -> None:
    key = key_function(False)(uri)
    assert key is not None
    (found,) = host_ranges(batches([key.decode()], 1))
    assert host_name(found.key) == host


@pytest.fixture(scope="module")
def works() -> dict[str, Path]:
    """The same run by both engines, to the last digit."""
    given = LOOPBACK, "--iterations", 15, "--no-validate"
    return {"text": finished(*given, *INLINE), "columns": finished(*given)}


def test_what_is_plotted_is_what_the_datasets_say(works: dict[str, Path], tmp_path: Path) -> None:
    one, other = (read_pages(works[name], tmp_path) for name in ("text", "columns"))
    for name in ("scores", "indegrees", "captured", "ranks", "classes"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.hosts, one.host_count, one.bins) == (other.hosts, other.host_count, 5)
    text = {name: data.decode().splitlines() for name, data in datasets(works["text"]).items()}
    keys = [line.split(" ")[1] for line in text["map"]]
    targets = [line.split("\tO:")[1].split(",") for line in text["graph"]]
    linked = Counter(int(node) for found in targets for node in found if node != "dummy")
    assert one.indegrees.tolist() == [linked[node] for node in range(len(keys))]
    best = [line.split("\t") for line in text["scores"]]
    assert [keys[node] for node in np.argsort(one.ranks)] == [key for _, _, key in best]
    precedences = dict(line.split(" ") for line in text["precedence.txt"])
    class_of = dict(zip(keys, one.classes.tolist(), strict=True))
    listed = {key: int(precedences[uri]) for _, uri, key in best if uri in precedences}
    assert len(listed) > 50 and {key: class_of[key] for key in listed} == listed
    rows = [line.split("\t") for line in text["uris"]]
    seen = {key for key, _, captures, *_ in rows if captures != "0"}
    assert [key in seen for key in keys] == one.captured.tolist()
    hosts = Counter(key.split(")")[0] for key in keys)
    assert {host.key: host.end - host.begin for host in one.hosts} == hosts


@pytest.mark.few(1)
@pytest.mark.parametrize("form", ["png", "svg"])
def test_pictures_are_whole_and_always_the_same(
    form: str, works: dict[str, Path], tmp_path: Path
) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    text, columns = (tmp_path / name for name in works)
    said = ok("plot", "--work", works["text"], "--out", text, "--format", form)
    assert said.out.splitlines() == [str(text / f"{name}.{form}") for name in NAMES]
    with matplotlib.rc_context({"font.size": 30, "svg.hashsalt": None}):
        ok("plot", "--work", works["columns"], "--out", columns, "--format", form)
        assert matplotlib.rcParams["font.size"] == 30
    assert len(list(text.iterdir())) == len(NAMES)
    for path in text.iterdir():
        data = path.read_bytes()
        assert data == (columns / path.name).read_bytes()
        assert not [word for word in (b"dc:date", b"matplotlib v", b"Software") if word in data]
        if form == "svg":
            assert ElementTree.fromstring(data).tag.endswith("svg")
        else:
            assert data.startswith(b"\x89PNG\r\n\x1a\n") and data.endswith(b"IEND\xaeB`\x82")


@pytest.mark.slow
def test_imported_text_has_pictures_too(works: dict[str, Path], tmp_path: Path) -> None:
    """Also where nothing has a URI, so that there is no precedence file."""
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    text, work = tmp_path / "text", tmp_path / "work"
    ok("export-text", "--work", works["columns"], "--out", text)
    ok("import-text", "--work", work, "--graph", text / "pr0.txt", "--map", text / "map.txt")
    assert crawlrank("plot", "--work", work).code == 3
    ok("run", "--work", work, "--iterations", 15, "--no-validate", "--quiet")
    ok("plot", "--work", work)
    assert {path.stem for path in (work / "plots").iterdir()} == set(NAMES)
    crawled, imported = (read_pages(folder, tmp_path) for folder in (works["columns"], work))
    assert np.array_equal(crawled.ranks, imported.ranks)
    assert not imported.captured.any() and crawled.host_count == imported.host_count


def pages(count: int, hosts: list[HostRange], bins: int = 5, captured: bool = False) -> Pages:
    places = np.arange(count)
    return Pages(
        scores=1.0 + places[::-1], indegrees=places[::-1] // 2, captured=np.full(count, captured),
        ranks=1 + places, classes=1 + bins * places // count, bins=bins, hosts=hosts,
        host_count=len(hosts) + 1,
    )  # fmt: skip


def saved(figure: Any, path: Path) -> str:
    figure.savefig(path, format="svg")
    return path.read_text()


def test_names_of_hosts_are_plain_text(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    from crawlrank.pipeline.analysis.plots.plots import host_classes

    hostile = ["$x_{", "--><script>", "a\x1b[31m\n", "\u202e中", "x" * 300]
    hosts = [HostRange(at, at + 1, key) for at, key in enumerate(hostile)]
    figure = host_classes(pages(9, hosts))
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[:3] == ["all hosts (6)", "$x_{", "--><script>"]
    assert labels[3:5] == [r"a\x1b[31m\n", r"\u202e\u4e2d"]
    assert len(labels[5]) == 40
    root = ElementTree.fromstring(saved(figure, tmp_path / "p.svg"))
    assert not [node for node in root.iter() if str(node.tag).endswith("script")]


def test_the_bars_of_hosts(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    from crawlrank.pipeline.analysis.plots.plots import host_classes

    figure = host_classes(pages(10, [HostRange(2, 6, "b,a")], bins=5))
    widths = [[bar.get_width() for bar in bars] for bars in figure.axes[0].containers]
    rows = np.array(widths).T.tolist()  # classes of the nodes: 1 1 2 2 3 3 4 4 5 5
    assert rows[0] == [20, 20, 20, 20, 20]
    assert rows[1] == [0, 50, 50, 0, 0]
    assert rows[2] == pytest.approx([100 / 3, 0, 0, 100 / 3, 100 / 3])
    assert [text.get_text() for text in figure.axes[0].texts] == ["10", "4", "6"]


@pytest.mark.parametrize(
    ("count", "bins"),
    [
        (1, 1),
        (2, 125),
        *(
            pytest.param(*sizes, marks=pytest.mark.slow)
            for sizes in ((1, 125), (2, 1), (1000, 1), (1000, 125))
        ),
    ],
)
def test_any_number_of_pages_and_classes(count: int, bins: int, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra crawlrank[plot] is absent")
    from crawlrank.pipeline.analysis.plots.plots import PLOTS

    for name, draw in PLOTS.items():
        assert "<svg" in saved(draw(pages(count, [], bins, captured=True)), tmp_path / name)


def test_without_matplotlib(
    works: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = crawlrank("plot", "--work", works["text"], "--out", tmp_path / "out")
    assert (said.code, "pip install 'matplotlib>=3.8'" in said.err) == (2, True)
    assert not (tmp_path / "out").exists()


def test_refused_folders(works: dict[str, Path], tmp_path: Path) -> None:
    said = crawlrank("plot", "--work", tmp_path / "none")
    assert (said.code, "no manifest.json in it" in said.err) == (3, True)
    inside = works["text"] / "links" / "plots"
    said = crawlrank("plot", "--work", works["text"], "--out", inside)
    assert (said.code, "in the dataset links" in said.err) == (3, True)
    assert not inside.exists()
