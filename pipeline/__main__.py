"""The command crawlrank, by that name or as `python -m pipeline`.

Importing it takes a second, in which there is nothing yet to end well; and the processes of pools,
which import this file, do without it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum first
import os
import sys


def main() -> None:
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    if "_distutils_hack" in sys.modules and sys.version_info < (3, 12):
        # mrjob imports distutils, and Python's own loads in a tenth of the time of setuptools'
        sys.modules["_distutils_hack"].remove_shim()
    from pipeline.cli import main as command

    command(prog_name="crawlrank")


def _leave(*_: object) -> None:
    """At once: an exception would pass through half-made modules, and some take it for theirs."""
    os.write(2, b"crawlrank: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
