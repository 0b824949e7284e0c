"""GraphML and GEXF. The label of a node is its attribute `url`, `uri`, `name` or `label`, the first
that all nodes have with different values, else its id. Memory: all nodes and edges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.engines.embedded.graph_files.matrices import WEIGHTS
from crawlrank.pipeline.engines.embedded.graph_files.sources import (
    EDGES,
    NODES,
    Batches,
    GraphSource,
    pieces_of,
    unpacked,
)

LABELS = ("url", "uri", "name", "label")
BOTH = ("undirected", "mutual")  # ways of an edge that is one in both directions
WAYS = ("", "directed", *BOTH)
OF_GRAPHML = {"false": "undirected", "true": "directed"}
HYPEREDGES = "hyperedges, left out"
UNLISTED = "nodes that edges name and no element describes"
XmlElement = ElementTree.Element
TAKEN = ("node", "edge", "key", "attribute", "hyperedge")
HOLDERS = ("graph", "nodes", "edges")  # of such elements; there may be graphs in nodes


class XmlGraph(GraphSource):
    """Both formats. form: `graphml` or `gexf`."""

    def __init__(self, path: Path, form: str) -> None:
        super().__init__([path])
        self._form, self._path = form, path
        self._values: dict[str, dict[str, str]] = {}  # id -> attributes of LABELS
        self._edges: list[tuple[str, str]] = []
        self._titles: dict[str, str] = {}  # of attributes, by their ids
        self._undirected = form == "gexf"  # unless the graph says otherwise
        self._read = False

    def nodes(self) -> Batches:
        self._parse()
        ids, labels = list(self._values), [*self._values]
        for name in LABELS:
            named = [values.get(name, "") for values in self._values.values()]
            if all(named) and len({*named}) == len(named):
                labels = named
                break
        return pieces_of(zip(ids, labels, strict=True), NODES)

    def edges(self) -> Batches:
        self._parse()
        return pieces_of(iter(self._edges), EDGES)

    def _parse(self) -> None:
        if self._read:
            return
        self._read = True
        try:
            with unpacked(self._path) as stream:
                self._go_through(stream)
        except ElementTree.ParseError as error:
            where = f"{self._path}, line {error.position[0]}"
            raise BadInput(where, f"no XML ({error})", f"a file of {self._form}",
                           "Write it again.") from error  # fmt: skip
        except (LookupError, ValueError) as error:  # of an encoding that the parser does not know
            where, cure = f"{self._path}, line 1", "Write it in UTF-8."
            raise BadInput(where, f"no XML ({error})", f"a file of {self._form}", cure) from error
        listed = len(self._values)
        for source, target in self._edges:
            for node in (source, target):
                self._values.setdefault(node, {})
        self.counters[UNLISTED] += len(self._values) - listed

    def _go_through(self, stream: BinaryIO) -> None:
        above = [(ElementTree.Element(""), False)]  # each with whether its contents are wanted
        outer: list[bool] = []  # the direction of the graphs around this one
        for event, element in ElementTree.iterparse(stream, events=("start", "end")):
            tag = element.tag.rpartition("}")[2]
            if event == "start":
                is_inside = above[-1][1] and tag not in HOLDERS
                above.append((element, tag in TAKEN or is_inside))
                if tag == "graph":
                    outer.append(self._undirected)
                    self._begin(element)
                continue
            above.pop()
            parent, is_wanted = above[-1]
            if tag in TAKEN and len(above) > 1 and parent.get("class") != "edge":
                self._take(tag, element)
            elif tag == "graph":
                self._undirected = outer.pop()
            if not is_wanted:
                del parent[:]  # so that memory has what was taken, alone

    def _begin(self, graph: XmlElement) -> None:
        way = graph.get("edgedefault") or graph.get("defaultedgetype")
        if way:
            self._undirected = way.lower() in BOTH

    def _take(self, tag: str, element: XmlElement) -> None:
        if tag == "key" and element.get("for") in (None, "node", "all"):
            self._titles[self._of(element, "id")] = element.get("attr.name") or ""
        elif tag == "attribute":
            self._titles.setdefault(self._of(element, "id"), element.get("title") or "")
        elif tag == "node":
            self._take_node(element)
        elif tag == "hyperedge":
            self.counters[HYPEREDGES] += 1
        elif tag == "edge":
            pair = self._of(element, "source"), self._of(element, "target")
            self._edges.append(pair)
            if self._is_both(element):
                self._edges.append(pair[::-1])
            self.counters[WEIGHTS] += "weight" in element.attrib or any(
                each.get("key") == "weight" for each in element
            )

    def _is_both(self, edge: XmlElement) -> bool:
        """Whether an edge is one in both directions."""
        if self._form == "graphml":
            way = OF_GRAPHML.get(edge.get("directed", ""), "")
        elif (way := edge.get("type", "").lower()) not in WAYS:
            what = f"an edge of the type {edge.get('type')!r} (after {len(self._edges)} edges)"
            raise BadInput(str(self._path), what, "directed, undirected or mutual")
        return way in BOTH if way else self._undirected

    def _take_node(self, element: XmlElement) -> None:
        node = self._of(element, "id")
        if node in self._values:
            raise BadInput(str(self._path), f"a second node {node!r}", "one of each id")
        values = {"label": element.get("label") or ""}
        for name, value in _attributes(element):
            if self._titles.get(name) in LABELS:
                values[self._titles[name]] = value
        self._values[node] = values

    def _of(self, element: XmlElement, name: str) -> str:
        value = element.get(name)
        if not value:
            tag = element.tag.rpartition("}")[2]
            what = f"the element {tag} without {name} (after {len(self._values)} nodes)"
            raise BadInput(str(self._path), what, f"{tag} with {name}", "Write it again.")
        return value


def _attributes(node: XmlElement) -> Iterator[tuple[str, str]]:
    for each in node.iter():
        tag = each.tag.rpartition("}")[2]
        if tag == "data":
            yield each.get("key", ""), each.text or ""
        elif tag == "attvalue":
            yield each.get("for") or each.get("id") or "", each.get("value", "")
