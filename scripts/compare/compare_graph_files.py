"""What it costs to read graph files into memory, by crawlrank and by other libraries.

    scripts/compare/compare_graph_files.py [--links 1] [--formats tsv,graphml,...]

A made graph is written in each format. crawlrank reads each file as its Python API does, with
labels, as a graph by target; networkx, igraph and scipy read it by their own functions. Each has to
come to the same number of links. A line for each format: CPU seconds for a million links.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from scipy.io import mmread, mmwrite
from scipy.sparse import coo_array

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from synthetic import Ints, web_like

from crawlrank.pipeline.library.input_graphs import input_graph
from crawlrank.pipeline.precedence.bvgraph_files import write_bvgraph

PIECE = 1 << 16  # nodes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--links", type=float, default=1, help="millions of links")
    parser.add_argument("--formats", default=",".join(WRITERS), help="of the files")
    parser.add_argument("--alone", action="store_true", help="without other libraries")
    options = parser.parse_args()
    nodes, sources, targets = web_like(round(options.links * 1_000_000))
    with tempfile.TemporaryDirectory(prefix="compare-graph-files-") as folder:
        for form in options.formats.split(","):
            path = Path(folder) / f"graph.{form}"
            WRITERS[form](path, nodes, sources, targets)
            readers = {"crawlrank": of_crawlrank, **({} if options.alone else PEERS.get(form, {}))}
            files = [*path.parent.iterdir()]
            size = sum(each.stat().st_size for each in files) / 1e6
            row = {"format": form, "links": len(sources), "MB": size}
            for name, read in readers.items():
                begin = time.process_time()
                links = read(path)
                row[name] = (time.process_time() - begin) / len(sources) * 1e6
                if links != len(sources):
                    sys.exit(f"{name} reads {links} links of {form}, not {len(sources)}")
            print(json.dumps(row), flush=True)
            for each in files:
                each.unlink()


def of_crawlrank(path: Path) -> int:
    return input_graph(path).csr.edges


# ---- how a graph is written ------------------------------------------------------------------


def tsv(path: Path, nodes: int, sources: Ints, targets: Ints) -> None:
    table = pa.table({"source": sources, "target": targets})
    pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(delimiter="\t"))


def parquet(path: Path, nodes: int, sources: Ints, targets: Ints) -> None:
    pq.write_table(pa.table({"source": sources, "target": targets}), path)


def mtx(path: Path, nodes: int, sources: Ints, targets: Ints) -> None:
    values = np.ones(len(sources), np.int8)
    mmwrite(path, coo_array((values, (sources, targets)), shape=(nodes, nodes)), field="pattern")


def graphml(path: Path, nodes: int, sources: Ints, targets: Ints) -> None:
    with path.open("w") as file:
        file.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        file.write('<graph edgedefault="directed">\n')
        file.writelines(f'<node id="n{node}"/>\n' for node in range(nodes))
        for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
            file.write(f'<edge source="n{source}" target="n{target}"/>\n')
        file.write("</graph>\n</graphml>\n")


def bvgraph(path: Path, nodes: int, sources: Ints, targets: Ints) -> None:
    path = path.with_suffix(".graph")
    lengths = np.bincount(sources, minlength=nodes)
    ends = np.concatenate(([0], np.cumsum(lengths)))

    def pieces() -> Iterator[tuple[Ints, Ints]]:
        for begin in range(0, nodes, PIECE):
            end = min(begin + PIECE, nodes)
            yield lengths[begin:end], targets[ends[begin] : ends[end]]

    write_bvgraph(pieces(), path)


WRITERS: dict[str, Callable[[Path, int, Ints, Ints], None]] = {
    "tsv": tsv, "parquet": parquet, "mtx": mtx, "graphml": graphml, "graph": bvgraph
}  # fmt: skip


# ---- how others read it ----------------------------------------------------------------------


def tsv_by_networkx(path: Path) -> int:
    import networkx as nx

    with path.open("rb") as file:
        file.readline()  # the header
        graph = nx.read_edgelist(file, create_using=nx.DiGraph, data=False)
    return int(graph.number_of_edges())


def graphml_by_networkx(path: Path) -> int:
    import networkx as nx

    return int(nx.read_graphml(path).number_of_edges())


def graphml_by_igraph(path: Path) -> int:
    import igraph

    return int(igraph.Graph.Read_GraphML(str(path)).ecount())


def mtx_by_scipy(path: Path) -> int:
    return int(mmread(path).tocsc().nnz)


PEERS: dict[str, dict[str, Callable[[Path], Any]]] = {
    "tsv": {"networkx": tsv_by_networkx},
    "graphml": {"networkx": graphml_by_networkx, "igraph": graphml_by_igraph},
    "mtx": {"scipy": mtx_by_scipy},
}


if __name__ == "__main__":
    main()
