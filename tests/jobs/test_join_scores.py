"""join_scores: each id its key and its spelling, best first, whatever the reducers."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from pathlib import Path

import pytest
from support import plain
from support.inputs.samples import made_captures, made_links, write
from support.systems.cluster import MANY_REDUCERS, cluster, dataset, inline

from crawlrank.jobs import join_scores
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.jobs.mapreduce.outcome import Outcome


def run(tmp: Path, launcher: Launcher, *inputs: Path, **options: object) -> Outcome:
    """Ranks and map, then uris; scores to `tmp`/scores."""
    *first, uris = map(str, inputs)
    return join_scores.run(first, uris, tmp / "scores", launcher, **options)  # type: ignore[arg-type]


RANKS = [
    b"0\t0.5\tO:1,2",
    b"1\t2.25\tO:dummy",
    b"2\t0.5000000000000001\tO:1",
    b"10\t0.15\tO:1",
    b"dummy\t2.6\tO:dummy",
]
MAP = [b"0 b)/", b"1 a)/", b"2 c)/", b"10 d)/"]
URIS = [
    b"a)/\thttp://a/\t1\t9\t20240101000000",
    b"a)/\thttp://A/\t2\t0\t20230101000000",
    b"a)/\thttp://unseen.a/\t0\t99\t-",
    b"b)/\thttp://b/\t0\t1\t-",
    b"b)/\thttp://B/\t0\t2\t-",
    b"c)/\thttp://c/\t1\t1\t20240101000000",
    b"c)/\thttp://C/\t1\t1\t20240101000000",
    b"d)/\thttp://d/\t0\t0\t-",
    b"no,id)/\thttp://id.no/\t7\t7\t20240101000000",
]


def given(tmp: Path) -> list[Path]:
    rows = {"ranks": RANKS, "map": MAP, "uris": URIS}
    return [write(tmp / name, lines) for name, lines in rows.items()]


def test_rows_worked_out_by_hand(tmp_path: Path) -> None:
    """b)/ and c)/ agree to nine digits, so the key decides; captured most, linked most, first."""
    outcome = run(tmp_path, inline(tmp_path), *given(tmp_path))
    assert dataset(tmp_path / "scores") == [
        b"2.25\thttp://A/\ta)/",
        b"0.5\thttp://B/\tb)/",
        b"0.5000000000000001\thttp://C/\tc)/",
        b"0.15\thttp://d/\td)/",
    ]
    assert outcome.counters == {"scores": 4}
    assert math.fsum(part["scores"] for part in outcome.sums) == pytest.approx(3.4)


def test_all_columns(tmp_path: Path) -> None:
    """Behind the key: id, inlinks, outlinks, captures and last timestamp of all spellings."""
    run(tmp_path, cluster(tmp_path, 3), *given(tmp_path), columns="all")
    assert dataset(tmp_path / "scores") == [
        b"2.25\thttp://A/\ta)/\t1\t3\t0\t3\t20240101000000",
        b"0.5\thttp://B/\tb)/\t0\t0\t2\t0\t-",
        b"0.5000000000000001\thttp://C/\tc)/\t2\t1\t1\t2\t20240101000000",
        b"0.15\thttp://d/\td)/\t10\t0\t1\t0\t-",
    ]


@pytest.mark.parametrize(
    ("digits", "first"),
    [
        (16, b"c)/"),
        (15, b"b)/"),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in ((17, b"c)/"), (1, b"b)/"))),
    ],
)
def test_digits_decide_which_scores_are_equal(digits: int, first: bytes, tmp_path: Path) -> None:
    """0.5000000000000001 differs from 0.5 in its sixteenth digit."""
    run(tmp_path, inline(tmp_path), *given(tmp_path), digits=digits)
    assert dataset(tmp_path / "scores")[1].split(b"\t")[2] == first


def check(tmp: Path, launcher: Launcher) -> None:
    """Scores of three rounds, many of them equal; the order is that of decimal arithmetic."""
    links, spellings = (
        plain.canonical_links(made_links()),
        plain.uris(made_links(), made_captures()),
    )
    numbers = plain.ids(links, spellings, "all")
    targets = plain.graph(links, numbers)
    scores = plain.scores_after(3, targets)
    ranks = [
        b"%d\t%r\tO:%s" % (node, scores[node], b",".join(b"%d" % t for t in found) or b"dummy")
        for node, found in targets.items()
    ]
    named = [b"%d %s" % (number, key) for key, number in numbers.items()]
    inputs = [
        write(tmp / "ranks", [*ranks, b"dummy\t1.0\tO:dummy"]),
        write(tmp / "map", named),
        write(tmp / "uris", spellings[::-1]),
    ]
    outcome = run(tmp, launcher, *inputs)
    rows = [line.split(b"\t") for line in dataset(tmp / "scores")]
    nine = Context(prec=9)
    wanted = sorted(numbers, key=lambda key: (-nine.plus(Decimal(scores[numbers[key]])), key))
    assert [key for _, _, key in rows] == wanted
    assert [float(score) for score, _, _ in rows] == [scores[numbers[key]] for key in wanted]
    assert [uri for _, uri, _ in rows] == [best_spelling(key, spellings) for key in wanted]
    assert outcome.counters["scores"] == len(numbers)
    assert math.fsum(part["scores"] for part in outcome.sums) == pytest.approx(
        math.fsum(scores.values()), rel=1e-12
    )


def best_spelling(key: bytes, spellings: list[bytes]) -> bytes:
    rows = [line.split(b"\t") for line in spellings if line.startswith(key + b"\t")]
    most = [row for row in rows if int(row[2]) == max(int(row[2]) for row in rows)]
    most = [row for row in most if int(row[3]) == max(int(row[3]) for row in most)]
    return min(row[1] for row in most)


@pytest.mark.parametrize("ranges", [pytest.param(1, marks=pytest.mark.slow), 8])
def test_made_links_inline(ranges: int, tmp_path: Path) -> None:
    check(tmp_path, inline(tmp_path, ranges))


@pytest.mark.parametrize(("reducers", "seed"), [(1, 0), (4, 2), MANY_REDUCERS])
def test_made_links_on_a_cluster(reducers: int, seed: int, tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, reducers, seed))


def test_a_full_memory_changes_no_row(tmp_path: Path) -> None:
    check(tmp_path, cluster(tmp_path, 3, 4, combined=2))


@pytest.mark.parametrize(
    "reducers", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (6, 16, 33, 64))]
)
def test_few_scores_on_many_reducers_are_in_order(reducers: int, tmp_path: Path) -> None:
    """Fewer ranges than reducers: each range must still reach the part of its number."""
    run(tmp_path, cluster(tmp_path, reducers), *given(tmp_path))
    assert [line.split(b"\t")[2] for line in dataset(tmp_path / "scores")] == [
        b"a)/",
        b"b)/",
        b"c)/",
        b"d)/",
    ]


NO_7 = "id 7: 0 keys in map and 0 lines in ranks"
NO_0 = "id 0: 0 keys in map and 1 line in ranks"


@pytest.mark.parametrize(
    ("changed", "where", "found"),
    [
        ({"map": MAP[1:]}, "ranks, line 1", "id 0: 0 keys in map and 1 line in ranks"),
        ({"ranks": RANKS[1:]}, "map, line 1", "id 0: 1 key in map and 0 lines in ranks"),
        ({"map": [*MAP, b"0 bb)/"]}, "map, line 5", "id 0: 2 keys in map and 1 line in ranks"),
        (
            {"ranks": [*RANKS, RANKS[0]]},
            "ranks, line 6",
            "id 0: 1 key in map and 2 lines in ranks",
        ),
        ({"ranks": [b"0\t0.5\tO:1,7", *RANKS[1:]]}, "ranks, line 1", NO_7),
        ({"map": [b"10 d)/", b"1 a)/", b"8 e)/", b"9 f)/"]}, "ranks, line 1", NO_0),
        ({"uris": URIS[:-2]}, "map, line 4", "key d)/: no spelling in uris"),
    ],
)
@pytest.mark.parametrize("reducers", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_datasets_of_different_runs_are_refused(
    changed: dict[str, list[bytes]], where: str, found: str, reducers: int, tmp_path: Path
) -> None:
    inputs = given(tmp_path)
    for name, lines in changed.items():
        write(tmp_path / name, lines)
    with pytest.raises(BadInput) as refused:
        run(tmp_path, cluster(tmp_path, reducers), *inputs)
    assert (refused.value.where, refused.value.found) == (f"{tmp_path}/{where}", found)
    assert refused.value.cure
    assert {path.name for path in tmp_path.iterdir()} == {"ranks", "map", "uris"}


@pytest.mark.parametrize(
    ("name", "bad", "found"),
    [
        ("ranks", b"0\tx\tO:1", "score 'x' of id '0'"),
        ("map", b"x b)/", "id 'x' in 'x b)/'"),
        ("uris", b"d)/\thttp://d/", "'d)/\\thttp://d/'"),
        ("uris", b"d)/\thttp://d/\tx\t0\t-", "'d)/\\thttp://d/\\tx\\t0\\t-'"),
        ("uris", b"", "an empty line"),
    ],
)
def test_a_bad_line_is_named_with_its_place(
    name: str, bad: bytes, found: str, tmp_path: Path
) -> None:
    inputs = given(tmp_path)
    lines = {"ranks": RANKS, "map": MAP, "uris": URIS}[name]
    write(tmp_path / name, [lines[0], bad, *lines[1:]])
    with pytest.raises(BadInput) as refused:
        run(tmp_path, inline(tmp_path), *inputs)
    assert (refused.value.where, refused.value.found) == (f"{tmp_path / name}, line 2", found)


def test_no_node_is_no_empty_dataset(tmp_path: Path) -> None:
    inputs = [write(tmp_path / name, []) for name in ("ranks", "map", "uris")]
    with pytest.raises(BadInput, match="no nodes"):
        run(tmp_path, inline(tmp_path), *inputs)
    assert not (tmp_path / "scores").exists()
