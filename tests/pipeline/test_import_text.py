"""`crawlrank step import-text`: somebody's text files to a work folder, and a run from there."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from support import plain
from support.crawls import INLINE, MORE_WEB, WEB, Said, crawlrank, ok
from support.inputs.samples import made_links, oracle
from support.paths import DATA, LOOPBACK
from support.runs import finished, shared_warc
from support.work_folders import manifest_of, without_runs

from crawlrank.jobs.kernel.formats.lines import parse_graph_line
from crawlrank.pipeline.engines.embedded.text_files.import_graph import PIECE, read_graph_lines
from crawlrank.pipeline.engines.embedded.text_files.import_text import (
    TextReader,
    Texts,
    import_text,
)

RECIPE = ("--iterations", 3, "--no-validate")
RUN = ("--iterations", 3, "--no-validate", "--quiet", "--jobs", 1)
ROUNDING = 2e-12  # 18,000 terms of dummy's sum, as doubles in any order
ORACLE = DATA / "pagerank-oracle"


def recipe(work: Path, *archives: Path, nodes: str = "linked", rounds: int = 3) -> dict[str, bytes]:
    """The recipe's files after a run, by their names: on archives, or on what is imported."""
    options = ("--iterations", rounds, "--no-validate", "--nodes", nodes)
    out = work.with_name(f"{work.name}-text")
    if archives:
        work = finished(archives, *options)
    else:
        ok("run", "--work", work, "--quiet", "--jobs", 1, *options)
    ok("export", "--format", "text", "--work", work, "--out", out)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def write(path: Path, *lines: bytes | str) -> Path:
    data = b"".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def same(found: dict[str, bytes], expected: dict[str, bytes]) -> None:
    """Each file, so that a difference is named."""
    assert found.keys() <= expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []


def keyed(files: dict[str, bytes]) -> dict[str, bytes]:
    """The datasets that need no URIs, with keys where scores have URIs."""
    keys = dict(line.split(b" ") for line in files["map.txt"].splitlines())
    scores = dict(line.split(b"\t") for line in files["pr.txt"].splitlines())
    best = sorted(scores, key=lambda node: (-float(f"{float(scores[node]):.9g}"), keys[node]))
    names = (
        "canonicalized_links.txt",
        "input_links.txt",
        "map.txt",
        "pr0.txt",
        "pr3.txt",
        "pr.txt",
    )
    rows = b"".join(b"%s\t%s\n" % (scores[node], keys[node]) for node in best)
    return {"score_key.txt": rows, **{name: files[name] for name in names}}


# ---- round trips


@pytest.fixture
def web() -> Path:
    return shared_warc("web.warc.gz", WEB)


@pytest.fixture
def more_web() -> Path:
    return shared_warc("more.warc.gz", MORE_WEB)


