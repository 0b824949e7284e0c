"""The command crawlrank, by that name or as `python -m crawlrank`.

Processes of pools import this file, too. The functions of the package start it by its path, so that
no folder of their caller is on the path of the command.
"""

from __future__ import annotations

import sys


def main() -> None:
    from crawlrank.pipeline.__main__ import main as command

    command()


if __name__ == "__main__":
    if not __package__:  # by its path: this folder is on the path, and not the one that it is in
        sys.path[0] = sys.path[0].removesuffix("/crawlrank") or "/"
    main()
