"""Bytes flipped in a work folder, one at a time, and what then reads the file.

Every flip has a copy of the folder and a process of its own: a read beyond an array ends the
process by a signal, which is seen here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from click.testing import CliRunner

import crawlrank.pipeline.analysis.audit
import crawlrank.pipeline.analysis.compare.diff
import crawlrank.pipeline.analysis.compare.explain
import crawlrank.pipeline.cli.compare
import crawlrank.pipeline.workfolder.results.columns
import crawlrank.pipeline.workfolder.results.lines  # noqa: F401 (imported once, by the server)
from crawlrank.jobs.kernel.errors import CrawlrankError
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.data.memory import LEAST, Memory
from crawlrank.pipeline.engines.contract import Ranking
from crawlrank.pipeline.engines.embedded.engine import EmbeddedEngine
from crawlrank.pipeline.engines.embedded.text_files.export_text import export_text
from crawlrank.pipeline.engines.text.packed_ranking import PackedRounds
from crawlrank.pipeline.precedence.options import PrecedenceOptions
from crawlrank.pipeline.ranking.methods import METHODS
from crawlrank.pipeline.ranking.options import Stop
from crawlrank.pipeline.ranking.pagerank.method import solve
from crawlrank.pipeline.ranking.solution import Problem
from crawlrank.pipeline.ranking.validation.validate import validate
from support.faults.forks import SERVER, forked

URI = "http://127.0.0.1:18081/p0.html"
SECONDS = 900  # that no flip takes


class Flip(NamedTuple):
    """A bit of a byte of a file of the work folder."""

    file: str
    offset: int
    bit: int

    def apply(self, work: Path) -> None:
        with (work / self.file).open("r+b") as file:
            file.seek(self.offset)
            (byte,) = file.read(1)
            file.seek(self.offset)
            file.write(bytes([byte ^ (1 << self.bit)]))


# ---- what reads a dataset. Each takes the work folder and an empty one beside it


def _command(*words: object) -> None:
    result = CliRunner().invoke(main, list(map(str, words)), catch_exceptions=False)
    if result.exit_code not in (0, 3, 4, 5):
        raise AssertionError(f"exit code {result.exit_code}: {result.stderr}")


def explain(work: Path, tmp: Path) -> None:
    _command("explain", "--work", work, URI)


def diff(work: Path, tmp: Path) -> None:
    _command("diff", work.with_name("whole"), work)


def columns(work: Path, tmp: Path) -> None:
    from support.node_columns import read_node_columns

    read_node_columns(work, tmp)


def export(work: Path, tmp: Path) -> None:
    export_text(work, tmp)


def _engine(work: Path, tmp: Path) -> EmbeddedEngine:
    return EmbeddedEngine(work, tmp, Memory(LEAST), 1, lambda *_: None)


def canonicalize(work: Path, tmp: Path) -> None:
    _engine(work, tmp).canonicalize(www="strip", folded=True)


def select(work: Path, tmp: Path) -> None:
    from crawlrank.jobs.kernel.captures.choosing import CaptureRules

    _engine(work, tmp).select_links(CaptureRules(latest=True, redirects=True), www="strip")


def assign_ids(work: Path, tmp: Path) -> None:
    _engine(work, tmp).assign_ids("linked")


def gen_graph(work: Path, tmp: Path) -> None:
    _engine(work, tmp).gen_graph("linked")


def page_rank(work: Path, tmp: Path) -> None:
    from crawlrank.pipeline.data.csr import open_csr

    csr = open_csr(work / "graph")
    for stop, budget in ((Stop(tolerance=1e-9), 1 << 30), (Stop(tolerance=1e-9), 0)):
        solve(Problem(csr, stop, 2, budget))
    solve(Problem(csr, Stop(iterations=3), 2, 0))


def go_on(work: Path, tmp: Path) -> None:
    _engine(work, tmp).rank(
        Ranking(METHODS["pagerank"], Stop(tolerance=1e-9)), [{}], lambda *_: None
    )


def join_scores(work: Path, tmp: Path) -> None:
    _engine(work, tmp).join_scores(9)


def precedence(work: Path, tmp: Path) -> None:
    _engine(work, tmp).export_precedence(PrecedenceOptions())


def opic(work: Path, tmp: Path) -> None:
    ranked = _engine(work, tmp).validation_input()
    with contextlib.suppress(CrawlrankError):
        validate(ranked.graph, ranked.ranks, captured=ranked.captured)


def packed(work: Path, tmp: Path) -> None:
    """Two rounds after those that the folder has."""
    done = max(int(path.name.partition("-")[2]) for path in (work / "rounds").glob("round-*"))
    rounds = [{"certificate": 1.0}] * done
    stop = Stop(tolerance=1e-12, max_rounds=done + 2)
    PackedRounds(work / "graph", work / "rounds", Launcher("inline", tmp), stop, rounds).run()


def _killed(work: Path, tmp: Path) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _failed(work: Path, tmp: Path) -> None:
    raise ZeroDivisionError


Reader = Callable[[Path, Path], None]
EMBEDDED: Mapping[str, tuple[Reader, ...]] = MappingProxyType(
    {
        "links": (select, export),
        "captures": (canonicalize, select, explain, export),
        "selected": (canonicalize, gen_graph, export),
        "folds": (canonicalize, explain),
        "uris": (assign_ids, join_scores, precedence, explain, opic, columns, export),
        "numbers": (gen_graph, export),
        "map": (gen_graph, join_scores, precedence, explain, diff, columns, export),
        "graph": (page_rank, opic, explain, diff, columns, join_scores, export),
        "ranks": (join_scores, diff, explain, opic, columns, export),
        "scores": (precedence, explain, diff, export),
        "precedence.txt": (explain,),
        "rounds": (go_on,),
    }
)
INLINE: Mapping[str, tuple[Reader, ...]] = MappingProxyType(
    dict.fromkeys(("uris", "map", "ranks", "scores"), (explain, diff, columns, export))
    | dict.fromkeys(("captures", "folds", "precedence.txt"), (explain, export))
    | dict.fromkeys(("links", "selected", "canonical_links", "input_links"), (export,))
    | {"graph": (export,), "rounds": (packed,)}
)


@dataclasses.dataclass(frozen=True)
class Harm:
    """What a flip did that it must not do. by: the reader; how: its exception, or a signal."""

    flip: Flip
    by: str
    how: str


def drawn(work: Path, count: int, seed: int, names: Iterable[str]) -> list[Flip]:
    """Flips of this number: files by turns, half of them in the first or last bytes, where headers
    and footers are."""
    draw = random.Random(seed)
    files = [
        path.relative_to(work).as_posix()
        for name in names
        for path in sorted((work / name).rglob("*") if (work / name).is_dir() else [work / name])
        if path.is_file() and path.stat().st_size
    ]
    flips = []
    for number in range(count):
        file = files[number % len(files)]
        size = (work / file).stat().st_size
        anywhere, last = draw.randrange(size), size - 1 - draw.randrange(size) // 4
        offset = draw.choice((anywhere, anywhere, draw.randrange(min(size, 200)), last))
        flips.append(Flip(file, offset, draw.randrange(8)))
    return flips


def harms(
    work: Path, flips: Iterable[Flip], readers: Mapping[str, tuple[Reader, ...]], most: int = 99
) -> list[Harm]:
    """What the flips did to those that read their files, `most` of them for each."""
    done = []
    with tempfile.TemporaryDirectory() as folder:
        for number, flip in enumerate(flips):
            some = readers[flip.file.partition("/")[0]]
            begin = number % len(some)
            chosen = [reader.__name__ for reader in (some[begin:] + some[:begin])[:most]]
            done += _harm(work, Path(folder), flip, chosen)
    return done


def _harm(work: Path, folder: Path, flip: Flip, readers: list[str]) -> list[Harm]:
    here, there = SERVER.Pipe(duplex=False)
    process = forked(_read, work, folder, flip, readers, there)
    there.close()
    said, latest = list[Harm](), "start"
    with contextlib.suppress(EOFError):
        while here.poll(SECONDS):
            latest, how = here.recv()
            if how:
                said.append(Harm(flip, latest, how))
        process.kill()
    process.join()
    if process.exitcode:
        said.append(Harm(flip, latest, f"exit code {process.exitcode}"))
    return said


def _read(
    work: Path, folder: Path, flip: Flip, readers: list[str], pipe: Connection[Any, Any]
) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    near = folder / f"{os.getpid()}"
    for name in readers:
        pipe.send((name, ""))
        shutil.copytree(work, near / "work")
        (near / "whole").symlink_to(work)
        (near / "tmp").mkdir()
        flip.apply(near / "work")
        try:
            globals()[name](near / "work", near / "tmp")
        except CrawlrankError:
            pass
        except OSError as error:
            if not error.errno:
                pipe.send((name, repr(error)))
        except BaseException as error:  # noqa: BLE001 (whatever it is, it is told)
            pipe.send((name, repr(error)))
        shutil.rmtree(near)


np.seterr(all="ignore")
