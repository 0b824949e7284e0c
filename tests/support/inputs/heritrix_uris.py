"""URIs with what Heritrix 3.13.0 made of them, and URIs drawn at random."""

from __future__ import annotations

from hypothesis import strategies as st

from support.paths import HERITRIX

REJECT = "REJECT"


def cases(name: str) -> list[tuple[str, str, str]]:
    """(URI, form or REJECT, key or reason); lines end at LF alone."""
    text = (HERITRIX / name).read_bytes().decode("utf-8")
    rows = [tuple(line.split("\t")) for line in text.split("\n") if line]
    return [(uri, form, key) for uri, form, key in rows[1:]]


CASES = cases("uuri.tsv")
MORE = cases("uuri_more.tsv")

LABEL = st.text("abcxyz019-_", min_size=1, max_size=6)
HOST = st.lists(LABEL, min_size=1, max_size=4).map(".".join)
PORT = st.sampled_from(["", "", ":8080", ":1", ":79", ":80", ":443", ":9999", ":10000"])
PIECE = st.sampled_from(
    ["/", "//", "/a", "/..", "/.", "/...", "/.a", "/..b", "%7e", "%", "~", "|", "'", "(x)", ";p=1"]
)
PATH = st.lists(PIECE, max_size=6).map(lambda pieces: "/" + "".join(pieces))
QUERY = st.sampled_from(["", "?", "??", "?a=b&c", "?a/../b", "?{}[]^?", "?%zz"])
USUAL = st.builds(
    "{}://{}{}{}{}".format, st.sampled_from(["http", "https"]), HOST, PORT, PATH, QUERY
)
HOSTILE = st.text(
    st.sampled_from(list('htps:/?#@[]%.\\ ~|"<>^`{}aZ0-_\t\n\xa0\x85\u2028\xe9\u3002\u05d0\ud800'))
    | st.characters(),
    max_size=30,
).map(lambda text: "http://" + text)
