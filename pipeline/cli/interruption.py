"""Ctrl-C, and SIGTERM, which ends all as Ctrl-C does, leaving nothing behind."""

from __future__ import annotations

import _thread
import signal
import sys
import threading


class Interruption:
    """came: whether there was one since `begin`."""

    def __init__(self) -> None:
        self.came = False

    def begin(self) -> None:
        """From now on it raises KeyboardInterrupt; before, it ends the process at once, as nothing
        is there yet that would have to end well (pipeline/__main__.py)."""
        if threading.current_thread() is not threading.main_thread():
            return
        if sys.unraisablehook is sys.__unraisablehook__:
            sys.unraisablehook = self._again
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._come)

    def _come(self, *_: object) -> None:
        self.came = True
        raise KeyboardInterrupt

    def _again(self, what: sys.UnraisableHookArgs) -> None:
        """Where it came while an object was being taken down, it is lost, and comes once more."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            _thread.interrupt_main()
        else:
            sys.__unraisablehook__(what)
