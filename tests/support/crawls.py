"""Made crawls, the command `crawlrank` in this process or another, and all steps by hand.

`crawlrank(…)` runs the real command line in this process; an exception that it lets through fails
the test. `process(…)` runs it in another one, which has everything imported: FORKED is the command
line that does so. COMMAND is the command as users start it.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.data.datasets import ORDER, merged
from crawlrank.pipeline.engines.text import steps
from crawlrank.pipeline.precedence.export import export_precedence
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.bounds import bounds_of
from crawlrank.pipeline.ranking.options import Stop
from support.commands import client
from support.paths import ROOT

COMMAND = (sys.executable, "-m", "crawlrank")
FORKED = (sys.executable, "-I", "-S", str(Path(client.__file__)))
INLINE = ("--runner", "inline")

#: words of tracebacks, of mrjob's, of DuckDB's and of Python's own messages; none reaches a user
NOISE = ("Traceback", "mrjob", "Warning", "warning:", "Exception ignored", 'File "')

#: a small web: dangling pages, a self-link, an uncaptured target, one host linked from another
WEB = {
    "http://a.example/": ["/about", "/news", "http://b.example/"],
    "http://a.example/about": ["/", "/about"],
    "http://a.example/news": ["/", "/news/1", "/news/2", "http://c.example/never-captured"],
    "http://a.example/news/1": ["/news"],
    "http://a.example/news/2": [],
}
MORE_WEB = {
    "http://b.example/": ["/x", "http://a.example/news/2", "http://A.example:80/about"],
    "http://b.example/x": ["http://b.example/"],
}


class Said(NamedTuple):
    """Exit code, standard output and standard error of a command."""

    code: int
    out: str
    err: str


def crawlrank(*args: object) -> Said:
    """The command in this process."""
    result = CliRunner().invoke(
        main, list(map(os.fspath, map(_path, args))), catch_exceptions=False
    )
    return checked(Said(result.exit_code, result.stdout, result.stderr))


def _path(arg: object) -> Any:
    return arg if isinstance(arg, os.PathLike) else str(arg)


def environment(**more: str) -> dict[str, str]:
    """The environment of this process, so that the command is found in a checkout that is not
    installed."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def process(
    *args: object, cwd: Path | None = None, command: Sequence[str] = FORKED, **more: Any
) -> Said:
    """The command as a process of its own."""
    done = subprocess.run(
        [*command, *map(os.fspath, map(_path, args))],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        timeout=900,
        check=False,
        **more,
    )
    out, err = (data.decode("utf-8", "surrogateescape") for data in (done.stdout, done.stderr))
    return checked(Said(done.returncode, out, err))


def checked(said: Said) -> Said:
    """What holds for every command: nothing that steers a terminal, no traceback, no noise."""
    for text in (said.out, said.err):
        others = set(text) - {*"\n\t"}
        steering = {sign for sign in others if unicodedata.category(sign) in ("Cc", "Cs")}
        assert not steering, ascii(text)
        assert not [word for word in NOISE if word in text], text
    return said


def ok(*args: object) -> Said:
    """The command, which has to end well."""
    said = crawlrank(*args)
    assert said.code == 0, said
    return said


def response(uri: str, body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    """A WARC record of an HTML response."""
    block = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{headers}\r\n".encode() + body
    header = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {uri}\r\n"
        "WARC-Date: 2024-05-06T07:08:09Z\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return header.encode("utf-8", "surrogateescape") + block + b"\r\n\r\n"


def html(targets: Iterable[str]) -> bytes:
    links = "".join(f'<a href="{target}">x</a>' for target in targets)
    return f"<!doctype html><title>x</title>{links}".encode("utf-8", "surrogateescape")


def write_warc(path: Path, web: Mapping[str, Sequence[str]]) -> Path:
    """An archive of pages and the links on them; gzip, a member a record, when named so."""
    return write_records(path, [response(uri, html(targets)) for uri, targets in web.items()])


def write_records(path: Path, records: Iterable[bytes]) -> Path:
    pack = gzip.compress if path.suffix == ".gz" else bytes
    path.write_bytes(b"".join(pack(record) for record in records))
    return path


def datasets(work: Path) -> dict[str, bytes]:
    """Every dataset of a work folder as one file, and the files beside them."""
    several = {"anchors", "selected", "folds", "hubs"}  # of some options alone
    order = {name: key for name, key in ORDER.items() if name not in several}
    found = {name: b"".join(merged(work / name, key)) for name, key in order.items()}
    for name in ("precedence.txt", "precedence.summary.json", "crawler-beans-fragment.xml"):
        found[name] = (work / name).read_bytes()
    return found


def chain(
    archives: Sequence[Path],
    out: Path,
    launcher: Launcher,
    *,
    rounds: int = 10,
    nodes: str = "linked",
) -> dict[str, bytes]:
    """All steps by their functions, with exactly `rounds` rounds; what `datasets` returns."""
    out.mkdir()
    path = out.__truediv__
    reports = steps.extract_links(archives, path("links"), path("captures"), launcher)
    assert not [report for report in reports if report.error]
    steps.canonicalize(
        [path("links")], [path("captures")], path("canonical_links"), path("uris"), launcher
    )
    steps.assign_ids(
        [path("canonical_links")], [path("uris")], path("input_links"), path("map"), launcher,
        nodes=nodes,
    )  # fmt: skip
    maps = [path("map")] if nodes == "all" else []
    steps.gen_graph([path("input_links")], maps, path("graph"), launcher)
    done = steps.page_rank(
        path("graph"), path("ranks"), launcher, Stop(rounds), lambda entry, rounds: None
    )
    steps.join_scores([path("ranks")], [path("map")], path("uris"), path("scores"), launcher)
    eta, absolute = bounds_of(done[-1])
    options = PrecedenceOptions(eta=eta, absolute=absolute)
    export_precedence(path("scores"), path("uris"), path("precedence.txt"), launcher.tmp, options)
    return datasets(out)
