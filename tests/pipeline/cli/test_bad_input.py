"""The bad-input table: each row through the real command, with exit code and message.

`crawls.checked` holds every one of them to: no traceback, no noise of libraries, nothing that
steers a terminal.
"""

from __future__ import annotations

import gzip
import os
import re
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from support.crawls import (
    COMMAND,
    INLINE,
    WEB,
    Said,
    checked,
    crawlrank,
    datasets,
    html,
    ok,
    process,
    response,
    write_records,
    write_warc,
)
from support.faults.disks import tiny_disk
from support.faults.stopping import interrupt, stopped
from support.paths import DAMAGED, LOOPBACK
from support.runs import copy_of, finished, shared_warc

from crawlrank.pipeline.steps import STEPS

# ---- archives

BAD_ARCHIVES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "missing": (lambda path: None, "No such file", "expected a WARC or ARC file"),
    "folder": (lambda path: path.mkdir(), "no file", "*.warc"),
    "empty": (lambda path: path.touch(), "an empty file", "Copy it again"),
    "text": (lambda path: path.write_text("hello\n"), "'hello\\n'", "leave it out"),
    "escapes": (
        lambda path: path.write_bytes(b"\x1b[31mred\x9b\n"),
        "no gzip, although",
        "expected",
    ),
    "gzip of text": (
        lambda path: path.write_bytes(gzip.compress(b"hi\n")),
        "a gzip file",
        "Leave it out",
    ),
    "zeros": (lambda path: path.write_bytes(bytes(5000)), "no gzip, although", "expected"),
}


@pytest.mark.parametrize("command", ["run", "extract-links"])
@pytest.mark.parametrize("row", BAD_ARCHIVES)
def test_no_archive(row: str, command: str, tmp_path: Path) -> None:
    make, found, cure = BAD_ARCHIVES[row]
    path = tmp_path / "bad.warc.gz"
    make(path)
    if command == "run":
        said = crawlrank("run", path, "--work", tmp_path / "work", "--quiet", *INLINE)
    else:
        outputs = ("--output", tmp_path / "l.txt", "--captures", tmp_path / "c.txt")
        said = crawlrank("step", "extract-links", path, *outputs, *INLINE)
        assert not list(tmp_path.glob("*.txt"))
    assert said.code == 3
    assert str(path) in said.err
    assert found in said.err
    assert cure in said.err


