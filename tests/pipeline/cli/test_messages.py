"""What a command says to a file or name that it was not made for, with its exit code."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pytest
from support.crawls import INLINE, crawlrank, ok
from support.paths import LOOPBACK, SAMPLES
from support.runs import finished

from crawlrank.pipeline.cli.commands import COMMANDS, loaded
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.cli.parameters.types import LocalPath, PathOrUrlType
from crawlrank.pipeline.data.datasets import require_replaceable

URL = "https://archive.example/crawl/seeds.txt"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("messages") / "work"
    ok("run", LOOPBACK, "--work", folder, "--quiet", "--no-validate")
    return folder


# ---- numbers

NUMBERS = [
    (command, parameter)
    for command in COMMANDS
    for parameter in loaded(command).params
    if isinstance(parameter.type, click.types.IntParamType)
]


@pytest.mark.parametrize(
    ("command", "parameter"), NUMBERS, ids=[f"{name} {each.name}" for name, each in NUMBERS]
)
def test_every_whole_number_is_bounded(command: str, parameter: click.Parameter) -> None:
    """Databases and arrays take no more than 64 bits."""
    context = click.Context(loaded(command))
    for number in ("9" * 23, "-" + "9" * 23, "9" * 5000):
        with pytest.raises(click.BadParameter):
            parameter.type.convert(number, parameter, context)


@pytest.mark.slow
def test_there_are_numbers_to_check(work: Path, tmp_path: Path) -> None:
    assert len(NUMBERS) > 20
    most = 10**15
    ok("hosts", "--work", work, "--top", most)
    ok("diff", work, work, "--top", most, "--links", most)
    ok("explain", "--work", work, "http://127.0.0.1:18081/", "--links", most)
    output = tmp_path / "seeds.txt"
    ok("export", "--work", work, "--output", output, "--format", "seeds", "--top", most)


@pytest.mark.parametrize("size", ["99999999TB", "9" * 400 + "TB"])
def test_more_memory_than_there_can_be(size: str, work: Path) -> None:
    said = crawlrank("diff", work, work, "--memory", size)
    assert (said.code, "too much: at most 1000TB" in said.err) == (2, True), said


# ---- URLs

PARAMETERS = [
    (command, parameter)
    for command in COMMANDS
    for parameter in loaded(command).params
    if isinstance(parameter.type, click.Path) and not isinstance(parameter.type, PathOrUrlType)
]


@pytest.mark.parametrize(
    ("command", "parameter"), PARAMETERS, ids=[f"{name} {each.name}" for name, each in PARAMETERS]
)
def test_every_path_refuses_a_url(command: str, parameter: click.Parameter) -> None:
    """Whichever command has it; what is not a LocalPath requires that the file exists."""
    context = click.Context(loaded(command))
    with pytest.raises(click.BadParameter) as refused:
        parameter.type.convert(URL, parameter, context)
    if isinstance(parameter.type, LocalPath):
        assert "is a URL; a path is needed" in refused.value.message
    else:
        assert parameter.type.exists


def test_there_are_paths_to_check() -> None:
    assert len(PARAMETERS) > 40


@pytest.mark.parametrize(
    "words",
    [
        ("run", LOOPBACK, "--work", URL),
        ("run", LOOPBACK, "--work", "w", "--method", "personalized", "--seeds", URL),
        ("status", "--work", URL),
        ("audit", URL),
        ("audit", URL, URL),
        ("inspect", LOOPBACK, "--json", URL),
    ],
    ids=lambda words: " ".join(map(str, words[:1])),
)
def test_a_url_where_a_path_is_needed(
    words: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = crawlrank(*words)
    assert said.code == 2
    assert f"{URL} is a URL; a path is needed" in said.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [f"step {name}" for name in ("canonicalize", "gen-graph", "validate-opic", "import-text")],
)
def test_a_url_where_a_dataset_is_needed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = crawlrank(*command.split(), *READERS[command](URL))
    assert said.code == 3 or "is a URL" in said.err
    assert "archive.example/crawl/seeds.txt: a URL" in said.err or "is a URL" in said.err
    assert [path.name for path in tmp_path.iterdir() if path.name != "w"] == []


# ---- WET


def record(kind: str, uri: str, body: str) -> bytes:
    return (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\n"
        "WARC-Date: 2024-01-01T00:00:00Z\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}\r\n\r\n"
    ).encode()


@pytest.mark.parametrize(
    "words",
    [
        ("inspect",),
        ("run", "--work", "w", "--quiet"),
        ("step", "extract-links", "--output", "l.txt", "--captures", "c.txt"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_wet_file_is_named_as_such(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wet = tmp_path / "CC-MAIN-0.warc.wet.gz"
    records = [record("warcinfo", "x", "software: x\r\n")]
    records += [record("conversion", f"http://a.example/{n}", "words") for n in range(3)]
    wet.write_bytes(b"".join(map(gzip.compress, records)))
    said = crawlrank(*words, wet)
    assert said.code == 3
    assert f"{wet}: a WET file, with the text of pages and no links" in said.err
    assert "WARC" in said.err.partition("expected")[2]


# ---- outputs that are no files

ENDLESS = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "pipe")


@pytest.mark.few(8)
@pytest.mark.parametrize("output", ENDLESS)
@pytest.mark.parametrize(
    "words",
    [
        ("export", "--work", "{work}", "--output"),
        ("inspect", str(LOOPBACK), "--json"),
        ("report", "--work", "{work}", "--output"),
        ("step", "extract-links", str(LOOPBACK), "--captures", "c.txt", "--output"),
        ("explain", "--work", "{work}", "http://127.0.0.1:18081/p0.html", "--json"),
    ],
    ids=lambda words: str(words[0]),
)
def test_an_output_that_is_no_file_is_left_alone(
    words: tuple[str, ...],
    output: str,
    work: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import os

    monkeypatch.chdir(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    before = Path("/dev/stdout").readlink(), (tmp_path / "pipe").lstat().st_mode
    said = crawlrank(*(word.format(work=work) for word in words), output)
    assert said.code == 3, said
    assert f"{output}: a " in said.err
    assert "expected the name of a file to write" in said.err
    assert "take `-`" in said.err
    assert (Path("/dev/stdout").readlink(), (tmp_path / "pipe").lstat().st_mode) == before


def test_ordinary_names_are_replaceable(tmp_path: Path) -> None:
    for path in (tmp_path / "new.txt", tmp_path, Path("/dev/shm/crawlrank-new"), Path("dev/x")):
        require_replaceable(path)


# ---- binary files where text is needed


def binary_files(work: Path, folder: Path) -> dict[str, tuple[Path, str]]:
    """A file of each kind, named as text, and what it is."""
    shutil.copy(work / "uris/uris.parquet", folder / "parquet.txt")
    np.save(folder / "array.npy", np.arange(9.0))
    (folder / "array.npy").rename(folder / "numpy.txt")
    (folder / "gzip.txt").write_bytes(gzip.compress(b"http://a.example/ http://b.example/ L\n"))
    return {
        "a table in Parquet": (folder / "parquet.txt", ".parquet"),
        "an array of NumPy": (folder / "numpy.txt", "export --format text"),
        "a gzip file": (folder / "gzip.txt", ".gz"),
    }


READERS: dict[str, Callable[[object], tuple[object, ...]]] = {
    "step canonicalize": lambda path: (path, "--output", "a.txt", "--uris", "b.txt", *INLINE),
    "step assign-ids": lambda path: (path, "--output", "a.txt", "--map", "b.txt", *INLINE),
    "step gen-graph": lambda path: (path, "--output", "a.txt", *INLINE),
    "step page-rank": lambda path: (path, "--output", "a.txt", *INLINE),
    "step join-scores": lambda path: (
        *(path, "--map", path, "--uris", path, "--output", "a.txt"),
        *INLINE,
    ),
    "step export-precedence": lambda path: (path, "--output", "a.txt"),
    "step validate-opic": lambda path: (path, path, "--output", "a.json"),
    "step import-text": lambda path: ("--links", path, "--work", "w"),
    "audit": lambda path: (path, SAMPLES / "heritrix-loopback.crawl.log"),
}


@pytest.mark.few(10)
@pytest.mark.parametrize("kind", ["a table in Parquet", "an array of NumPy", "a gzip file"])
@pytest.mark.parametrize("command", READERS)
def test_a_binary_file_is_named_where_text_is_needed(
    command: str, kind: str, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, cure = binary_files(work, tmp_path)[kind]
    said = crawlrank(*command.split(), *READERS[command](path))
    assert said.code == 3, said
    assert f"{kind}, not text" in said.err
    assert path.name in said.err
    assert cure in said.err
    assert "\\x" not in said.err and "\\ufffd" not in said.err  # nothing of its bytes


@pytest.mark.parametrize("kind", ["a table in Parquet", "an array of NumPy"])
def test_lint_does_not_go_through_a_binary_file(kind: str, work: Path, tmp_path: Path) -> None:
    path, _ = binary_files(work, tmp_path)[kind]
    said = crawlrank("audit", path)
    assert (said.code, said.out) == (3, "")
    assert f"{path}: {kind}, not text" in said.err


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("archive", ["warc", "arc"])
def test_an_archive_is_no_precedence_file(archive: str, packed: bool, tmp_path: Path) -> None:
    first = {"warc": b"WARC/1.0\r\n", "arc": b"filedesc://x.arc 0.0.0.0 20240506070809\n"}[archive]
    path = tmp_path / ("a.gz" if packed else "a")
    lines = first + b"a line of it\n" * 9000
    path.write_bytes(gzip.compress(lines)[:-8] if packed else lines)
    log = SAMPLES / "heritrix-loopback.crawl.log"
    for words in (("audit", path), ("audit", path, log)):
        said = crawlrank(*words)
        assert (said.code, said.out) == (3, "")
        assert f"an {archive.upper()}" in said.err or f"a {archive.upper()}" in said.err


def test_lint_shows_some_findings_of_a_kind(tmp_path: Path) -> None:
    path = tmp_path / "p.txt"
    path.write_text(
        "".join(f"http://a.example/{n} 400\n" for n in range(500)) + "http://b.example/ x\n"
    )
    said = crawlrank("audit", path)
    assert sum(line.startswith("line ") for line in said.out.splitlines()) == 21
    assert "\n… and 480 more: " in said.out
    assert "line 501: " in said.out and "501 lines" in said.out


def test_a_job_alone_names_a_binary_file(work: Path, tmp_path: Path) -> None:
    import subprocess
    import sys

    from support.crawls import environment

    path, _ = binary_files(work, tmp_path)["an array of NumPy"]
    done = subprocess.run(
        [sys.executable, "-m", "crawlrank.jobs.gen_graph", "-r", "inline", str(path)],
        capture_output=True, text=True, timeout=900, check=False, env=environment(),
    )  # fmt: skip
    assert done.returncode == 3
    assert "an array of NumPy, not text" in done.stderr


# ---- several archives that cannot be read


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "--quiet", "--jobs", "1"),
        ("run", "--work", "w", "--quiet", "--jobs", "1"),
        ("run", "--work", "w", "--quiet", *INLINE),
        ("step", "extract-links", "--output", "l.txt", "--captures", "c.txt"),
    ],
    ids=lambda words: " ".join(words),
)
def test_each_archive_that_cannot_be_read_is_named(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = {"junk": b"junk", "empty": b"", "page": b"<html>", "gz": gzip.compress(b"words\n")}
    paths = [tmp_path / f"{name}.warc.gz" for name in bad]
    for path, data in zip(paths, bad.values(), strict=True):
        path.write_bytes(data)
    said = crawlrank(*words, LOOPBACK, *paths)
    assert said.code == 3, said
    assert "crawlrank: 4 of 5 archives cannot be read:\n" in said.err
    reasons = dict(re.findall(r"^  (\S+): (.+)$", said.err.partition("cannot be read")[2], re.M))
    assert reasons.keys() == set(map(str, paths))
    assert "an empty file" in reasons[str(paths[1])]
    assert "'junk'" in reasons[str(paths[0])]
    assert "\nA WARC" in said.err


def test_one_archive_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "junk.warc.gz"
    path.write_bytes(b"junk")
    said = crawlrank("inspect", LOOPBACK, path, "--quiet", "--jobs", 1)
    assert said.code == 3
    assert f"crawlrank: {path}: 'junk' at its beginning" in said.err


@pytest.mark.slow
def test_not_all_of_many_archives_are_named(tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / f"{number:02}.warc.gz").write_bytes(b"")
    said = crawlrank("inspect", tmp_path, "--quiet")
    assert said.code == 3
    assert said.err.count(": an empty file") == 20
    assert "\n  … and 5 more\n" in said.err


# ---- sentences that contradicted themselves


@pytest.mark.parametrize(
    ("lines", "code", "summary", "outcome"),
    [
        ("http://a.example/ 1\n", 0, "1 line, 1 of them load", ""),
        (
            "http://a.example/ 1\nhttp://b.example/\n",
            3,
            "2 lines; nothing of them is stored, as the loader stops. 1 would load",
            "has 1 error; Heritrix loads none of it",
        ),
        (
            "http://a.example/ 1\nhttp://b.example/ 400\n",
            3,
            "2 lines, 2 of them load",
            "has 1 error; it loads, not all as meant",
        ),
    ],
)
def test_the_summary_of_lint_agrees_with_its_outcome(
    lines: str, code: int, summary: str, outcome: str, tmp_path: Path
) -> None:
    path = tmp_path / "precedence.txt"
    path.write_text(lines)
    said = crawlrank("audit", path)
    assert said.code == code, said
    assert summary in said.out
    assert outcome in said.err


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("more", "words"),
    [((), "2, among the links"), (("--nofollow", "drop"), "2, left out")],
)
def test_inspect_says_what_became_of_nofollow_links(more: tuple[str, ...], words: str) -> None:
    said = ok("inspect", SAMPLES / "aut-example.warc.gz", "--quiet", *more)
    assert re.search(rf"^links with nofollow +{words}", said.out, re.M)
    flagged = crawlrank("inspect", SAMPLES / "aut-example.warc.gz", "--quiet", "--json", "-", *more)
    assert '"flagged.nofollow": 2' in flagged.out or "nofollow" in flagged.out


# ---- options as they are written


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ((), ("--pdf",), "was made without --pdf, now it is run with --pdf"),
        (("--pdf",), (), "was made with --pdf, now it is run without --pdf"),
        ((), ("--keep-www",), "was made without --keep-www, now it is run with --keep-www"),
        ((), ("--bins", 3), "was made with --bins 5, now it is run with --bins 3"),
        (
            ("--iterations", 3),
            (),
            "was made with --iterations 3, now it is run without --iterations",
        ),
        (
            (),
            ("--fold", "redirects", "--fold", "canonical"),
            "with --fold none, now it is run with --fold redirects --fold canonical",
        ),
    ],
    ids=lambda words: " ".join(map(str, words)) if isinstance(words, tuple) else "",
)
def test_options_that_differ_are_named_as_they_are_written(
    first: tuple[object, ...], second: tuple[object, ...], sentence: str, tmp_path: Path
) -> None:
    common = (LOOPBACK, "--work", tmp_path / "w", "--quiet", "--no-validate")
    ok("run", *common, *first)
    said = crawlrank("run", *common, *second)
    assert said.code == 3
    assert sentence in said.err
    assert not re.search(r"--\S+ (True|False|None)\b", said.err)


def test_the_type_of_outputs_is_a_path_of_this_machine() -> None:
    assert isinstance(OUTPUT, LocalPath)


def test_texts_that_are_no_utf_8_are_refused(tmp_path: Path) -> None:
    """A path may be any bytes; a URI, a host and a name may not."""
    work = finished(LOOPBACK)
    for words in (
        ("explain", "http://\udcff/", "--work", work),
        ("rank", "--work", work, "--method", "hits", "--name", "\udcff"),
        ("export", "--work", work, "--host", "\udcff", "--output", tmp_path / "p"),
    ):
        said = crawlrank(*words)
        assert said.code == 2, said
        assert "utf" in said.err.lower()
