"""One-node Hadoop: what its scripts refuse, and, with `make test-hadoop`, a node that starts, is
killed, ends and starts again."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetching import Unavailable, check_jars
from hadoop import distribution, namespace
from hadoop.control import clean, running, start, stop
from hadoop.node import Node, State
from hadoop.processes import Process, wait
from support.paths import SCRIPTS
from support.systems.hadoop_node import hadoop_around  # noqa: F401 - the fixture `hadoop`

WORDS = """
from mrjob.job import MRJob
class Words(MRJob):
    def mapper(self, _, line):
        for word in line.split():
            self.increment_counter("text", "words")
            yield word, 1
    def combiner(self, word, ones):
        yield word, sum(ones)
    reducer = combiner
Words.run()
"""


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A node of the test's own; ended with it."""
    own = Node(tmp_path / "node")
    yield own
    stop(own)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def call(node: Node, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hadoop", "--folder", str(node.folder), *arguments]
    env = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=900)


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def test_jars_are_those_that_were_chosen_and_no_others(tmp_path: Path) -> None:
    sums, lib = tmp_path / "jars.sha256", tmp_path / "lib"
    lib.mkdir()
    (lib / "one.jar").write_bytes(b"one")
    digest = hashlib.sha256(b"one").hexdigest()
    sums.write_text(f"{digest}  one.jar\n")
    check_jars(lib, sums)
    for text, words in (
        ("0" * 64 + "  one.jar\n", f"one.jar: SHA-256 {digest}, expected 0000"),
        (f"{digest}  one.jar\n{digest}  two.jar\n", f"two.jar: SHA-256 none.*expected {digest}"),
        ("", f"one.jar: SHA-256 {digest}, expected no such file"),
    ):
        sums.write_text(text)
        with pytest.raises(Unavailable, match=f"{words}.*fetch again"):
            check_jars(lib, sums)


def test_other_jars_are_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = "for word; do case $word in -DoutputDirectory=*) folder=${word#*=};; esac; done"
    program(tmp_path / "bin", "mvn", f"{found}\nmkdir -p $folder; echo PK > $folder/odd.jar")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CRAWLRANK_CACHE", str(tmp_path / "cache"))
    with pytest.raises(Unavailable, match=r"\.jar: SHA-256"):
        distribution.install()
    assert list((tmp_path / "cache").iterdir()) == []


def test_no_java_is_said(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    done = call(node, "start")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("hadoop: no java on this machine: a JDK of version 17 or later")


def test_a_machine_that_permits_no_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "unshare", "echo 'unshare failed: Operation not permitted' >&2; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"made here \(unshare failed: Operation not permitted\)"):
        namespace.unsharing()


def test_what_does_not_run_is_said(node: Node) -> None:
    assert stop(node) == "does not run"
    done = call(node, "status")
    assert (done.returncode, done.stdout) == (1, f"Hadoop in {node.folder}: does not run\n")
    done = call(node, "run", "true")
    expected = f"hadoop: no Hadoop runs in {node.folder}: start it first\n"
    assert (done.returncode, done.stderr) == (1, expected)


def test_leftovers_of_a_killed_node_are_ended_and_nothing_else(
    node: Node, sleeper: subprocess.Popen[bytes]
) -> None:
    node.folder.mkdir()
    other = {**os.environ, Node.MARK: str(node.folder) + "2"}
    own = {**os.environ, Node.MARK: str(node.folder)}
    with subprocess.Popen(["sleep", "600"], env=other) as neighbour:
        with subprocess.Popen(["sleep", "600"], env=own) as left:
            dead = Process(sleeper.pid, 1)  # the id of a keeper, used again by another program
            node.write_state(State(dead, {}, 0.0, ready=True))
            assert clean(node)
            assert left.wait(600) == -signal.SIGTERM
        assert (neighbour.poll(), sleeper.poll()) == (None, None)
        assert node.read_state() is None
        assert not clean(node)
        neighbour.kill()


@pytest.mark.hadoop
def test_a_node_keeps_its_data_shows_nothing_outside_and_ends_with_its_owner(
    node: Node, sleeper: subprocess.Popen[bytes]
) -> None:
    assert start(node, 0.2, os.getpid()) == "started"
    state = running(node)
    assert start(node, 0.2) == "runs already"
    assert running(node) == state
    pids = [state.keeper.pid, *(server.pid for server in state.servers.values())]
    assert len(set(pids)) == 6
    spaces = {str(Path(f"/proc/{pid}/ns/net").readlink()) for pid in pids}
    assert len(spaces) == 1
    assert str(Path("/proc/self/ns/net").readlink()) not in spaces
    devices = Path(f"/proc/{pids[0]}/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]
    assert call(node, "status").returncode == 0
    assert call(node, "run", "hadoop", "fs", "-put", __file__, "/kept").returncode == 0
    assert call(node, "stop").stdout == f"Hadoop in {node.folder}: stopped\n"
    assert wait([state.keeper, *state.servers.values()], 0) == []
    assert call(node, "status").returncode == 1
    assert start(node, 0.2, sleeper.pid) == "started"
    assert call(node, "run", "hadoop", "fs", "-cat", "/kept").stdout == Path(__file__).read_text()
    state = running(node)
    sleeper.kill()
    sleeper.wait()
    assert wait([state.keeper, *state.servers.values()], 60) == []
    assert node.read_state() is None


@pytest.mark.hadoop
def test_killed_servers_come_back_and_a_killed_keeper_leaves_nothing(
    node: Node, sleeper: subprocess.Popen[bytes]
) -> None:
    start(node, 0.2, sleeper.pid)
    assert call(node, "run", "hadoop", "fs", "-put", __file__, "/kept").returncode == 0
    before = running(node).servers
    for name in ("namenode", "nodemanager"):
        before[name].send(signal.SIGKILL)
    done = call(node, "status")
    assert (done.returncode, done.stdout.count("  dead\n")) == (1, 2)
    assert start(node, 0.2) == "servers that had died run again"
    state = running(node)
    assert {name for name in before if before[name] != state.servers[name]} == {
        "namenode",
        "nodemanager",
    }
    assert call(node, "run", "hadoop", "fs", "-cat", "/kept").stdout == Path(__file__).read_text()
    state.keeper.send(signal.SIGKILL)
    assert stop(node) in ("stopped", "does not run")
    assert wait(state.servers.values(), 0) == []


@pytest.mark.hadoop
def test_why_a_node_does_not_start_is_said(
    node: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "java", "echo 'no room for a heap'; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(Unavailable, match=r"does not start: HDFS cannot be made:\nno room"):
        start(node, 0.2)


@pytest.mark.hadoop
def test_mrjob_counts_words(hadoop: Node, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(WORDS)
    (tmp_path / "in.txt").write_text("to be or not to be\n" * 50)
    command = [sys.executable, "words.py", "-r", "hadoop", "--python-bin", sys.executable, "in.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ['"be"\t100', '"not"\t50', '"or"\t50', '"to"\t100']
    assert "words=300" in done.stderr