@pytest.mark.slow
def test_a_truncated_archive_is_damage_and_no_error(web: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.warc.gz"
    cut.write_bytes(web.read_bytes()[:-100])
    said = ok("run", cut, "--work", tmp_path / "work", *INLINE)
    assert re.search(r"^\d damaged places? passed over", said.out, re.M)
    rows = (tmp_path / "work" / "captures").iterdir()
    assert sum(len(part.read_bytes().splitlines()) for part in rows) >= len(WEB) - 1
    strict = crawlrank("run", cut, "--work", tmp_path / "work", "--strict", *INLINE)
    assert strict.code == 3
    assert str(cut) in strict.err
    assert "offset" in strict.err


@pytest.mark.slow
def test_no_page_links_anywhere(tmp_path: Path) -> None:
    path = write_warc(tmp_path / "one.warc", {"http://a.example/": []})
    said = crawlrank("run", path, "--work", tmp_path / "work", "--quiet", *INLINE)
    assert said.code == 3
    assert "no links at all" in said.err
    assert "--nodes all" in said.err
    ok("run", path, "--work", tmp_path / "all", "--nodes", "all", "--iterations", 1, *INLINE)
    precedence = (tmp_path / "all" / "precedence.txt").read_bytes()
    assert precedence == b"http://a.example/ 1\n"


ODD_WEBS = {
    "a page with a link to itself alone": ({"http://a.example/": ["/"]}, 1),
    "self-links only": ({"http://a.example/": ["/"], "http://b.example/": ["/"]}, 2),
    "all dangling": ({"http://a.example/": ["/x", "/y"]}, 2),  # the source gets no id
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ODD_WEBS)
def test_odd_webs_are_ranked(name: str, tmp_path: Path) -> None:
    pages, nodes = ODD_WEBS[name]
    path = write_warc(tmp_path / "odd.warc", pages)
    ok("run", path, "--work", tmp_path / "work", *INLINE)
    found = datasets(tmp_path / "work")
    scores = [line.split(b"\t")[0] for line in found["scores"].splitlines()]
    assert len(scores) == nodes
    assert len(set(scores)) == 1
    assert found["graph"].count(b"\tO:dummy\n") == nodes + 1


@pytest.mark.slow
def test_escape_sequences_of_uris_stay_inside(tmp_path: Path) -> None:
    """`checked` looks at the output of each command."""
    evil = "http://a.example/\x1b[2J\x1b]0;owned\x07\x9b31m\u202e[bold]"
    path = write_records(
        tmp_path / "\x1b[31m.warc",
        [
            response("http://a.example/", html([evil, "/\x1b[31mlink", "/[red]x"])),
            response(evil, html([evil, "http://a.example/"])),
            response("http://a.example/x\x1by", b"\xff\x1b", "200 \x1b[5mOK", "X: \x1b[5m\r\n"),
        ],
    )
    work = tmp_path / "work\x1b[0m"
    said = ok("run", path, "--work", work, "--min-agreement", 0, *INLINE)
    assert "[bold]" in said.out or "%5Bbold" in said.out  # nor is it markup
    ok("status", "--work", work)
    ok("export", "--format", "text", "--work", work, "--out", tmp_path / "out\x1b[0m")
    lint = crawlrank("audit", work / "precedence.txt")
    assert lint.code == 0, lint
    for name, rows in datasets(work).items():
        assert b"\x1b" not in rows, name


NAMES = [
    " a  b ",
    "new\nline",
    "tab\t",
    "*[x]?{a,b}",
    "quote'\"$HOME`id`;&|",
    "--option",
    "_hidden",
    ".hidden",
    "é\u202e",
    os.fsdecode(b"not\xffutf8"),
    "%2e#x",
]


FEW = ("new\nline", "--option", os.fsdecode(b"not\xffutf8"))
SHORT = ("--iterations", 2, "--no-validate", *INLINE)


@pytest.mark.slow
def test_any_names_of_archives(tmp_path: Path) -> None:
    """They are read as if they had usual names."""

    def run(folder: str, names: list[str]) -> dict[str, bytes]:
        (tmp_path / folder).mkdir()
        paths = [tmp_path / folder / f"{name}.warc" for name in names]
        for path, (uri, targets) in zip(paths, pages.items(), strict=True):
            write_warc(path, {uri: targets})
        said = ok("run", *paths, "--work", tmp_path / f"work-{folder}", "--quiet", *SHORT)
        assert said == Said(0, "", "")
        found = datasets(tmp_path / f"work-{folder}")
        del found["captures"]  # they name the archive
        return {**found, "links": b"\n".join(sorted(found["links"].splitlines()))}

    pages = {f"http://a.example/{n}": [f"/{n + 1}", f"/{n * n}"] for n in range(len(NAMES))}
    assert run("odd", NAMES) == run("usual", [str(n) for n in range(len(NAMES))])


@pytest.mark.parametrize(
    "more", [(), pytest.param(INLINE, marks=pytest.mark.slow)], ids=["embedded", "inline"]
)
def test_any_names_of_archives_in_a_finished_run(more: tuple[str, ...], tmp_path: Path) -> None:
    """Commands that read its datasets take all names."""
    paths = [tmp_path / f"{name}.warc" for name in NAMES]
    for number, path in enumerate(paths):
        write_warc(path, {f"http://a.example/{number}": ["/0", f"/{number + 1}"]})
    work, table = tmp_path / "work", tmp_path / "pages.csv"
    ok("run", *paths, "--work", work, "--iterations", 2, "--no-validate", "--quiet", *more)
    ok("export", work, "--output", table)
    captured = [line for line in table.read_text().splitlines() if ",200," in line]
    assert len(captured) == len(NAMES)
    ok("explain", work, "http://a.example/0")
    ok("report", work, "--output", tmp_path / "report.html")


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.slow] * (n not in FEW)) for n in NAMES],
    ids=ascii,
)
def test_any_name_of_a_work_folder(name: str, tmp_path: Path) -> None:
    web = shared_warc("web.warc.gz", WEB)
    folder = tmp_path / f"in {name}"
    work = folder / name
    folder.mkdir()
    ok("run", web, "--work", work, *SHORT)
    ok("status", "--work", work)
    wanted = datasets(finished(web, *SHORT))
    assert datasets(work) == wanted
    ok("step", "gen-graph", work / "input_links", "--output", folder / f"{name}.txt", *INLINE)
    ok("step", "page-rank", folder / f"{name}.txt", "--output", folder / "pr.txt", "--quiet",
       "--iterations", 2, *INLINE)  # fmt: skip
    assert (folder / "pr.txt").read_bytes() == wanted["ranks"]


