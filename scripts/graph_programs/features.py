"""What crawlrank and other programs do with a graph of the web, each tried on the sample crawl:

    PYTHONPATH=scripts python -m graph_programs.features --cc-webgraph JAR [--write]

JAR is what `mvn package` makes of https://github.com/commoncrawl/cc-webgraph; its name ends with
-jar-with-dependencies.jar. A trial has to come to the links of the sample, or to scores that linear
algebra and searches give. A cell stays empty where a program has no function for it, or where its
trial fails, which is printed. What is said of Archives Unleashed is read in its source, not tried.
--write puts the table into docs/graphs.md.
"""

from __future__ import annotations

import argparse
import gzip
import re
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
from matplotlib import pyplot
from scipy.io import mmread, mmwrite

import crawlrank
from graph_programs import OpenedGraph, through_gephi
from graph_programs.sample import (
    ARCHIVE,
    LAW_CLASS,
    WEBGRAPH_CLASS,
    Sample,
    near,
    run,
    wants,
)

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "graphs.md"
PROGRAMS = ("crawlrank", "Archives Unleashed", "cc-webgraph", "networkx", "igraph", "Gephi")
TABLE = re.compile(r"(?<=<!-- features -->\n).*?(?=<!-- end -->)", re.DOTALL)


# reading: files that crawlrank writes, but for its own reading, of files that others write


def read_by_crawlrank(s: Sample, path: Path, *more: Path) -> None:
    work = s.path(f"read-{path.name}")
    run("run", path, *more, "--work", work, "--no-validate")
    scores = [score for score in crawlrank.open(work).scores()["score"].to_pylist() if score]
    near(sorted(scores), sorted(s.pagerank()))


def networkx_file(s: Sample, ending: str) -> Path:
    named = nx.relabel_nodes(s.web, dict(enumerate(s.pages)))
    write = {"tsv": nx.write_edgelist, "graphml": nx.write_graphml, "gexf": nx.write_gexf}[ending]
    write(named, s.path(f"networkx.{ending}"))
    return s.path(f"networkx.{ending}")


def by_url(s: Sample, web: nx.DiGraph) -> None:
    url = nx.get_node_attributes(web, "url")
    s.require((url[source], url[target]) for source, target in web.edges)


def by_url_in_gephi(s: Sample, opened: OpenedGraph) -> None:
    url = {number: node["url"] for number, node in opened.nodes.items()}
    s.require((url[source], url[target]) for source, target, _ in opened.edges)


def gephi_table(s: Sample) -> Path:
    lines = (f'"{s.pages[source]}","{s.pages[target]}"\n' for source, target in sorted(s.arcs))
    s.path("edges.csv").write_text("Source,Target\n" + "".join(lines))
    return s.path("edges.csv")


def cc_files(s: Sample) -> tuple[Path, Path]:
    vertices, edges = s.path("cc-host-vertices.txt.gz"), s.path("cc-host-edges.txt.gz")
    names = "".join(f"{number}\tcom.h{number:03}\n" for number in range(len(s.pages)))
    vertices.write_bytes(gzip.compress(names.encode()))
    pairs = "".join(f"{source}\t{target}\n" for source, target in sorted(s.arcs))
    edges.write_bytes(gzip.compress(pairs.encode()))
    return vertices, edges


def cc_reads_bvgraph(s: Sample, base: Path) -> None:
    s.java(f"{WEBGRAPH_CLASS}.ArcListASCIIGraph", "-g", "BVGraph", base, s.path("read.txt"))
    lines = s.path("read.txt").read_text().splitlines()
    wants({tuple(map(int, line.split("\t"))) for line in lines} == s.arcs)


def extracted(s: Sample) -> None:
    targets = {link.target for link in crawlrank.extract([ARCHIVE]).links()}
    wants(targets >= {s.pages[target] for _, target in s.arcs})


def words_of_links(s: Sample) -> None:
    wants(any(crawlrank.extract([ARCHIVE], anchor_text=True).anchors()))


def matrix_of_networkx(s: Sample) -> Path:
    mmwrite(s.path("networkx.mtx"), nx.to_scipy_sparse_array(s.web, sorted(s.web), dtype=int))
    return s.path("networkx.mtx")


def networkx_reads_matrix(s: Sample) -> None:
    web = nx.from_scipy_sparse_array(mmread(s.exported("mtx")), create_using=nx.DiGraph)
    wants(set(web.edges) == s.arcs)


def igraph_links(s: Sample, web: igraph.Graph, name: str) -> None:
    names = web.vs[name]
    s.require((names[edge.source], names[edge.target]) for edge in web.es)


def edges(s: Sample) -> Path:
    return s.exported("tsv", "--format", "edges")


# writing: what another program reads of it


