"""Made scores and spellings, with many ties, forms that meet, and URIs that no form is of."""

from __future__ import annotations

import math
import random
from typing import get_args

from crawlrank.jobs.kernel.keys.form_columns import Alias
from crawlrank.pipeline.precedence.options import PrecedenceOptions

PATHS = ("/", "/{a}", "/a\\b", "/A", "/a%20b", "/a?q=1", "/./x", "/ä", "/|")
HOSTS = ("a.org", "www.a.org", "b.org:8080", "www.c.de", "xn--4ca.de", "user@d.org", "localhost")


def made(rng: random.Random, nodes: int) -> tuple[list[bytes], list[bytes]]:
    """Scores, and rows of uris: some of keys without score, some that no form is of."""
    few = [rng.choice((0.0, 0.15, 0.15000000001, rng.random() * 10)) for _ in range(4)]
    scores, rows, seen = [], [], set[str]()
    for number in range(nodes + 3):
        key = f"org,{rng.choice('abc')}){number}/"
        score = rng.choice((*few, rng.random() * 10 ** rng.randrange(-6, 3)))
        if number < nodes:
            scores.append(f"{score!r}\thttp://any/\t{key}".encode())
        for _ in range(rng.choice((1, 1, 2, 5))):
            uri = (
                f"{rng.choice(('http', 'https'))}://{rng.choice(HOSTS)}{rng.choice(PATHS)}{number}"
            )
            uri = rng.choice((uri, uri, uri, f"http://h:99999/{number}", uri.upper()))
            captures, links = rng.choice((0, 0, 1, 3)), rng.choice((0, 1, 9))
            if uri not in seen:
                rows.append(f"{key}\t{uri}\t{captures}\t{links}\t-".encode())
            seen.add(uri)
        if rng.random() < 0.5:  # another spelling of an earlier one's form
            uri = f"http://A.org/{rng.randrange(nodes)}"
            if uri not in seen:
                rows.append(f"{key}\t{uri}\t{rng.choice((0, 1))}\t0\t-".encode())
            seen.add(uri)
        else:
            rows.append(f"{key}\thttp://a.org/{key}\t0\t1\t-".encode())
    rng.shuffle(scores)
    rng.shuffle(rows)
    return scores, rows


def any_options(rng: random.Random) -> PrecedenceOptions:
    eta = rng.choice((None, 0.0, 1e-9, 1e-3, 0.3, math.inf))
    return PrecedenceOptions(
        bins=rng.choice((1, 2, 5, 125)),
        classes_over=rng.choice(("captured", "all")),
        ties=rng.choice(("key", "links")),
        digits=rng.choice((1, 3, 9)),
        spellings=rng.choice(("all", "captured")),
        aliases=tuple(rng.sample(get_args(Alias), rng.randrange(3))),
        eta=eta,
        absolute=math.inf if eta is None else rng.choice((1e-7, 0.01, math.inf)),
    )