@pytest.mark.slow
def test_odd_names_on_the_local_runner(web: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b" *'\"$x\n\xff")
    archive = Path(shutil.copyfile(web, tmp_path / f"{name}.warc.gz"))
    links, captures = tmp_path / f"{name}.txt", tmp_path / f"c{name}.txt"
    said = process("step", "extract-links", archive, "--output", links, "--captures", captures,
                   "--runner", "local")  # fmt: skip
    assert said.code == 0, said
    assert len(captures.read_bytes().splitlines()) == len(WEB)


@pytest.mark.slow
def test_a_run_with_odd_names_on_the_local_runner(web: Path, tmp_path: Path) -> None:
    name = os.fsdecode(b" *'\"$x\n\xff")
    archive = Path(shutil.copyfile(web, tmp_path / f"{name}.warc.gz"))
    said = process("run", archive, "--work", tmp_path / name, "--iterations", 1, "--no-validate",
                   "--runner", "local", "--quiet")  # fmt: skip
    assert said == Said(0, "", "")
    assert len((tmp_path / name / "precedence.txt").read_bytes().splitlines()) >= len(WEB)


# ---- text datasets: (command, good lines, one bad line, what is said of it)

LINK = "http://a.example/ http://b.example/ L"
GRAPH = "0\t1.0\tO:1\n1\t1.0\tO:dummy\n"
ROWS: dict[str, tuple[str, list[str], str, str]] = {
    "links: empty line": ("canonicalize", [LINK], "", "an empty line"),
    "links: two blanks": ("canonicalize", [LINK], "a  b", "'a  b'"),
    "links: no hop": ("canonicalize", [LINK], f"{LINK}ONG", "hop 'LONG'"),
    "links: escape": ("canonicalize", [LINK], "a\x1b[31m b", "a control character"),
    "canonical_links": ("assign-ids", ["a)/ b)/"], "a)/", "'a)/'"),
    "input_links": ("gen-graph", ["0 a)/ b)/"], "x a)/ b)/", "id 'x'"),
    "graph: no targets": ("page-rank", ["0\t1.0\tO:dummy"], "1\t1.0", "'1\\t1.0'"),
    "graph: self-loop": ("page-rank", ["0\t1.0\tO:dummy"], "1\t1.0\tO:1", "target of itself"),
    "scores": ("export-precedence", ["1.0\thttp://a/\ta)/"], "x\thttp://b/\tb)/", "score 'x'"),
}
EXTRA: dict[str, tuple[str, ...]] = {
    "canonicalize": ("--uris", "uris.txt"),
    "assign-ids": ("--map", "map.txt"),
    "page-rank": ("--iterations", "1", "--quiet"),
}


