"""python -m graph_programs: fetch the programs, and print their folders."""

from __future__ import annotations

import sys

from fetching import Unavailable, program

from graph_programs import GEPHI, WEBGRAPH

if __name__ == "__main__":
    try:
        program("java")
        for each in (GEPHI, WEBGRAPH):
            print(each.home())
    except Unavailable as reason:
        sys.exit(str(reason))
