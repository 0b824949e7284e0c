"""Ctrl-C and SIGTERM, which both end a command with its clean-up; and what a command does last."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable

SOON = 0.02  # seconds
#: seconds in which a second SIGINT is the first one passed on, as by a program that started the
#: command, and that a terminal interrupts together with it: it must not break the clean-up
ONE = 1.0
ARGUMENTS = "crawlrank.arguments"  # where the context keeps those of the command line


class Interruption:
    """clock: seconds since any moment. came: whether there was a signal since `begin`. at_end:
    called with the exit code and with what the user was told."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.came, self._number = False, int(signal.SIGINT)
        self._raised = -ONE
        self.at_end: list[Callable[[int, str], None]] = []

    def begin(self) -> None:
        """From now on a signal raises KeyboardInterrupt. Before, it ends the process at once, as
        there is nothing yet to clean up (crawlrank/__main__.py)."""
        if threading.current_thread() is not threading.main_thread():
            return
        if sys.unraisablehook is sys.__unraisablehook__:
            sys.unraisablehook = self._repeat
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._interrupt)

    def _interrupt(self, number: int, _: object) -> None:
        self.came, self._number = True, number
        if number == signal.SIGINT and self._clock() - self._raised < ONE:
            return
        self._raised = self._clock()
        raise KeyboardInterrupt

    def _repeat(self, error: sys.UnraisableHookArgs) -> None:
        """Repeat an interrupt that Python ignored, as it came while an object was deleted: soon, as
        in here Python would ignore it again."""
        if issubclass(error.exc_type, KeyboardInterrupt):
            self._raised = -ONE
            main = threading.main_thread().ident or 0
            timer = threading.Timer(SOON, signal.pthread_kill, (main, self._number))
            timer.daemon = True
            timer.start()
        else:
            sys.__unraisablehook__(error)