def step(command: str, tmp_path: Path, source: Path, *more: object) -> Said:
    """A step command on one input."""
    extra = [tmp_path / w if w.endswith(".txt") else w for w in EXTRA.get(command, ())]
    runner = () if command == "export-precedence" else INLINE
    return crawlrank(command, source, "--output", tmp_path / "out.txt", *extra, *runner, *more)


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_bad_line_is_named(row: str, packed: str, tmp_path: Path) -> None:
    command, good, bad, found = ROWS[row]
    source = tmp_path / f"in.txt{packed}"
    text = "".join(f"{line}\n" for line in [*good, bad, *good]).encode()
    source.write_bytes(gzip.compress(text) if packed else text)
    said = step(command, tmp_path, source)
    assert said.code == 3
    assert f"{source}, line {len(good) + 1}: " in said.err
    assert found in said.err
    assert "expected" in said.err
    assert [path.name for path in tmp_path.iterdir()] == [source.name]  # nothing was written


@pytest.mark.parametrize("command", ["canonicalize", "assign-ids", "gen-graph", "page-rank"])
def test_no_text(command: str, tmp_path: Path) -> None:
    assert "no such file" in refused(step(command, tmp_path, tmp_path / "missing.txt"))
    (tmp_path / "folder").mkdir()
    assert "without parts" in refused(step(command, tmp_path, tmp_path / "folder"))
    (tmp_path / "empty.txt").touch()
    if command != "canonicalize":  # an empty list of links may be one of many
        assert "no " in refused(step(command, tmp_path, tmp_path / "empty.txt"))
    text = "".join(f"{n} {os.urandom(40).hex()} {os.urandom(40).hex()}\n" for n in range(999))
    cut = tmp_path / "cut.txt.gz"
    cut.write_bytes(gzip.compress(text.encode())[:-5000])
    if command == "gen-graph":
        said = refused(step(command, tmp_path, cut))
        assert f"{cut}, after line " in said
        assert "Copy or make it again" in said


def refused(said: Said) -> str:
    assert said.code == 3, said
    assert not said.out
    return said.err


def test_what_is_no_graph(tmp_path: Path) -> None:
    source = tmp_path / "pr0.txt"
    rows = {
        GRAPH: "id dummy: is pointed to, but has no line",
        GRAPH + "2\t1.0\tO:7\ndummy\t1.0\tO:dummy\n": "id 7: is pointed to, but has no line",
        GRAPH + "1\t1.0\tO:0\ndummy\t1.0\tO:dummy\n": "id 1: has 2 lines",
        GRAPH + "dummy\t3.0\tO:dummy\n": "sum to 5.0",
        "dummy\t1.0\tO:dummy\n": "no nodes",
    }
    for text, found in rows.items():
        source.write_text(text)
        said = refused(step("page-rank", tmp_path, source))
        assert found in said
        assert "expected" in said
        assert not (tmp_path / "out.txt").exists()


def test_ids_and_keys_that_do_not_match(tmp_path: Path) -> None:
    path = tmp_path.__truediv__
    path("ranks.txt").write_text(GRAPH + "dummy\t1.0\tO:dummy\n")
    path("uris.txt").write_text("a)/\thttp://a/\t1\t0\t-\nb)/\thttp://b/\t1\t0\t-\n")
    maps = {
        "0 a)/\n": "id 1: 0 keys in map and 1 line in ranks",
        "0 a)/\n1 b)/\n2 c)/\n": "id 2: 1 key in map and 0 lines in ranks",
        "0 a)/\n1 b)/\n1 c)/\n": "id 1: 2 keys in map and 1 line in ranks",
        "0 a)/\n1 c)/\n": "key c)/: no spelling in uris",
    }
    for text, found in maps.items():
        path("map.txt").write_text(text)
        more = ("--map", path("map.txt"), "--uris", path("uris.txt"))
        said = refused(step("join-scores", tmp_path, path("ranks.txt"), *more))
        assert found in said
        assert "of the same" in said


def test_two_ids_for_a_key(tmp_path: Path) -> None:
    source = tmp_path / "input_links.txt"
    source.write_text("0 a)/ b)/\n1 a)/ c)/\n")
    assert "key a)/: has the ids 0 and 1" in refused(step("gen-graph", tmp_path, source))


