"""The command crawlrank, by that name or as `python -m crawlrank`.

Until the command is loaded, a signal ends the process at once, as there is nothing to clean up.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` imports enum first
import os


def main() -> None:
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, _leave)
    from crawlrank.pipeline.__main__ import main as command

    command()


def _leave(*_: object) -> None:
    """Exit at once: an exception would pass through modules that are being loaded, and some of them
    catch it."""
    try:
        os.write(2, b"crawlrank: interrupted\n")  # which may be closed
    finally:
        os._exit(130)


if __name__ == "__main__":
    main()
