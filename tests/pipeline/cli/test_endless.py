"""Devices, pipes and sockets given as inputs: refused at once with the cure, by every command."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.inputs.crawl_logs import log, written
from support.paths import LOOPBACK

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import CURE, require_file
from crawlrank.pipeline.cli import main

KINDS = {"device": "a device", "pipe": "a pipe", "socket": "a socket"}

#: commands with X for the input, W for a finished work folder, G for a good file, O for an output
COMMANDS = [
    "run X --work O",
    "run --archives-from X --work O",
    "run G X --work O --runner inline",
    "run G --work O --runner hadoop --data hdfs:///x --cluster-conf X",
    "run G --work O --config X",
    "extract-links X --output O/links.txt --captures O/captures.txt",
    "extract-links --archives-from X --output O/links.txt --captures O/captures.txt",
    "inspect X",
    "inspect --archives-from X",
    "select-links X --captures W/captures --folds O/f.txt",
    "select-links W/links --captures X --folds O/f.txt",
    "canonicalize X --output O/c.txt --uris O/u.txt",
    "canonicalize W/links --captures X --output O/c.txt --uris O/u.txt",
    "assign-ids X --output O/i.txt --map O/m.txt",
    "assign-ids W/canonical_links --uris X --nodes all --output O/i.txt --map O/m.txt",
    "gen-graph X --output O/g.txt",
    "gen-graph W/input_links --map X --output O/g.txt",
    "page-rank X --output O/r.txt",
    "join-scores X --map W/map --uris W/uris --output O/s.txt",
    "join-scores W/ranks --map X --uris W/uris --output O/s.txt",
    "join-scores W/ranks --map W/map --uris X --output O/s.txt",
    "export-precedence X --output O/p.txt",
    "export-precedence W/scores --uris X --output O/p.txt",
    "export-precedence W/scores --report X --output O/p.txt",
    "export-precedence --lint X",
    "validate-opic X W/ranks --output O/report",
    "validate-opic W/graph X --output O/report",
    "import-text --links X --work O",
    "import-text --links W/links --captures X --work O",
    "import-text --canonical-links X --work O",
    "import-text --input-links X --work O",
    "import-text --graph X --work O",
    "import-text --graph W/graph --map X --work O",
    "audit-precedence X L",
    "rank --work W --method personalized --teleport X",
    "agree W --ratings X",
    "rank --work W --method trustrank --seeds X",
    "rank --work W --method trustrank --from-seeds-file X",
    "run G --work O --method trustrank --seeds X",
    "audit-precedence W/precedence.txt X",
    "verify-precedence X --state W --heritrix W",
    "verify-precedence W/precedence.txt X --state W --heritrix W",
    "watch --graph X --output O/w.html",
    "aopic-lab --work W --favour-words X=2 --anchors W/links --output O/r.html",
    "recrawl --job W --work W --rest https://127.0.0.1:9 --login X",
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("finished") / "w"
    ok("run", LOOPBACK, "--work", work, "--runner", "inline", "--iterations", 2, "--no-validate")
    return work


@pytest.fixture(params=KINDS)
def endless(request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listening:
        path = Path(folder, "a.warc")
        if request.param == "device":
            path.symlink_to("/dev/zero")
        elif request.param == "pipe":
            os.mkfifo(path)
        else:
            listening.bind(str(path))
        yield path, KINDS[request.param]


@pytest.mark.few(20)
@pytest.mark.parametrize("line", COMMANDS)
def test_no_command_reads_it(
    line: str, endless: tuple[Path, str], finished: Path, tmp_path: Path
) -> None:
    path, kind = endless
    good = written(tmp_path / "crawl.log", log(["http://h/"]))
    names = {"X": path, "W": finished, "O": tmp_path / "out", "G": LOOPBACK, "L": good}
    words = [
        names.get(word)
        or word.replace("W/", f"{finished}/")
        .replace("O/", f"{tmp_path}/")
        .replace("X=", f"{path}=")
        for word in line.split()
    ]
    said = crawlrank(*words)
    assert said.code == 3, said
    assert f"{path}: {kind}" in said.err
    assert CURE in said.err


def test_every_command_with_an_input_is_in_the_table() -> None:
    """Those left out read work folders only, or nothing."""
    of_folders = {
        *("status", "check", "diff", "explain", "report", "export-text", "package"),
    }
    of_folders |= {"export-scores", "export-sites", "hosts", "plan"}
    assert {line.split()[0] for line in COMMANDS} | of_folders >= set(main.commands)


def test_what_ends_is_left_to_who_opens_it(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path(os.devnull), tmp_path / ("x" * 300)):
        require_file(path)
    with pytest.raises(BadInput, match="a pipe"):
        read, write = os.pipe()
        try:
            require_file(f"/dev/fd/{read}")
        finally:
            os.close(read)
            os.close(write)


def test_a_pipe_among_the_parts_of_a_folder_is_none(finished: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "part-1")
    (tmp_path / "part-0").write_bytes(b"http://h/ http://g/ L\n")
    ok("canonicalize", tmp_path, "--output", tmp_path / "c.txt", "--uris", tmp_path / "u.txt")
