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
from crawlrank.pipeline.cli.commands import COMMANDS as NAMES

KINDS = {"device": "a device", "pipe": "a pipe", "socket": "a socket"}

#: commands with X for the input, W for a finished work folder, G for a good file, O for an output
COMMANDS = [
    "run X --work O",
    "run --archives-from X --work O",
    "run G X --work O --runner inline",
    "run G --work O --runner hadoop --data hdfs:///x --cluster-conf X",
    "run G --work O --config X",
    "step extract-links X --output O/links.txt --captures O/captures.txt",
    "step extract-links --archives-from X --output O/links.txt --captures O/captures.txt",
    "inspect X",
    "inspect --archives-from X",
    "step select-links X --captures W/captures --folds O/f.txt",
    "step select-links W/links --captures X --folds O/f.txt",
    "step canonicalize X --output O/c.txt --uris O/u.txt",
    "step canonicalize W/links --captures X --output O/c.txt --uris O/u.txt",
    "step assign-ids X --output O/i.txt --map O/m.txt",
    "step assign-ids W/canonical_links --uris X --nodes all --output O/i.txt --map O/m.txt",
    "step gen-graph X --output O/g.txt",
    "step gen-graph W/input_links --map X --output O/g.txt",
    "step page-rank X --output O/r.txt",
    "step join-scores X --map W/map --uris W/uris --output O/s.txt",
    "step join-scores W/ranks --map X --uris W/uris --output O/s.txt",
    "step join-scores W/ranks --map W/map --uris X --output O/s.txt",
    "step export-precedence X --output O/p.txt",
    "step export-precedence W/scores --uris X --output O/p.txt",
    "step export-precedence W/scores --report X --output O/p.txt",
    "audit X",
    "step validate-opic X W/ranks --output O/report",
    "step validate-opic W/graph X --output O/report",
    "step import-text --links X --work O",
    "step import-text --links W/links --captures X --work O",
    "step import-text --canonical-links X --work O",
    "step import-text --input-links X --work O",
    "step import-text --graph X --work O",
    "step import-text --graph W/graph --map X --work O",
    "audit X L",
    "rank --work W --method personalized --teleport X",
    "diff W --ratings X",
    "rank --work W --method trustrank --seeds X",
    "rank --work W --method trustrank --from-seeds-file X",
    "run G --work O --method trustrank --seeds X",
    "audit W/precedence.txt X",
    "audit X --state W --heritrix W",
    "audit W/precedence.txt X --state W --heritrix W",
    "lab watch --graph X --output O/w.html",
    "lab aopic --work W --favour-words X=2 --anchors W/links --output O/r.html",
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
    """Commands that are left out read work folders only, or nothing."""
    of_folders = {"status", "diff", "explain", "report", "export", "cluster package"}
    of_folders |= {"hosts", "plan"}
    words = {line.split()[0] for line in COMMANDS} | {
        " ".join(line.split()[:2]) for line in COMMANDS
    }
    assert words | of_folders >= NAMES.keys()


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
    ok(
        "step",
        "canonicalize",
        tmp_path,
        "--output",
        tmp_path / "c.txt",
        "--uris",
        tmp_path / "u.txt",
    )
