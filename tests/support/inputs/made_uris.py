"""URIs made at random, seeded, to compare two ways of making their keys.

Each is put together from pieces, most of them such as the web has, some such as only tests and
attackers have; then some are spoiled: a piece of another put in, characters changed or removed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from support.paths import DATA

ALNUM = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))
PIECES = json.loads((DATA / "urls" / "pieces.json").read_text())


def word(rng: random.Random, longest: int = 8) -> str:
    return "".join(rng.choices(ALNUM + "-_.~", k=rng.randint(1, longest)))


def session(rng: random.Random) -> str:
    """A session id, its length at times one off, so that it is none."""
    length = rng.choice([32, 32, 32, 31, 33, 24, 8])
    value = "".join(rng.choices(ALNUM[: rng.choice([52, 62])], k=length))
    return rng.choice(PIECES["session_names"]) + rng.choice(["=", "=", "=", "", "%3D"]) + value


def brackets(rng: random.Random) -> str:
    """The session id of a path, as ASP.NET writes it, and a page for it."""
    plain = "".join(rng.choices(ALNUM, k=rng.choice([24, 24, 24, 23, 25])))
    text = rng.choice([f"({plain})", f"(a({plain}))", f"(S({plain})F({plain}))", f"%28{plain}%29"])
    return f"/{text}/{word(rng)}{rng.choice(['.aspx', '.ASPX', '.asp', '.aspx?a=1', '%2easpx'])}"


def path(rng: random.Random) -> str:
    pieces = []
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 6])):
        kind = rng.random()
        if kind < 0.84:
            pieces.append("/" + word(rng))
        elif kind < 0.94:
            pieces.append("/" + word(rng) + pick(rng, "escapes") + word(rng, 3))
        elif kind < 0.97:
            pieces.append(rng.choice(PIECES["odd"]))
        elif kind < 0.985:
            pieces.append(";" + session(rng))
        else:
            pieces.append(brackets(rng))
    return "".join(pieces) + pick(rng, "ends")


def argument(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.04:
        return session(rng)
    name = rng.choice(PIECES["names"]) if kind < 0.7 else word(rng, 4)
    value = pick(rng, "escapes") if kind > 0.85 else word(rng, 5)
    return name + rng.choice(["=", "=", "=", "==", ""]) + value if kind < 0.95 else name


def query(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return ""
    arguments = [argument(rng) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 5]))]
    return "?" + rng.choice(["&", "&", "&", "&amp;", ";", "&&"]).join(arguments)


def spoiled(rng: random.Random, uri: str) -> str:
    """Some characters put in, changed or taken out, anywhere."""
    for _ in range(rng.randint(1, 3)):
        where = rng.randrange(len(uri) + 1)
        odd, escape = rng.choice(PIECES["odd"]), pick(rng, "escapes", 0.5)
        new = rng.choice([rng.choice(PRINTABLE), odd, escape, ""])
        uri = uri[:where] + new + uri[where + rng.randint(0, 2) :]
    return uri


def pick(rng: random.Random, kind: str, unusual: float = 0.1) -> str:
    """A usual piece of this kind, or with this probability one of the others."""
    text: str = rng.choice(PIECES[kind]["others" if rng.random() < unusual else "usual"])
    return text


def made_uri(rng: random.Random) -> str:
    host = word(rng) + ".example" if rng.random() < 0.2 else pick(rng, "hosts", 0.2)
    origin = pick(rng, "schemes") + pick(rng, "users") + host + pick(rng, "ports")
    return origin + path(rng) + query(rng)


def made_uris(count: int, seed: int, others: list[bytes]) -> Iterator[bytes]:
    """URIs of this number: half are made, a quarter made and spoiled, a quarter others and
    spoiled."""
    rng = random.Random(seed)
    for number in range(count):
        if number % 4 == 1:
            uri = spoiled(rng, rng.choice(others).decode("utf-8", "surrogateescape"))
        elif number % 4 == 3:
            uri = spoiled(rng, made_uri(rng))
        else:
            uri = made_uri(rng)
        yield uri.encode("utf-8", "surrogateescape")
