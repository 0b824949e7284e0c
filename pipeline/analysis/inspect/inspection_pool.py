"""Archives inspected by several processes, one archive a task, results in the order given."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from jobs.kernel.captures.extraction_options import ExtractionOptions
from jobs.kernel.errors import died
from jobs.kernel.links.pdf_links import require_reader
from jobs.kernel.machine.cores import at_a_time
from jobs.kernel.storage.opening import Place
from pipeline.analysis.inspect.inspection import Inspection, inspect_archive
from pipeline.data.workers import deaf

AHEAD = 4  # archives for each process that may be done before their turn; bounds memory
KILLED = died("perhaps for want of memory or threads")


def inspect_archives(
    archives: Sequence[Place], options: ExtractionOptions, processes: int
) -> Iterator[Inspection]:
    """The audit of each. Where a process is killed, the archives that were being read then are
    read again, each in a process of its own, so that no more than one result is lost."""
    if options.pdf:
        require_reader()
    processes = min(at_a_time(processes), len(archives))
    if processes <= 1:
        yield from (inspect_archive(archive, options) for archive in archives)
        return
    todo, ahead = deque(archives), AHEAD * processes
    while todo:
        with _pool(processes) as pool:
            yield from _in_order(pool, todo, options, ahead)
        for _ in range(min(ahead, len(todo))):
            yield _alone(todo.popleft(), options)


def _in_order(
    pool: ProcessPoolExecutor, todo: deque[Place], options: ExtractionOptions, ahead: int
) -> Iterator[Inspection]:
    """What is given leaves todo; some stay there if a process is killed."""
    waiting: deque[Future[Inspection]] = deque()
    with contextlib.suppress(BrokenProcessPool):
        while todo:
            while len(waiting) < min(ahead, len(todo)):
                archive = todo[len(waiting)]
                with deaf():  # a submission may start a process
                    waiting.append(pool.submit(inspect_archive, archive, options))
            found = waiting.popleft().result()
            todo.popleft()
            yield found


def _alone(archive: Place, options: ExtractionOptions) -> Inspection:
    with _pool(1) as pool:
        try:
            with deaf():
                found = pool.submit(inspect_archive, archive, options)
            return found.result()
        except BrokenProcessPool:
            return Inspection(path=str(archive), error=KILLED)


@contextlib.contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Its processes end at once when this one is interrupted."""
    others = set(multiprocessing.active_children())
    # not forked: this process may have threads, and clients of S3 that a fork would break
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_watch_parent)
    try:
        yield pool
    except BaseException:
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _watch_parent() -> None:
    """End when the parent has been killed, as nobody else would end this process; and at once
    where no thread can be had to watch it."""
    try:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    except RuntimeError:
        os._exit(1)  # an exception would be logged with its traceback


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
