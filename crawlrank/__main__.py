"""The command crawlrank, by that name or as `python -m crawlrank`.

The packages `jobs` and `pipeline` are those beside this one, whatever is in the current folder or
on the path: a project may have folders of these names. Processes of pools import this file, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

OWN = ("jobs", "pipeline")


class OwnPackages:
    """Finds these packages beside this one."""

    beside = (__file__.rpartition("crawlrank")[0].rstrip("/") or "/",)

    @classmethod
    def find_spec(
        cls, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(name, cls.beside) if name in OWN else None


if OwnPackages not in sys.meta_path:
    sys.meta_path.insert(0, OwnPackages)


def main() -> None:
    from pipeline.__main__ import main as command

    command()


if __name__ == "__main__":
    main()
