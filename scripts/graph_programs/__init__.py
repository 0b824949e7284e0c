"""Programs of others that read and write graphs, to try crawlrank's files on: the toolkit of Gephi,
and WebGraph of the Laboratory for Web Algorithmics. Maven fetches them; they need a JDK (17 or
later)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fetching import cache, fetch_jars, made_once, program

FOLDER = Path(__file__).parent
LIMIT = 600  # seconds that a program may take


class JavaProgram(NamedTuple):
    """name: of it and of the file with the sums of its jars. artifact: of Maven."""

    name: str
    version: str
    artifact: str

    def run(self, *words: str | Path) -> str:
        """The standard output of one of its classes, or of a file of Java that uses them, which is
        named first. Raises Unavailable; a program that fails raises CalledProcessError."""
        java = [program("java"), "-Djava.awt.headless=true", "-cp", f"{self.home()}/lib/*"]
        done = subprocess.run(
            [*java, *map(str, words)], capture_output=True, text=True, check=True, timeout=LIMIT
        )
        return done.stdout

    def home(self) -> Path:
        """The folder with its jars in lib/; they are fetched when it is not there."""
        home = cache() / f"{self.name}-{self.version}"
        if not home.is_dir():
            sums = FOLDER / f"{self.name}.sha256"
            with made_once(home) as folder:
                fetch_jars(f"{self.name} {self.version}", [self.artifact], sums, folder)
        return home


GEPHI = JavaProgram("gephi-toolkit", "0.10.1", "org.gephi:gephi-toolkit:0.10.1:all")
WEBGRAPH = JavaProgram("webgraph", "3.6.12", "it.unimi.dsi:webgraph:3.6.12")


class OpenedGraph(NamedTuple):
    """A graph as Gephi has it. nodes: by id, the label and the attributes, as text. edges: source,
    target, weight. notes: what Gephi says of the file."""

    is_directed: bool
    nodes: dict[str, dict[str, str]]
    edges: list[tuple[str, str, float]]
    notes: list[str]


def through_gephi(graph: Path, *copies: Path, statistics: bool = False) -> OpenedGraph:
    """Open a graph in Gephi. copies: files that Gephi writes it to, in the format of their ends.
    statistics: its attributes include PageRank, Authority, Hub and centralities."""
    is_directed, nodes, edges, notes = False, {}, [], []
    words = ["--statistics"] * statistics
    for kind, *fields in _rows(GEPHI.run(FOLDER / "ThroughGephi.java", *words, graph, *copies)):
        if kind == "graph":
            is_directed = fields == ["directed"]
        elif kind == "node":
            name, label, *attributes = fields
            nodes[name] = {"label": label, **dict(each.split("=", 1) for each in attributes)}
        elif kind == "edge":
            edges.append((fields[0], fields[1], float(fields[2])))
        else:
            notes.append(" ".join(fields))
    return OpenedGraph(is_directed, nodes, edges, notes)


def _rows(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        yield line.split("\t")


def arcs_of_bvgraph(base: Path, folder: Path) -> list[tuple[int, int]]:
    """The arcs of BASE.graph as WebGraph reads them, in its order. folder: for its text."""
    text = folder / f"{base.name}.arcs"
    WEBGRAPH.run("it.unimi.dsi.webgraph.ArcListASCIIGraph", "-g", "BVGraph", base, text)
    pairs = (line.split("\t") for line in text.read_text().splitlines())
    return [(int(source), int(target)) for source, target in pairs]


def write_bvgraph_of_arcs(arcs: list[tuple[int, int]], base: Path) -> None:
    """Let WebGraph write BASE.graph, .offsets and .properties of arcs in ascending order."""
    text = base.with_suffix(".arcs")
    text.write_text("".join(f"{source}\t{target}\n" for source, target in arcs))
    WEBGRAPH.run("it.unimi.dsi.webgraph.BVGraph", "-g", "ArcListASCIIGraph", text, base)