@pytest.mark.slow
@pytest.mark.parametrize("nodes", ["linked", "all"])
def test_links_and_captures_there_and_back(
    nodes: str, web: Path, more_web: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again"
    expected = recipe(tmp_path / "work", web, more_web, LOOPBACK, nodes=nodes)
    text = tmp_path / "work-text"
    links, captures = text / "links.txt", text / "captures.txt"
    ok("step", "import-text", "--links", links, "--captures", captures, "--work", again)
    found = recipe(again, nodes=nodes)
    assert found.keys() == expected.keys()
    same(found, expected)
    run = finished([web, more_web, LOOPBACK], *RECIPE, "--nodes", nodes)
    uris = "uris/uris.parquet"
    assert (again / uris).read_bytes() == (run / uris).read_bytes()


@pytest.mark.slow
def test_files_of_every_shape_and_many_parts(web: Path, more_web: Path, tmp_path: Path) -> None:
    """gzip and plain, a folder, a glob, Parquet; and parts shorter than any of them."""
    expected = recipe(tmp_path / "work", web, more_web)
    lines = expected["links.txt"].splitlines(keepends=True)
    third = len(lines) // 3
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder" / "part-0.gz", *lines[:third])
    write(tmp_path / "folder" / "_SUCCESS", "not a line\n")
    write(tmp_path / "glob-0.txt", *lines[third : 2 * third])
    write(tmp_path / "glob-1.txt", *lines[2 * third :])
    links = [str(tmp_path / "folder"), str(tmp_path / "glob-*.txt")]
    ok("step", "extract-links", more_web, web, "--output", tmp_path / "links", "--captures",
       tmp_path / "captures.parquet", "--quiet", *INLINE)  # fmt: skip
    texts = Texts(links=links, captures=[str(tmp_path / "captures.parquet")])
    again, reader = tmp_path / "again", TextReader(part=2, batch=3)
    import_text(again, texts, budget=1 << 30, threads=1, reader=reader)
    assert len(list((again / "links").iterdir())) == -(-len(lines) // 2) > 3
    same(recipe(again), expected)


@pytest.mark.few(1)
@pytest.mark.parametrize("nodes", ["linked", "all"])
@pytest.mark.parametrize("given", ["canonical", "input"])
def test_links_of_keys(given: str, nodes: str, web: Path, more_web: Path, tmp_path: Path) -> None:
    """With `--nodes all`, pages without any link are known from the map alone."""
    expected = recipe(tmp_path / "work", web, more_web, nodes=nodes)
    text = tmp_path / "work-text"
    if given == "canonical":
        inputs = ["--canonical-links", text / "canonicalized_links.txt"]
    else:
        inputs = ["--input-links", text / "input_links.txt", "--map", text / "map.txt"]
    ok("step", "import-text", *inputs, "--work", tmp_path / "again")
    found = recipe(tmp_path / "again", nodes=nodes)
    assert found.keys() == keyed(expected).keys()
    same(found, keyed(expected))


def test_a_page_of_the_map_that_no_link_has(tmp_path: Path) -> None:
    links = write(tmp_path / "input.txt", "1 b)/ a)/\n")
    maps = write(tmp_path / "map.txt", "0 a)/\n1 b)/\n2 c)/\n")
    ok("step", "import-text", "--input-links", links, "--map", maps, "--work", tmp_path / "work")
    found = recipe(tmp_path / "work", nodes="all")
    assert found["map.txt"] == maps.read_bytes()
    assert found["canonicalized_links.txt"] == b"b)/ a)/\n"
    assert found["pr3.txt"].splitlines()[2].split(b"\t")[::2] == [b"2", b"O:dummy"]


def test_a_graph_and_its_map(web: Path, more_web: Path, tmp_path: Path) -> None:
    expected = keyed(recipe(tmp_path / "work", web, more_web))
    text = tmp_path / "work-text"
    inputs = ("--graph", text / "pr0.txt", "--map", text / "map.txt")
    ok("step", "import-text", *inputs, "--work", tmp_path / "again")
    found = recipe(tmp_path / "again")
    assert found.keys() == {"map.txt", "pr0.txt", "pr3.txt", "pr.txt", "score_key.txt"}
    same(found, expected)


# ---- what Heritrix's own jobs made


def oracle_scores(name: str) -> dict[bytes, float]:
    return {row.id: row.score for row in map(parse_graph_line, oracle(name))}


@pytest.mark.slow
def test_the_published_graph_gets_its_scores(tmp_path: Path) -> None:
    ok("step", "import-text", "--graph", ORACLE / "pr0.txt.gz", "--work", tmp_path / "work")
    found = recipe(tmp_path / "work", rounds=10)
    scores = {row.id: row.score for row in map(parse_graph_line, found["pr10.txt"].splitlines())}
    expected = oracle_scores("pr10.txt.gz")
    assert scores.keys() == expected.keys()
    assert scores == pytest.approx(expected, rel=ROUNDING)
    assert set(map(parse_line, found["pr0.txt"].splitlines())) == set(
        map(parse_line, oracle("pr0.txt.gz"))
    )
    best = dict(line.split(b"\t")[::-1] for line in found["score_key.txt"].splitlines())
    assert {node: float(score) for node, score in best.items()} == pytest.approx(
        {node: score for node, score in expected.items() if node != b"dummy"}, rel=ROUNDING
    )


def test_a_graph_in_pieces(tmp_path: Path) -> None:
    """They make the same files."""
    path, (one, other) = str(ORACLE / "pr0.txt.gz"), (tmp_path / "one", tmp_path / "other")
    for folder, piece in ((one, PIECE), (other, 100)):
        folder.mkdir()
        read_graph_lines(path, [], folder, budget=1 << 30, threads=1, piece=piece)
    made = [path.relative_to(one) for path in one.rglob("*") if path.is_file()]
    assert len(made) > 4
    assert [name for name in made if (one / name).read_bytes() != (other / name).read_bytes()] == []


def parse_line(line: bytes) -> tuple[bytes, frozenset[bytes]]:
    row = parse_graph_line(line)
    return row.id, frozenset(row.targets)


@pytest.mark.slow
def test_the_published_input_links_give_the_published_graph(tmp_path: Path) -> None:
    ok(
        "step",
        "import-text",
        "--input-links",
        ORACLE / "input_links.txt.gz",
        "--work",
        tmp_path / "work",
    )
    found = recipe(tmp_path / "work", rounds=10)
    assert set(map(parse_line, found["pr0.txt"].splitlines())) == set(
        map(parse_line, oracle("pr0.txt.gz"))
    )


@pytest.mark.slow
def test_a_validated_run_of_a_graph_and_a_second_one(tmp_path: Path) -> None:
    work = tmp_path / "work"
    ok("step", "import-text", "--graph", ORACLE / "pr0.txt.gz", "--work", work)
    said = ok("run", "--work", work, "--jobs", 2)
    assert "OPIC gives the same class" in said.out
    assert "there is no precedence file" in said.out.replace("\n", " ")
    assert not (work / "precedence.txt").exists()
    before = without_runs(work)
    assert before["steps"].keys() == {"gen-graph", "page-rank", "join-scores", "validate-opic"}
    ok("run", "--work", work, "--jobs", 2)
    assert without_runs(work) == before
    shown = ok("status", "--work", work).out
    assert "imported text files (1)" in shown
    assert "extract-links" not in shown and "export-precedence" not in shown
    assert "to do" not in shown


# ---- lines


def test_links_of_somebody_else(tmp_path: Path) -> None:
    """Hostile URIs, hops, doubles: ids and graph are those of the recipe in plain Python."""
    links = [line for line in made_links() if _is_text(line)]
    source = write(tmp_path / "links.txt", *(line + b"\n" for line in links))
    ok("step", "import-text", "--links", source, "--work", tmp_path / "work")
    found = recipe(tmp_path / "work")
    canonical = plain.canonical_links(links)
    ids = plain.ids(canonical)
    assert found["canonicalized_links.txt"].splitlines() == canonical
    assert found["map.txt"].splitlines() == [b"%d %s" % (ids[key], key) for key in sorted(ids)]
    assert found["pr0.txt"].splitlines() == plain.graph_lines(plain.graph(canonical, ids))


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.few(1)
@pytest.mark.parametrize("separator", [" ", "\t"])
def test_edges_with_the_source_first(separator: str, tmp_path: Path) -> None:
    edges = [("http://a/", "http://b/"), ("http://a/", "http://c/"), ("http://c/", "http://b/")]
    here = write(tmp_path / "edges.txt", *(f"{s}{separator}{t}\n" for s, t in edges))
    there = write(tmp_path / "links.txt", *(f"{t} {s} L\n" for s, t in edges))
    ok(
        "step",
        "import-text",
        "--links",
        here,
        "--order",
        "source-target",
        "--work",
        tmp_path / "one",
    )
    ok("step", "import-text", "--links", there, "--work", tmp_path / "other")
    found = recipe(tmp_path / "one")
    assert found == recipe(tmp_path / "other")
    assert found["map.txt"] == b"0 b)/\n1 c)/\n"
    assert found["pr0.txt"].splitlines()[1] == b"1\t1.0\tO:0"


@pytest.mark.few(1)
@pytest.mark.parametrize("option", ["--canonical-links", "--input-links"])
def test_numbered_edges_with_the_source_first(option: str, tmp_path: Path) -> None:
    edges, ids = [(0, 1), (0, 2), (1, 2)], ["", "7\t"][option == "--input-links"]
    here = write(tmp_path / "edges.txt", *(f"{ids}{s}\t{t}\n" for s, t in edges))
    there = write(tmp_path / "links.txt", *(f"{ids}{t}\t{s}\n" for s, t in edges))
    ok("step", "import-text", option, here, "--order", "source-target", "--work", tmp_path / "one")
    ok("step", "import-text", option, there, "--work", tmp_path / "other")
    found = recipe(tmp_path / "one")
    assert found == recipe(tmp_path / "other")
    assert found["pr0.txt"].splitlines()[:2] == [b"0\t1.0\tO:1", b"1\t1.0\tO:dummy"]


def test_numbers_as_uris_lead_to_the_order(tmp_path: Path) -> None:
    edges = write(tmp_path / "edges.txt", "0 1\n")
    said = crawlrank("step", "import-text", "--links", edges, "--work", tmp_path / "work")
    assert said.code == 3
    assert "--canonical-links`, with `--order source-target`" in said.err


BEGINNINGS = {
    "# FromNodeId\tToNodeId\n": "a comment, as SNAP",
    "# Nodes: 3 Edges: 3\n": "a comment, as SNAP",
    "%%MatrixMarket matrix coordinate\n": "a comment, as SNAP",
    "Source Target\n": "the names of the columns",
    "0 1 0.5\n": "the weight 0.5 in the third column",
    "0\t1\t1e-3\n": "the weight 1e-3 in the third column",
}


@pytest.mark.parametrize("option", ["--links", "--canonical-links", "--input-links", "--graph"])
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_edge_lists_of_other_programs_are_named(
    beginning: str, option: str, tmp_path: Path
) -> None:
    edges = write(tmp_path / "edges.txt", beginning, "0 1\n")
    said = crawlrank("step", "import-text", option, edges, "--work", tmp_path / "work")
    assert said.code == 3
    assert f"line 1: {BEGINNINGS[beginning]}" in said.err.replace("a line with ", "")
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        edges.write_bytes("0 1\r\n0 2\r\n".encode(encoding))
        said = crawlrank("step", "import-text", option, edges, "--work", tmp_path / "work")
        assert said.code == 3
        assert "line 1: text in UTF-16, as PowerShell writes it" in said.err


def test_what_is_not_utf8_is_counted(tmp_path: Path) -> None:
    good = "http://a/ http://b/ L\n"
    source = write(tmp_path / "links.txt", good, b"http://a/\xff http://b/\n", good)
    captures = write(tmp_path / "captures.txt", b"http://a/\xff\t-\t-\t-\t-\tresponse\tx.warc\t0\n")
    work = tmp_path / "work"
    said = ok("step", "import-text", "--links", source, "--captures", captures, "--work", work)
    assert "dropped.not-utf-8 2" in " ".join(said.err.split())
    assert f"left out: {source}, line 2\n" in said.err
    assert f"left out: {captures}, line 1\n" in said.err
    told = manifest_of(work)["steps"]["extract-links"]
    assert told["counters"] == {"dropped.not-utf-8": 2}
    assert told["rows"] == {"links": 2, "captures": 0}


def test_ids_with_gaps_in_any_order(tmp_path: Path) -> None:
    """They are told as keys; scores are those of the recipe in exact fractions."""
    graph = write(
        tmp_path / "pr0.txt",
        "70\t1.0\tO:1000, 5\n", "dummy 1.0 O:dummy\n", "1000\t1.0\tO:dummy\n", "5\t0.5\tO:70\n",
    )  # fmt: skip
    said = ok("step", "import-text", "--graph", graph, "--work", tmp_path / "work")
    assert "scores not taken over 1" in " ".join(said.err.split())
    found = recipe(tmp_path / "work")
    assert found["map.txt"] == b"0 5\n1 70\n2 1000\n"
    expected = plain.scores_after(3, {5: [70], 70: [5, 1000], 1000: []})
    rows = [line.split(b"\t") for line in found["score_key.txt"].splitlines()]
    assert {int(key): float(score) for score, key in rows} == expected
    assert [line.split(b"\t")[2] for line in found["pr0.txt"].splitlines()] == [
        b"O:1", b"O:0,2", b"O:dummy", b"O:dummy",
    ]  # fmt: skip


LINK, DUMMY = "http://a.example/ http://b.example/\n", "dummy\t1.0\tO:dummy\n"
CAPTURE = "http://a/\t20200101000000\t200\t-\t-\tresponse\tx.warc\t0\n"
BAD: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    "no second column": (("--links",), LINK, "http://a.example/", "'http://a.example/'"),
    "an empty line": (("--links",), LINK, "", "an empty line"),
    "two blanks": (("--links",), LINK, "http://a/  http://b/", "one blank"),
    "an escape sequence": (("--links",), LINK, "http://a/\x1b[31m http://b/", "control character"),
    "a C1 character": (("--links",), LINK, "http://a/\x9b http://b/", "control character"),
    "a hop": (("--links",), LINK, "http://a/ http://b/ Z", "hop 'Z'"),
    "source first": (
        ("--order", "source-target", "--links"), LINK, "http://a/", "`source target hop`",
    ),
    "columns": (("--links", LINK, "--captures"), CAPTURE, "http://a/\t-", "10 columns"),
    "a status": (
        ("--links", LINK, "--captures"), CAPTURE, CAPTURE.strip().replace("200\t-", "OK\t-"),
        "status 'OK'",
    ),
    "an offset": (("--links", LINK, "--captures"), CAPTURE, CAPTURE.strip() + "x", "offset '0x'"),
    "no URI": (
        ("--links", LINK, "--captures"), CAPTURE, CAPTURE.strip().replace("http://a/", "-"),
        "no URI",
    ),
    "a key": (("--canonical-links",), "a)/ b)/\n", "a)/é b)/", "printable ASCII"),
    "an id": (("--input-links",), "0 a)/ b)/\n", "x a)/ b)/", "id 'x'"),
    "a map's id": (("--input-links", "0 a)/ b)/\n", "--map"), "0 a)/\n", "-1 b)/", "id '-1'"),
    "a self-loop": (("--graph",), DUMMY, "1\t1.0\tO:1", "target of itself"),
    "a score": (("--graph",), DUMMY, "1\tnan\tO:dummy", "score"),
    "a second dummy": (("--graph",), DUMMY, DUMMY.strip(), "a second dummy line"),
    "an unknown target": (("--graph",), DUMMY, "1\t1.0\tO:2", "target 2 of id 1"),
    "an id twice": (
        ("--graph",), "0\t1.0\tO:dummy\n", f"{DUMMY}0\t1.0\tO:dummy", "id 0 a second time",
    ),
}  # fmt: skip


def bad_import(row: str, packed: str, tmp_path: Path) -> tuple[Path, Said]:
    args, good, bad, _ = BAD[row]
    source = write(tmp_path / f"in.txt{packed}", good, bad, "\n")
    given: list[object] = list(args)
    for number, arg in enumerate(args):
        if arg.endswith("\n"):
            given[number] = write(tmp_path / f"other-{number}.txt", arg)
    return source, crawlrank("step", "import-text", *given, source, "--work", tmp_path / "work")


@pytest.mark.parametrize("row", BAD)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_bad_line_is_named(row: str, packed: str, tmp_path: Path) -> None:
    source, said = bad_import(row, packed, tmp_path)
    line = 3 if row == "an id twice" else 2
    assert said.code == 3
    assert f"{source}, line {line}: " in said.err
    assert BAD[row][3] in said.err
    assert "expected" in said.err
    left = {path.name for path in (tmp_path / "work").iterdir()}
    assert left == {".lock", "manifest.json"}


@pytest.mark.parametrize(
    "graph, maps, said",
    [
        ("0\t1.0\tO:dummy\n", "", "no dummy line"),
        (DUMMY, "", "no node, only dummy"),
        ("", "", "no dummy line"),
        (f"0\t1.0\tO:dummy\n{DUMMY}", "1 a)/\n", "other ids than the graph"),
        (f"0\t1.0\tO:dummy\n{DUMMY}", "0 a)/\n0 b)/\n", "other ids than the graph"),
        (f"0\t1.0\tO:1\n1\t1.0\tO:dummy\n{DUMMY}", "0 a)/\n", "other ids than the graph"),
        (f"0\t1.0\tO:1\n1\t1.0\tO:dummy\n{DUMMY}", "0 a)/\n1 a)/\n", "two ids for the key a)/"),
    ],
)
def test_what_is_no_graph(graph: str, maps: str, said: str, tmp_path: Path) -> None:
    inputs: list[object] = ["--graph", write(tmp_path / "pr0.txt", graph)]
    if maps:
        inputs += ["--map", write(tmp_path / "map.txt", maps)]
    found = crawlrank("step", "import-text", *inputs, "--work", tmp_path / "work")
    assert found.code == 3
    assert said in found.err


# ---- work folders


def test_a_failed_import_is_done_again(tmp_path: Path) -> None:
    work = tmp_path / "work"
    bad_import("a hop", "", tmp_path)
    said = crawlrank("run", "--work", work, *RUN)
    assert said.code == 3
    assert "import-text was interrupted" in said.err
    ok("step", "import-text", "--links", write(tmp_path / "links.txt", LINK), "--work", work)
    assert recipe(work)["links.txt"].decode() == LINK


def test_what_does_not_go_with_an_import(web: Path, tmp_path: Path) -> None:
    work, links = tmp_path / "work", write(tmp_path / "links.txt", LINK)
    ok("step", "import-text", "--links", links, "--work", work)
    for force in ([], ["--force"]):
        for more, found in (([web], "import-text"), (INLINE, "--runner embedded")):
            said = crawlrank("run", *more, "--work", work, *RUN, *force)
            assert said.code == 3
            assert found in said.err
    ok("run", "--work", work, *RUN)
    said = crawlrank("run", "--work", work, "--iterations", 4, "--quiet")
    assert said.code == 3
    assert "was made with --iterations 3" in said.err
    said = crawlrank("step", "import-text", "--links", links, "--work", work)
    assert said.code == 3
    assert "a work folder already" in said.err


def test_an_import_into_a_folder_of_archives(web: Path, tmp_path: Path) -> None:
    work, links = tmp_path / "work", write(tmp_path / "links.txt", LINK)
    ok("run", web, "--work", work, *RUN)
    before = manifest_of(work)
    assert crawlrank("step", "import-text", "--links", links, "--work", work).code == 3
    assert manifest_of(work) == before
    said = crawlrank("run", "--work", work, *RUN)
    assert said.code == 2
    assert "ARCHIVES" in said.err


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--captures", "x"),
        ("--links", "x", "--graph", "y"),
        ("--links", "x", "--map", "y"),
        ("--graph", "x", "--captures", "y"),
        ("--canonical-links", "x", "--map", "y"),
        ("--graph", "x", "--order", "source-target"),
    ],
)
def test_wrong_usage(args: tuple[str, ...], tmp_path: Path) -> None:
    said = crawlrank("step", "import-text", *args, "--work", tmp_path / "work")
    assert said.code == 2
    assert not (tmp_path / "work").exists()


def test_no_links_at_all(tmp_path: Path) -> None:
    work = tmp_path / "work"
    said = crawlrank("step", "import-text", "--links", tmp_path / "missing", "--work", work)
    assert said.code == 3
    assert "no such file" in said.err
    assert not work.exists()
    ok("step", "import-text", "--links", write(tmp_path / "empty.txt"), "--work", work)
    said = crawlrank("run", "--work", work, *RUN)
    assert said.code == 3
    assert "no links at all" in said.err