@pytest.mark.parametrize("command", ["page-rank", "import-text"])
def test_scores_whose_sum_overflows(command: str, tmp_path: Path) -> None:
    source = tmp_path / "graph.txt"
    source.write_text("0\t1.0\tO:1,2\n1\t1e308\tO:0\n2\t1e308\tO:0\ndummy\t1.0\tO:dummy\n")
    if command == "page-rank":
        said = step(command, tmp_path, source, "--iterations", 2)
    else:
        said = crawlrank("step", command, "--graph", source, "--work", tmp_path / "work")
    assert f"{source}, line 2: score 1e+308 of id 1; expected a finite number" in refused(said)


# ---- the machine


@pytest.mark.parametrize(
    "size",
    ["24k", "160k", *(pytest.param(s, marks=pytest.mark.slow) for s in ("60k", "210k"))],
)
def test_a_full_disk(size: str, tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", size) as disk:
        said = crawlrank("run", LOOPBACK, "--work", disk / "work", "--iterations", 3, *INLINE)
        assert said.code in (3, 5)
        assert "disk is full" in said.err
        assert "--work" in said.err or str(disk) in said.err
        assert not list((disk / "work").glob(".crawlrank-*"))


@pytest.mark.parametrize(
    "size",
    ["60k", *(pytest.param(s, marks=pytest.mark.slow) for s in ("24k", "110k", "160k"))],
)
def test_a_full_disk_of_tasks(size: str, tmp_path: Path) -> None:
    """Nor is there room for what they would say last."""
    with tiny_disk(tmp_path / "disk", size) as disk:
        words = ("run", LOOPBACK, "--work", disk / "work", "--iterations", 3, "--jobs", 2)
        said = process(*words, "--runner", "local", "--quiet")
        assert said.code == 3
        assert said.err.startswith("crawlrank: ")
        assert str(disk) in said.err
        assert said.err.endswith(": the disk is full. Make room, or write elsewhere.\n")
        assert not list((disk / "work").glob(".crawlrank-*"))


@pytest.mark.slow
def test_a_file_size_limit(tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    work = tmp_path / "work"
    said = process("run", LOOPBACK, "--work", work, *INLINE, command=COMMAND, preexec_fn=limit)
    assert said.code in (3, 5)
    assert "File too large" in said.err


def test_a_read_only_work_folder(web: Path, tmp_path: Path) -> None:
    with tiny_disk(tmp_path / "disk", "64k", "ro") as disk:
        for work in (disk, disk / "work"):
            said = crawlrank("run", web, "--work", work, "--quiet", *INLINE)
            assert said.code == 3
            assert f"{work}: cannot be used as a work folder (Read-only file system)" in said.err
        outputs = ("--output", disk / "l.txt", "--captures", tmp_path / "c.txt")
        said = crawlrank("step", "extract-links", web, *outputs, *INLINE)
        assert said.code == 3
        assert str(disk) in said.err


def test_outputs_under_a_file(web: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "below.txt"
    said = crawlrank("run", web, "--work", below, "--quiet", *INLINE)
    assert said.code == 3
    assert str(below) in said.err
    outputs = ("--output", below, "--captures", tmp_path / "c.txt")
    assert crawlrank("step", "extract-links", web, *outputs, *INLINE).code == 3
    scores = tmp_path / "scores.txt"
    scores.write_text("1.0\thttp://a/\ta)/\n")
    said = crawlrank("step", "export-precedence", scores, "--output", below)
    assert said.code == 3
    assert str(tmp_path / "file") in said.err


@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_control_c(runner: str, tmp_path: Path) -> None:
    work = tmp_path / "work"
    options = ("--iterations", "8", "--no-validate", "--runner", runner, "-v")
    with stopped("page-rank", 2, "run", LOOPBACK, "--work", work, *options) as run:
        interrupt(run)
        out, err = run.communicate(timeout=600)
    said = checked(Said(run.returncode, out, err))
    assert said.code == 130
    lines = [line for line in said.err.splitlines() if line and line.split(": ")[0] not in STEPS]
    assert lines == ["crawlrank: interrupted; what was finished is kept"]
    assert not [p for pattern in (".tmp", ".crawlrank-*", ".*.part") for p in work.glob(pattern)]
    shorter = process("run", LOOPBACK, "--work", work, *options[2:], "--iterations", 8)
    assert shorter.code == 0
    assert "page-rank: round " in shorter.err
    assert not re.search("page-rank: round 1[: ]", shorter.err)  # it goes on


@pytest.mark.parametrize(
    "args",
    [
        ("run", "x.warc", "--work", "w", "--no-such-option"),
        ("run", "x.warc", "--work", "w", "--bins", "0"),
        ("run", "x.warc", "--work", "w", "--bins", "126"),
        ("run", "x.warc", "--work", "w", "--tolerance", "0"),
        ("run", "x.warc", "--work", "w", "--tolerance", "nan"),
        ("run", "x.warc", "--work", "w", "--runner", "abacus"),
        ("run", "--work", "w"),
        ("run", "x.warc"),
        ("no-such-command",),
        ("export-precedence",),
        ("step", "extract-links", "x.warc", "--output", "same.txt", "--captures", "same.txt"),
    ],
)
def test_wrong_usage(
    args: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = crawlrank(*args)
    assert said.code == 2
    assert "Error: " in said.err
    assert not list(tmp_path.iterdir())


def test_the_damaged_samples_are_read_to_their_end(tmp_path: Path) -> None:
    damage = {}
    for path in sorted(DAMAGED.iterdir()):
        outputs = ("--output", tmp_path / "l.txt", "--captures", tmp_path / "c.txt")
        said = ok("step", "extract-links", path, *outputs, *INLINE)
        damage[path.name] = dict(re.findall(r"^damage\.(\S+) +(\d+)\b", said.err, re.M))
        assert (tmp_path / "c.txt").read_bytes().count(b"\n") >= 1
    assert damage["bad-lengths.arc.gz"]
    assert damage["truncated.warc"]
    assert not damage["not-chunked.warc.gz"]  # its body is read as what it is


@pytest.mark.slow
def test_archives_named_from_another_folder(
    web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ok("run", f"../{web.name}", "--work", "work", *INLINE, "--iterations", 2, "--no-validate")
    ok(
        "step",
        "extract-links",
        f"../{web.name}",
        "--output",
        "l.txt",
        "--captures",
        "c.txt",
        *INLINE,
    )


@pytest.mark.parametrize("name", ["graph.parquet", "-"])
def test_outputs_of_steps_are_files_of_text(name: str, tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("0 example,a)/ example,b)/\n")
    output = tmp_path / name if name != "-" else name
    said = crawlrank("step", "gen-graph", tmp_path / "links.txt", "--output", output, *INLINE)
    assert said.code == 2
    assert ("this step writes text" if name != "-" else "standard output") in said.err


def test_links_that_are_cut_are_no_map(tmp_path: Path) -> None:
    (tmp_path / "links.txt").write_text("0 example,a)/ example,b)/\n0 example,a)/")
    said = crawlrank(
        "step", "gen-graph", tmp_path / "links.txt", "--output", tmp_path / "g.txt", *INLINE
    )
    assert said.code == 3
    assert "links.txt, line 2" in said.err


def test_no_output_overwrites_an_input(web: Path, tmp_path: Path) -> None:
    before = web.read_bytes()
    captures = tmp_path / "captures.txt"
    said = crawlrank("step", "extract-links", web, "--output", web, "--captures", captures, *INLINE)
    assert said.code == 2
    assert "is an input too" in said.err
    assert web.read_bytes() == before


def test_a_work_folder_inside_another_is_refused(web: Path, tmp_path: Path) -> None:
    work = copy_of(finished(LOOPBACK), tmp_path / "work")
    said = crawlrank("run", web, "--work", work / "links", *INLINE)
    assert said.code == 3
    assert "lies inside the work folder" in said.err


def test_options_that_exclude_each_other(web: Path, tmp_path: Path) -> None:
    both = ("--iterations", 3, "--tolerance", 0.1)
    assert crawlrank("run", web, "--work", tmp_path / "work", *both).code == 2