def written_by_gephi(s: Sample, ending: str) -> None:
    through_gephi(s.exported("gexf"), s.path(f"gephi.{ending}"))
    read = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}[ending]
    by_url(s, read(s.path(f"gephi.{ending}")))


def igraph_writes_graphml(s: Sample) -> None:
    web = igraph.Graph(len(s.pages), sorted(s.arcs), directed=True, vertex_attrs={"url": s.pages})
    web.write_graphml(str(s.path("igraph.graphml")))
    by_url(s, nx.read_graphml(s.path("igraph.graphml")))


def crawlrank_writes_matrix(s: Sample) -> None:
    wants({*zip(*map(np.ndarray.tolist, mmread(s.exported("mtx")).coords), strict=True)} == s.arcs)


def crawlrank_writes_ranks(s: Sample) -> None:
    for method in ("site", "site-harmonic"):
        run("rank", s.work, "--method", method)
    ranks = s.exported("txt", "--format", "cc-ranks", name="ranks")
    wants(ranks.read_text().startswith("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t"))


def cc_writes_ranks(s: Sample) -> None:
    cc_pagerank(s)
    cc_harmonic(s)
    vertices, _ = cc_files(s)
    names = s.path("vertices.txt")
    names.write_bytes(gzip.decompress(vertices.read_bytes()))
    bases = s.path("cc-harmonic.bin"), s.path("cc-pagerank.ranks")
    rows = s.java("org.commoncrawl.webgraph.JoinSortRanks", names, *bases, "-").splitlines()
    wants(len(rows) == len(s.pages))


def crawlrank_folds_hosts(s: Sample) -> None:
    web = nx.read_gexf(s.exported("gexf", "--by", "host", name="hosts"))
    wants(len(web) == 3)


def networkx_folds_hosts(s: Sample) -> None:
    def is_alike(one: int, other: int) -> bool:
        return host(s.pages[one]) == host(s.pages[other])

    wants(len(nx.quotient_graph(s.web, is_alike)) == 3)


def igraph_folds_hosts(s: Sample) -> None:
    web, hosts = in_igraph(s), [host(page) for page in s.pages]
    web.contract_vertices([sorted({*hosts}).index(each) for each in hosts])
    wants(web.vcount() == 3)


def host(page: str) -> str:
    return page.split("/")[2]


def cc_folds_domains(s: Sample) -> None:
    hosts, links = s.path("hosts.txt"), s.path("links.txt")
    hosts.write_text("0\torg.a\n1\torg.a.www\n2\torg.b\n")
    links.write_text("0\t1\n1\t2\n")
    made = s.path("domains.txt"), s.path("domain-links.txt")
    s.java("org.commoncrawl.webgraph.HostToDomainGraph", 3, hosts, made[0], links, made[1])
    wants(made[1].read_text().split() == ["0", "1"])


