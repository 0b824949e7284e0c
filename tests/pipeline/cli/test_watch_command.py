"""`crawlrank lab watch` as users run it: pages that it writes and serves, and what it refuses."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from support.crawls import COMMAND, INLINE, WEB, crawlrank, environment, ok, process, write_warc
from support.graphs import chain, graph_of, write_graph
from support.work_folders import edit_manifest


class _Data(HTMLParser):
    """The JSON of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.within = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.within = ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.within = False

    def handle_data(self, data: str) -> None:
        if self.within:
            self.texts.append(data)


def graphs_in(page: str) -> list[dict[str, Any]]:
    parser = _Data()
    parser.feed(page)
    return list(json.loads("".join(parser.texts))["graphs"])


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    archive = write_warc(folder / "web.warc.gz", WEB)
    ok("run", archive, "--work", folder / "work", "--no-validate", "--quiet")
    return folder / "work"


def test_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = ok("lab", "watch")
    assert said.out == "watch.html: open it in a browser\n"
    page = Path("watch.html").read_text(encoding="utf-8")
    assert [graph["id"] for graph in graphs_in(page)] == ["six", "web", "hubs"]
    assert not re.search(r"(src|href)\s*=\s*[\"']?https?:", page.partition("<script")[0])
    assert ok("lab", "watch", "--output", "new/folder/page.html").out.startswith(
        "new/folder/page.html"
    )
    assert ok("lab", "watch").code == 0  # a page of an earlier time is replaced


@pytest.mark.slow
def test_standard_output_is_the_page_alone(tmp_path: Path) -> None:
    """Also where the locale has no UTF-8: the scripts' digests are those of its bytes."""
    said = subprocess.run(
        [*COMMAND, "lab", "watch", "--output", "-"],
        capture_output=True,
        env=environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"),
        cwd=tmp_path,
        timeout=600,
    )
    ok("lab", "watch", "--output", tmp_path / "page.html")
    assert (said.returncode, said.stderr) == (0, b"")
    assert said.stdout == (tmp_path / "page.html").read_bytes()


def test_a_graph_of_a_file(tmp_path: Path) -> None:
    path = write_graph(chain(5), tmp_path / "<graph>.txt")
    ok("lab", "watch", "--graph", path, "--output", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    own = graphs_in(page)[0]
    assert own["targets"] == [[1], [2], [3], [4], []]
    assert (own["names"], own["outside"]) == (["0", "1", "2", "3", "4"], None)
    assert "&lt;graph&gt;.txt" in page


@pytest.mark.few(1)
@pytest.mark.parametrize("how", [(), INLINE], ids=["embedded", "inline"])
def test_a_neighbourhood(how: tuple[str, ...], tmp_path: Path) -> None:
    archive = write_warc(tmp_path / "web.warc.gz", WEB)
    ok("run", archive, "--work", tmp_path / "work", "--no-validate", "--quiet", *how)
    arguments = "watch", "--work", tmp_path / "work", "--nodes", 3, "--output", "-"
    (own, *_) = graphs_in(ok(*arguments, "--around", "http://a.example/news/1").out)
    assert own["names"][:2] == ["http://a.example/news/1", "http://a.example/news"]
    assert own["targets"][:2] == [[1], [0, 2]]
    assert own["names"][2] == "http://a.example/"
    assert own["outside"] == [4, 1]  # news to news/2 and c, / to about and b; about to /
    assert len(graphs_in(ok(*arguments).out)[0]["names"]) == 3


def test_an_imported_graph_has_its_keys(tmp_path: Path) -> None:
    path = write_graph(graph_of(4, [(0, 1), (1, 2), (3, 1)]), tmp_path / "graph.txt")
    ok("step", "import-text", "--graph", path, "--work", tmp_path / "work")
    ok("run", "--work", tmp_path / "work", "--no-validate", "--quiet")
    said = ok("lab", "watch", "--work", tmp_path / "work", "--output", "-", "--around", "2")
    names = graphs_in(said.out)[0]["names"]
    assert sorted(names) == ["0", "1", "2", "3"]
    assert names[0] == "2"


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (("--graph", "g", "--work", "w"), 2, "give one of them"),
        (("--around", "http://a.example/"), 2, "--around needs WORK"),
        (("--serve", "--output", "x.html"), 2, "exclude each other"),
        (("--nodes", "1", "--work", "w"), 2, "--nodes"),
        (("--nodes", "301", "--work", "w"), 2, "--nodes"),
        (("--port", "65536", "--serve"), 2, "--port"),
        (("--idle", "0m", "--serve"), 2, "--idle"),
        (("--graph", "none.txt"), 3, "none.txt"),
        (("--work", "none"), 3, "none"),
        (("--graph", "empty.txt"), 3, "empty.txt"),
        (("--graph", "bad.txt"), 3, "bad.txt, line 1"),
        (("--graph", "large.txt"), 3, "more than 300 pages"),
        (("--graph", "large.txt", "--output", "large.txt"), 2, "is an input too"),
        (("--output", "."), 3, "Name a file in it"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], code: int, reason: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").touch()
    Path("bad.txt").write_text("a\tb\n")
    write_graph(graph_of(301, []), Path("large.txt"))
    before = sorted(tmp_path.iterdir())
    said = crawlrank("lab", "watch", *arguments)
    assert (said.code, reason in said.err) == (code, True), said
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("page", "code", "reason"),
    [
        ("http://a.example/new", 3, "Did you mean http://a.example/news"),
        ("http://unknown.example/", 3, "no page with the key example,unknown)/"),
        ("a.example/news", 2, "write it with http://"),
        ("", 2, "--around"),
    ],
)
def test_pages_that_the_crawl_does_not_have(page: str, code: int, reason: str, work: Path) -> None:
    said = crawlrank("lab", "watch", "--work", work, "--around", page, "--output", "-")
    assert (said.code, reason in said.err, said.out) == (code, True, ""), said


def test_an_unfinished_run(work: Path, tmp_path: Path) -> None:
    shutil.copytree(work, tmp_path / "work")
    edit_manifest(tmp_path / "work", lambda data: data["steps"].pop("export-precedence"))
    said = crawlrank("lab", "watch", "--work", tmp_path / "work", "--output", "-")
    assert (said.code, "crawlrank run" in said.err) == (3, True), said


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = process("lab", "watch", "--serve", "--port", port, cwd=tmp_path)
    assert (said.code, f"port {port}: taken" in said.err) == (3, True), said


@pytest.mark.slow
def test_served_until_ctrl_c_or_nobody_asks(tmp_path: Path) -> None:
    env = environment(PYTHONUNBUFFERED="1")
    command = [*COMMAND, "lab", "watch", "--serve"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=env, cwd=tmp_path, **pipes) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", url)[1])  # type: ignore[index]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("GET", "/")
        page = connection.getresponse().read().decode()
        os.kill(server.pid, signal.SIGINT)
        _, err = server.communicate(timeout=600)
    assert (server.returncode, "interrupted" in err, "Traceback" in err) == (130, True, False), err
    assert graphs_in(page)[0]["id"] == "six"
    assert not list(tmp_path.iterdir())
    said = process("lab", "watch", "--serve", "--idle", "0.02m")
    assert (said.code, said.err) == (0, "stopped, as nobody asked for the page\n")
