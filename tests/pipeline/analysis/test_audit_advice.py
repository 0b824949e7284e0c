"""What `audit` advises on prepared crawls: the fault that each has, and no other.

A crawl is the fetches of 300 listed URIs of three hosts, 20 of them in each of 5 classes, mended or
broken in one way.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from support.crawls import crawlrank, ok
from support.inputs.crawl_logs import log, written

from crawlrank.pipeline.analysis.audit.crawl_log import LogReport, read_logs

HOSTS = ("a.example", "b.example", "c.example")
CLASSES = range(1, 6)
LISTED = {
    f"http://{host}/c{number}/{page}": number
    for number in CLASSES
    for host in HOSTS
    for page in range(20)
}
FILE = "".join(f"{uri} {number}\n" for uri, number in LISTED.items())
BEST = list(LISTED)  # by class, then by host
NEW = [f"http://{host}/new/{page}" for host in HOSTS for page in range(10)]
Fetches = list[tuple[str, str]]


def seeds(uris: list[str]) -> Fetches:
    return [(uri, "-") for uri in uris]


def links(uris: list[str]) -> Fetches:
    return [(uri, "L") for uri in uris]


def shuffled(uris: list[str]) -> list[str]:
    return random.Random(3).sample(uris, len(uris))


def threads(uris: list[str]) -> list[str]:
    """Ten threads: the order holds within hosts, and between them roughly."""
    rng = random.Random(4)
    return sorted(uris, key=lambda uri: (LISTED[uri] * 60 + HOSTS.index(uri.split("/")[2]) * 5
                                         + int(uri.rsplit("/", 1)[1]), rng.random()))  # fmt: skip


def without(uris: list[str], *gone: str) -> list[str]:
    return [uri for uri in uris if uri not in gone]


TWIN = "http://a.example/c1/0"
LAST = [uri for uri in BEST if LISTED[uri] == 5]
UNLISTED_FIRST, HOSTS_IN_TURN = "Unlisted URIs came before", "Within hosts the order is kept"
NOT_LOADED, SPELLINGS = "The order has little to do with the file", "are other spellings"
ENDED, MISSING, SEEDS = (
    "likely ended too early",
    "A crawl fetches what it finds",
    "begins with all of them",
)
OPEN = "has a log open"

#: crawl -> its fetches, and the advice that it gets: parts of its sentences
CRAWLS: dict[str, tuple[Fetches, set[str]]] = {
    "by the file": (seeds(BEST), set()),
    "by the file, links": (links(BEST), set()),
    "unlisted ones last": (seeds(BEST + NEW), set()),
    "ten threads": (seeds(threads(BEST)), set()),
    "two unlisted ones first": (seeds(NEW[:2] + BEST), set()),
    "four unlisted ones first": (seeds(NEW[:4] + BEST), set()),
    "no default precedence": (seeds(NEW + BEST), {UNLISTED_FIRST}),
    "not loaded, with unlisted ones": (seeds(shuffled(BEST + NEW)), {NOT_LOADED}),
    "no default precedence, links": (links(NEW + BEST), {UNLISTED_FIRST}),
    "unlisted seeds, then listed links": (seeds(NEW) + links(BEST), set()),
    "unlisted ones of a host of their own first": (
        seeds([uri.replace("a.example", "d.example") for uri in NEW[:10]] + BEST), set(),
    ),
    "no queue policy": (
        seeds(sorted(BEST, key=lambda uri: (uri.split("/")[2], LISTED[uri]))), {HOSTS_IN_TURN},
    ),
    "not loaded": (seeds(shuffled(BEST)), {NOT_LOADED}),
    "a twin with www": (
        seeds([TWIN.replace("//", "//www."), *without(BEST, TWIN)]), {SPELLINGS},
    ),
    "ended early": (seeds(BEST[:200]), {ENDED}),
    "ended early, links": (links(BEST[:170]), {ENDED}),
    "some of the last class not linked": (links(without(BEST, *LAST[:7])), {MISSING, SEEDS}),
    "most of the last class not linked": (links(without(BEST, *LAST[:50])), {MISSING, SEEDS}),
    "some seeds of the last class out of scope": (seeds(without(BEST, *LAST[:7])), {MISSING}),
    "some of the first class not linked": (links(without(BEST, *BEST[:7])), {MISSING, SEEDS}),
    "inferred and prerequisites first": (
        [(f"http://{host}/{name}", hop) for host in HOSTS
         for name, hop in (("robots.txt", "P"), ("favicon.ico", "I"))] * 4 + seeds(BEST), set(),
    ),
    "nothing unlisted, one class": (seeds([uri for uri in BEST if LISTED[uri] == 1]), {ENDED}),
}  # fmt: skip


def advice(file: Path, *logs: Path) -> list[str]:
    said: list[str] = json.loads(ok("audit", file, *logs, "--json", "-").out)["advice"]
    return said


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("name", CRAWLS)
def test_each_crawl_gets_the_advice_that_it_needs(name: str, tmp_path: Path) -> None:
    fetches, expected = CRAWLS[name]
    file = written(tmp_path / "precedence.txt", FILE)
    said = advice(file, written(tmp_path / "crawl.log", log(fetches)))
    parts = {UNLISTED_FIRST, HOSTS_IN_TURN, NOT_LOADED, SPELLINGS, ENDED, MISSING, SEEDS, OPEN}
    assert {part for part in parts if any(part in sentence for sentence in said)} == expected
    assert len(said) == len(expected - {SEEDS})


@pytest.mark.few(1)
@pytest.mark.parametrize("order", ["empty first", "empty last"])
def test_an_empty_log_among_others(order: str, tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    logs = [written(tmp_path / "1.log", ""), written(tmp_path / "2.log", log(seeds(BEST)))]
    assert advice(file, *(logs if order == "empty first" else reversed(logs))) == []


@pytest.mark.slow
def test_the_folder_of_a_job(tmp_path: Path) -> None:
    """Its last launch, with the logs that checkpoints closed, and without what is no log."""
    file, logs = written(tmp_path / "precedence.txt", FILE), tmp_path / "job" / "1" / "logs"
    logs.mkdir(parents=True)
    (tmp_path / "job" / "latest").symlink_to("1")
    written(logs / "crawl.log", log(seeds(BEST[100:])))
    written(logs / "crawl.log.cp00001-20260101", log(seeds(BEST[:100])))
    for folder in (tmp_path / "job", tmp_path / "job" / "1", logs):
        assert advice(file, folder) == []
    (only,) = advice(file, logs / "crawl.log.cp00001-20260101")
    assert ENDED in only
    said = crawlrank("audit", file, tmp_path)
    assert (said.code, "a folder without a crawl.log" in said.err) == (3, True)


@pytest.mark.slow
def test_launches_from_checkpoints_are_of_one_crawl(tmp_path: Path) -> None:
    """Back to the launch that scheduled the pages, and no further."""
    file, job = written(tmp_path / "precedence.txt", FILE), tmp_path / "job"
    parts = {"20260101000000": NEW, "20260102000000": BEST[:100], "20260103000000": BEST[100:]}
    for name, uris in parts.items():
        (job / name / "logs").mkdir(parents=True)
        written(job / name / "logs" / "crawl.log", log(seeds(uris)))
    (job / "latest").symlink_to("20260103000000")
    (only,) = advice(file, job)  # nothing says that it went on from a checkpoint
    assert MISSING in only
    written(job / "20260102000000" / "logs" / "crawlrank-pages.log", "# scheduled: 200\n")
    assert advice(file, job) == []
    beans = job / "20260103000000" / "crawler-beans.cxml"
    written(beans, '<ref bean="crawlrankPages"/>')
    assert advice(file, job) == []
    written(beans, "<beans/>")  # as after an undo: this launch began by itself
    (only,) = advice(file, job)
    assert MISSING in only


def test_a_job_that_was_copied_without_its_link_is_read(tmp_path: Path) -> None:
    file, job = written(tmp_path / "precedence.txt", FILE), tmp_path / "job"
    for name, uris in {"20260101000000": NEW, "20260102000000": BEST}.items():
        (job / name / "logs").mkdir(parents=True)
        written(job / name / "logs" / "crawl.log", log(seeds(uris)))
    assert advice(file, job) == []


def test_what_is_told_once_for_a_folder_counts_once(tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    written(tmp_path / "crawlrank-pages.log", "# out-of-scope: 2\n# scheduled: 198\n")
    logs = [tmp_path / "crawl.log.cp00001-20260101", tmp_path / "crawl.log"]
    for path, uris in zip(logs, (BEST[:100], BEST[100:]), strict=True):
        written(path, log(seeds(uris)))
    counts = []
    for given in (logs, [tmp_path], [*logs, logs[1], tmp_path / "." / "crawl.log"]):
        counts.append(json.loads(ok("audit", file, *given, "--json", "-").out))
        assert advice(file, *given)[0].startswith("2 listed pages were out of the scope")
    assert counts[0] == counts[1] == counts[2]


def test_the_uri_that_held_a_host_is_named(tmp_path: Path) -> None:
    """Everything of its host came before it."""
    file = written(tmp_path / "precedence.txt", FILE)
    first = [uri for uri in BEST if HOSTS[0] in uri and LISTED[uri] < 4]
    order = [*first[1:], first[0], *(uri for uri in BEST if uri not in first)]
    said = ok("audit", file, written(tmp_path / "crawl.log", log(seeds(order))), "--json", "-").out
    (held, *_) = json.loads(said)["held"]
    later = sum(LISTED[uri] > 1 for uri in first)
    assert held == {
        "host": HOSTS[0], "uri": first[0], "precedence": "1", "status": 200, "behind": later,
    }  # fmt: skip


def test_a_log_that_is_open(tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    written(tmp_path / "crawl.log.lck", "")
    (only,) = advice(file, written(tmp_path / "crawl.log", log(seeds(BEST[:200]))))
    assert OPEN in only


@pytest.mark.slow
def test_no_advice_on_queues_where_a_script_has_checked_them(tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    by_host = sorted(BEST, key=lambda uri: (uri.split("/")[2], LISTED[uri]))
    path = written(tmp_path / "crawl.log", log(seeds(by_host)))
    assert HOSTS_IN_TURN in advice(file, path)[0]
    written(tmp_path / "crawlrank-pages.log", "# scheduled: 300\n")
    assert advice(file, path) == []


def test_pages_that_were_out_of_scope(tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    lines = "out-of-scope http://a.example/\nout-of-scope http://b.example/\n"
    written(tmp_path / "crawlrank-pages.log", lines + "# out-of-scope: 2\n# scheduled: 198\n")
    (only,) = advice(file, written(tmp_path / "crawl.log", log(seeds(BEST))))
    assert only.startswith("2 listed pages were out of the scope of the job")


@pytest.mark.parametrize("lines", [0, 3])
def test_a_crawl_that_was_ended_at_its_beginning(lines: int, tmp_path: Path) -> None:
    """Nothing else is advised: all that is missing follows from it."""
    file = written(tmp_path / "precedence.txt", FILE)
    counts = (
        "other-level http://a.example/\n# scheduled: 198\n# other-level: 2\n# never-fetched: 1\n"
    )
    written(tmp_path / "crawlrank-pages.log", counts)
    path = written(tmp_path / "crawl.log", log(seeds(BEST[:lines])) if lines else "")
    said = crawlrank("audit", file, path)
    assert said.code == (0 if lines else 3)
    assert re.search(
        r"as 3 pages would not be.* \(other-level, never-fetched\)", said.out + said.err
    )
    assert ENDED not in said.out


# ---- what Heritrix noted ---------------------------------------------------------------------

UNLISTED = 7  # with the base of 1
Noted = list[tuple[str, str, int, int, int]]


def noted(uris: list[str], given: dict[str, int] | int | None = None, hops: str = "-") -> Noted:
    """given: the precedence of all; by URI; or that of the file, else the one of unlisted URIs."""
    known = {uri: number + 1 for uri, number in LISTED.items()} if given is None else given
    values = known if isinstance(known, dict) else dict.fromkeys(uris, known)
    return [(uri, hops, 200, 5, values.get(uri, UNLISTED)) for uri in uris]


POLICY_MISSING, FILE_MISSING = "the bean uriPrecedencePolicy is missing", "the file was not loaded"
BEFORE, OTHER_FILE = "were scheduled before the file was loaded", "The store is of another file"
EARLIER_FILE, DEFAULT_MISSING = "A file loaded earlier lists them", "Heritrix's own default"
SHIFTED = {uri: number % 5 + 2 for uri, number in LISTED.items()}

#: crawl -> its fetches with what Heritrix noted, and the advice that it gets
NOTED: dict[str, tuple[Noted, set[str]]] = {
    "by the file": (noted(BEST + NEW), set()),
    "by the file, in any order": (noted(shuffled(BEST + NEW)), set()),
    "by the file, links found late": (noted(shuffled(BEST), hops="L"), set()),
    "no bean": (noted(shuffled(BEST + NEW), 1), {POLICY_MISSING}),
    "no bean, by chance in order": (noted(BEST + NEW, 1), {POLICY_MISSING}),
    "not loaded": (noted(shuffled(BEST + NEW), UNLISTED), {FILE_MISSING}),
    "not loaded, all listed": (noted(shuffled(BEST), UNLISTED), {FILE_MISSING}),
    "some before the load": (noted(BEST[:40], UNLISTED) + noted(BEST[40:] + NEW), {BEFORE}),
    "another file": (noted(BEST + NEW, SHIFTED), {OTHER_FILE}),
    "unlisted ones of an earlier file": (
        noted(BEST) + noted(NEW[:20]) + noted(NEW[20:], 3), {EARLIER_FILE},
    ),
    "no default precedence": (noted(NEW, 1) + noted(BEST), {DEFAULT_MISSING}),
    "another spelling": (
        noted([TWIN.replace("//", "//www."), *without(BEST, TWIN)]), {SPELLINGS},
    ),
    "ended early": (noted(BEST[:200]), {ENDED}),
    "no queue policy": (
        noted(sorted(BEST, key=lambda uri: (uri.split("/")[2], LISTED[uri]))), {HOSTS_IN_TURN},
    ),
}  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NOTED)
def test_what_heritrix_noted_is_told_for_certain(name: str, tmp_path: Path) -> None:
    fetches, expected = NOTED[name]
    file = written(tmp_path / "precedence.txt", FILE)
    said = advice(file, written(tmp_path / "crawl.log", log(fetches)))
    parts = {
        POLICY_MISSING, FILE_MISSING, BEFORE, OTHER_FILE, EARLIER_FILE, DEFAULT_MISSING, SPELLINGS,
        ENDED, HOSTS_IN_TURN, NOT_LOADED, UNLISTED_FIRST, MISSING,
    }  # fmt: skip
    assert {part for part in parts if any(part in sentence for sentence in said)} >= expected
    assert len(said) == len(expected)


@pytest.mark.slow
def test_counts_of_what_heritrix_noted(tmp_path: Path) -> None:
    fetches = [
        *noted(BEST[:10], UNLISTED), *noted(BEST[70:80]), *noted(BEST[30:35], hops="L"),
        *noted(BEST[20:25], hops="L"), *noted(NEW[:4]), *noted(NEW[4:6], 3),
        ("http://a.example/robots.txt", "P", 200, 5, 1), (BEST[90], "-"),
    ]  # fmt: skip
    file = written(tmp_path / "precedence.txt", FILE)
    path = written(tmp_path / "crawl.log", log(fetches))
    data = json.loads(ok("audit", file, path, "--json", "-").out)["annotations"]
    assert data == {
        "annotated": 36, "default": UNLISTED, "right": 20, "as_unlisted": 10, "other": 0,
        "known": 2, "late": 10, "late_seeds": 10,
    }  # fmt: skip
    shown = ok("audit", file, path).out
    assert "listed, with the precedence of the file       20" in shown


@pytest.mark.slow
def test_a_log_without_annotations(tmp_path: Path) -> None:
    file = written(tmp_path / "precedence.txt", FILE)
    path = written(tmp_path / "crawl.log", log(seeds(BEST)))
    assert json.loads(ok("audit", file, path, "--json", "-").out)["annotations"] is None
    assert "precedences that Heritrix noted" not in ok("audit", file, path).out


@pytest.mark.parametrize(
    ("uri", "notes", "given"),
    [
        ("http://h/,precedence:3,", "2t", None),
        ("http://h/", "precedence:-1", -1),
        ("http://h/", "2t,precedence:12,x", 12),
        ("http://h/", "notprecedence:12", None),
        ("http://h/", "precedence:9999999999", None),
        ("http://h/", "precedence:3x", None),
    ],
)
def test_annotations_are_read_where_heritrix_writes_them(
    tmp_path: Path, uri: str, notes: str, given: int | None
) -> None:
    path = written(tmp_path / "crawl.log", log([uri]).replace(" - 2t", f" - {notes}"))
    (batch,) = read_logs([path], LogReport())
    assert batch["given"].to_pylist() == [given]
    assert batch["uri"].to_pylist() == [uri]