def crawlrank_writes_precedence(s: Sample) -> None:
    wants(len((s.work / "precedence.txt").read_text().splitlines()) > len(s.pages) // 2)


def networkx_draws(s: Sample) -> None:
    pyplot.switch_backend("svg")
    nx.draw(s.web)
    pyplot.savefig(s.path("networkx.svg"))


def igraph_draws(s: Sample) -> None:
    pyplot.switch_backend("svg")
    igraph.plot(in_igraph(s), target=pyplot.gca())
    pyplot.savefig(s.path("igraph.svg"))


def gephi_draws(s: Sample) -> None:
    through_gephi(s.exported("gexf"), s.path("gephi.svg"))
    wants("<circle" in s.path("gephi.svg").read_text())


# ranking, in the order of the pages


def in_igraph(s: Sample) -> igraph.Graph:
    return igraph.Graph(len(s.pages), sorted(s.arcs), directed=True)


def arrays(s: Sample) -> tuple[tuple[Any, Any], int]:
    sources, targets = np.array(sorted(s.arcs)).T
    return (sources, targets), len(s.pages)


def of_crawlrank(s: Sample, method: str, *words: object) -> Any:
    pair, nodes = arrays(s)
    return getattr(crawlrank, method)(pair, *words, nodes=nodes)


def chosen(s: Sample) -> tuple[list[int], list[float]]:
    """Some pages, and the teleport to them."""
    pages = [0, 3, 5]
    return pages, [(node in pages) / len(pages) for node in range(len(s.pages))]


def cc_pagerank(s: Sample) -> None:
    base = s.path("cc-pagerank")
    s.java(f"{LAW_CLASS}.rank.PageRankParallelGaussSeidel", "--expand", "--mapped", "-t", "1e-12",
           f"{s.bvgraph}-t", base)  # fmt: skip
    near(s.cc_scores("double", Path(f"{base}.ranks")), s.pagerank())


def cc_personalized(s: Sample) -> None:
    base, vector = s.path("cc-personal"), s.path("preference.bin")
    np.array(chosen(s)[1], ">f8").tofile(vector)
    s.java(f"{LAW_CLASS}.rank.PageRankParallelGaussSeidel", "--expand", "--mapped", "-t", "1e-12",
           "--preference-vector", vector, "--strongly", f"{s.bvgraph}-t", base)  # fmt: skip
    near(s.cc_scores("double", Path(f"{base}.ranks")), s.pagerank(chosen(s)[1]))


def cc_harmonic(s: Sample) -> None:
    """By counters, whose standard error is 2 %."""
    path = s.path("cc-harmonic.bin")
    s.java(f"{WEBGRAPH_CLASS}.algo.HyperBall", "--offline", "--log2m", "11",
           "--harmonic-centrality", path, f"{s.bvgraph}-t", s.bvgraph)  # fmt: skip
    near(s.cc_scores("float", path), s.harmonic, 0.1)


def gephi_harmonic(s: Sample) -> None:
    """It divides by the number of pages that a page reaches."""
    means = s.of_gephi("Harmonic Closeness Centrality", reverse=True)
    reached = (len(nx.ancestors(s.web, node)) for node in range(len(s.pages)))
    near(np.multiply(means, [*reached]), s.harmonic)


def in_order(scores: Mapping[int, float]) -> list[float]:
    return [scores[node] for node in sorted(scores)]


def bound(s: Sample) -> None:
    result = of_crawlrank(s, "pagerank")
    error = np.abs(result.probabilities() - s.pagerank()).sum()
    wants(error <= result.probability_error < 1e-6)


Row = Mapping[str, Callable[[Sample], object]]
ROWS: dict[str, Row] = {
    "**reads** WARC and ARC files": {"crawlrank": extracted},
    "the words of links": {"crawlrank": words_of_links},
    "lists of edges": {
        "crawlrank": lambda s: read_by_crawlrank(s, networkx_file(s, "tsv")),
        "cc-webgraph": lambda s: cc_reads_bvgraph(s, s.bvgraph),
        "networkx": lambda s: s.require(nx.read_edgelist(edges(s), create_using=nx.DiGraph).edges),
        "igraph": lambda s: igraph_links(s, igraph.Graph.Read_Ncol(str(edges(s))), "name"),
        "Gephi": lambda s: s.require(edge[:2] for edge in through_gephi(gephi_table(s)).edges),
    },
    "Parquet": {
        "crawlrank": lambda s: read_by_crawlrank(
            s, s.exported("parquet", "--format", "adjacency-parquet")
        ),
    },
    "GraphML": {
        "crawlrank": lambda s: read_by_crawlrank(s, networkx_file(s, "graphml")),
        "networkx": lambda s: by_url(s, nx.read_graphml(s.exported("graphml"))),
        "igraph": lambda s: igraph_links(
            s, igraph.Graph.Read_GraphML(str(s.exported("graphml"))), "url"
        ),
        "Gephi": lambda s: by_url_in_gephi(s, through_gephi(s.exported("graphml"))),
    },
    "GEXF": {
        "crawlrank": lambda s: read_by_crawlrank(s, networkx_file(s, "gexf")),
        "networkx": lambda s: by_url(s, nx.read_gexf(s.exported("gexf"))),
        "igraph": lambda s: igraph_links(s, igraph.Graph.Read(str(s.exported("gexf"))), "url"),
        "Gephi": lambda s: by_url_in_gephi(s, through_gephi(s.exported("gexf"))),
    },
    "Matrix Market": {
        "crawlrank": lambda s: read_by_crawlrank(s, matrix_of_networkx(s)),
        "networkx": networkx_reads_matrix,
        "Gephi": lambda s: wants(len(through_gephi(s.exported("mtx")).edges) == len(s.arcs)),
    },
    "BVGraph": {
        "crawlrank": lambda s: read_by_crawlrank(s, Path(f"{s.bvgraph}.graph")),
        "cc-webgraph": lambda s: cc_reads_bvgraph(s, s.exported("graph").with_suffix("")),
    },
    "vertices and edges of Common Crawl": {
        "crawlrank": lambda s: read_by_crawlrank(s, *cc_files(s)),
        "cc-webgraph": cc_folds_domains,
    },
    "**writes** GraphML": {
        "crawlrank": lambda s: by_url(s, nx.read_graphml(s.exported("graphml"))),
        "networkx": lambda s: read_by_crawlrank(s, networkx_file(s, "graphml")),
        "igraph": igraph_writes_graphml,
        "Gephi": lambda s: written_by_gephi(s, "graphml"),
    },
    "writes GEXF": {
        "crawlrank": lambda s: by_url(s, nx.read_gexf(s.exported("gexf"))),
        "networkx": lambda s: read_by_crawlrank(s, networkx_file(s, "gexf")),
        "Gephi": lambda s: written_by_gephi(s, "gexf"),
    },
    "writes Matrix Market": {
        "crawlrank": crawlrank_writes_matrix,
        "networkx": lambda s: read_by_crawlrank(s, matrix_of_networkx(s)),
    },
    "writes BVGraph": {
        "crawlrank": lambda s: cc_reads_bvgraph(s, s.exported("graph").with_suffix("")),
        "cc-webgraph": lambda s: read_by_crawlrank(s, Path(f"{s.bvgraph}.graph")),
    },
    "Common Crawl's table of ranks": {
        "crawlrank": crawlrank_writes_ranks,
        "cc-webgraph": cc_writes_ranks,
    },
    "the graph of hosts or domains": {
        "crawlrank": crawlrank_folds_hosts,
        "cc-webgraph": cc_folds_domains,
        "networkx": networkx_folds_hosts,
        "igraph": igraph_folds_hosts,
    },
    "a precedence file for Heritrix": {"crawlrank": crawlrank_writes_precedence},
    "a picture of the graph": {
        "networkx": networkx_draws,
        "igraph": igraph_draws,
        "Gephi": gephi_draws,
    },
    "**ranks** by PageRank": {
        "crawlrank": lambda s: near(of_crawlrank(s, "pagerank").scores, s.pagerank()),
        "cc-webgraph": cc_pagerank,
        "networkx": lambda s: near(in_order(nx.pagerank(s.web, tol=1e-12)), s.pagerank()),
        "igraph": lambda s: near(in_igraph(s).pagerank(), s.pagerank()),
        "Gephi": lambda s: near(s.of_gephi("PageRank"), s.pagerank(), 0.01),
    },
    "with a proved bound of the error": {"crawlrank": bound},
    "from pages that you choose": {
        "crawlrank": lambda s: near(
            of_crawlrank(s, "personalized", np.array(chosen(s)[1])).scores, s.pagerank(chosen(s)[1])
        ),
        "cc-webgraph": cc_personalized,
        "networkx": lambda s: near(
            in_order(nx.pagerank(s.web, personalization=dict.fromkeys(chosen(s)[0], 1), tol=1e-12)),
            s.pagerank(chosen(s)[1]),
        ),
        "igraph": lambda s: near(
            in_igraph(s).personalized_pagerank(reset_vertices=chosen(s)[0]),
            s.pagerank(chosen(s)[1]),
        ),
    },
    "by HITS": {
        "crawlrank": lambda s: near(of_crawlrank(s, "hits").scores, s.authorities),
        "networkx": lambda s: near(in_order(nx.hits(s.web, tol=1e-12)[1]), s.authorities),
        "igraph": lambda s: near(in_igraph(s).authority_score(), s.authorities),
        "Gephi": lambda s: near(s.of_gephi("Authority"), s.authorities, 0.01),
    },
    "by harmonic centrality": {
        "crawlrank": lambda s: near(of_crawlrank(s, "harmonic").scores, s.harmonic),
        "cc-webgraph": cc_harmonic,
        "networkx": lambda s: near(in_order(nx.harmonic_centrality(s.web)), s.harmonic),
        "igraph": lambda s: near(
            in_igraph(s).harmonic_centrality(mode="in", normalized=False), s.harmonic
        ),
        "Gephi": gephi_harmonic,
    },
    "by OPIC": {"crawlrank": lambda s: near(of_crawlrank(s, "opic").scores, s.cash)},
}
UNLEASHED = (
    "**reads** WARC and ARC files", "the words of links", "**writes** GraphML", "writes GEXF",
    "the graph of hosts or domains",
)  # fmt: skip


def outcome(sample: Sample, feature: str, name: str) -> bool:
    """Whether a trial comes to what is expected."""
    if name == "Archives Unleashed":
        return feature in UNLEASHED
    trial = ROWS[feature].get(name)
    if trial is None:
        return False
    try:
        trial(sample)
    except Exception as error:  # noqa: BLE001 (what any of the programs raises)
        print(f"{name}: {feature}: {error}"[:200])
        return False
    return True


def table(does: Callable[[str, str], bool]) -> str:
    """does: whether a program does something."""
    rows = [["", *PROGRAMS], ["---"] * (len(PROGRAMS) + 1)]
    for feature in ROWS:
        cells = ("yes" if does(feature, name) else "" for name in PROGRAMS)
        rows.append([feature, *cells])
    return "".join(f"| {' | '.join(row)} |\n".replace("  ", " ") for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cc-webgraph", type=Path, required=True, metavar="JAR")
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = table(partial(outcome, Sample(Path(folder), options.cc_webgraph)))
    print(made, end="")
    if options.write:
        PAGE.write_text(TABLE.sub(lambda _: made, PAGE.read_text()))


if __name__ == "__main__":
    main()
