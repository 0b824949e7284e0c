"""Time a URI of surt, of surt behind a large cache, and of our own keys, on the same URIs.

    python scripts/bench/bench_keys.py [LINKS…] [--json FILE] [--repeat N]

LINKS: links as extract-links writes them, whose URIs come in that order, repeats and all; none: the
distinct URIs of tests/data/urls. Everything is timed in this one run, in turns, and the best time
of each counts, so that the ratios hold on a busy machine too. Coverage is the share of distinct
URIs that need no surt.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from crawlrank.jobs.kernel.formats.reading import parts, read_lines
from crawlrank.jobs.kernel.keys import keys
from crawlrank.jobs.kernel.keys.keys import KeyFunction, Www, forgetful_key_function, key_function
from crawlrank.jobs.kernel.keys.surt_keys import surt_key

URIS = Path(__file__).resolve().parents[2] / "tests" / "data" / "urls" / "links.txt.gz"
CACHED = 1_000_000


def uris_of(datasets: Iterable[str]) -> Iterator[bytes]:
    """Targets and sources in the order of the lines; a hop, if there is one, is left out."""
    for part in (part for dataset in datasets for part in parts(dataset)):
        for _, _, line in read_lines(part):
            yield from line.split()[:2]


def by_surt(uri: bytes) -> bytes | None:
    return surt_key(uri, keep_www=False)


#: what is timed -> a new function without memory of earlier turns
WAYS: dict[str, Callable[[], KeyFunction]] = {
    "surt": lambda: by_surt,
    "surt, lru_cache": lambda: lru_cache(CACHED)(by_surt),
    "key_of, no memory": lambda: forgetful_key_function("strip"),
    "key_of": lambda: key_function(),
}


def best_times(uris: list[bytes], repeat: int) -> dict[str, float]:
    """Microseconds a URI, the best of `turns`."""
    best: dict[str, float] = {}
    for _ in range(repeat):
        for name, new in WAYS.items():
            way = new()
            begin = time.perf_counter()
            for uri in uris:
                way(uri)
            spent = (time.perf_counter() - begin) / len(uris) * 1e6
            best[name] = min(best.get(name, spent), spent)
    return best


def coverage(uris: set[bytes]) -> tuple[float, list[str]]:
    """The share that needs no surt, and some that do."""
    asked: list[bytes] = []
    original = keys._by_surt

    def noted(uri: bytes, www: Www) -> Any:
        asked.append(uri)
        return original(uri, www)

    keys._by_surt = noted
    try:
        way = forgetful_key_function("strip")
        for uri in uris:
            way(uri)
    finally:
        keys._by_surt = original
    left = uris.intersection(asked)
    return 1 - len(left) / len(uris), sorted(ascii(uri)[2:-1] for uri in left)[:10]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("links", nargs="*", help="links datasets")
    parser.add_argument("--json", type=Path, help="file to write")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    uris = list(uris_of(options.links or [str(URIS)]))
    distinct = set(uris)
    wrong = [uri for uri in distinct if keys.key_of(uri) != by_surt(uri)]
    assert not wrong, wrong[:5]
    share, left = coverage(distinct)
    times = best_times(uris, options.repeat)
    print(f"{len(uris):,} URIs, {len(distinct):,} distinct, the same keys; {platform.platform()}")
    print(f"{share:.3%} of the distinct ones need no surt\n")
    print(f"{'':20}{'µs a URI':>10}{'ratio':>10}")
    for name, spent in times.items():
        print(f"{name:20}{spent:10.2f}{times['surt'] / spent:9.1f}x")
    if options.json:
        told = {
            "uris": len(uris), "distinct": len(distinct), "coverage": share, "by_surt": left,
            "microseconds": times, "python": platform.python_version(),
        }  # fmt: skip
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
