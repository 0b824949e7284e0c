"""Archives that change, are touched, copied or given twice: what is noticed, and what is not
refused without need."""

from __future__ import annotations

import functools
import gzip
import hashlib
import io
import json
import os
import random
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.crawls import INLINE, WEB, crawlrank, html, ok, response, write_warc
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.storage.while_reading import Digesting
from crawlrank.pipeline.workfolder.archive_identity import PIECE, PIECES, identify
from crawlrank.pipeline.workfolder.archives import check_archives, given_archives
from crawlrank.pipeline.workfolder.manifest import DIGEST, file_fingerprint, sealed

RUN = ("--iterations", 2, "--no-validate", "--quiet", "--jobs", 1)


def whole_archive() -> bytes:
    """A gzip member a record, 300 KB, the same at any time."""
    rng = random.Random(1)
    records = [
        response(f"http://h.example/p{n}", html([f"/p{n * 7 % 300}"]) + rng.randbytes(1024))
        for n in range(300)
    ]
    return b"".join(gzip.compress(record, mtime=0) for record in records)


WHOLE = whole_archive()
THIRD = len(WHOLE) // 3
DAMAGED = WHOLE[:THIRD] + bytes(THIRD) + WHOLE[2 * THIRD :]  # a download that is not all there


def one_byte_changed() -> bytes:
    at = len(WHOLE) * 8 // (PIECES + 1) + PIECE + 50  # between pieces that are looked at
    return WHOLE[:at] + bytes([WHOLE[at] ^ 1]) + WHOLE[at + 1 :]


def written(path: Path, data: bytes, when: int | None = None) -> Path:
    path.write_bytes(data)
    if when is not None:
        os.utime(path, ns=(when, when))
    return path


def archives_of(work: Path) -> dict[str, dict[str, Any]]:
    archives: dict[str, dict[str, Any]] = manifest_of(work)["archives"]
    return archives


def parts(work: Path) -> dict[str, int]:
    """When each part of the links was written."""
    return {path.name: path.lstat().st_mtime_ns for path in (work / "links").iterdir()}


def test_the_samples_look_the_same_at_their_ends(tmp_path: Path) -> None:
    paths = [written(tmp_path / str(n), data) for n, data in
             enumerate((WHOLE, DAMAGED, one_byte_changed()))]  # fmt: skip
    assert len({file_fingerprint(path) for path in paths}) == 1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("runner", "same_time"),
    [
        ("embedded", False),
        ("embedded", True),
        pytest.param("inline", False, marks=pytest.mark.slow),
    ],
)
def test_a_middle_that_changes_is_noticed(runner: str, same_time: bool, tmp_path: Path) -> None:
    work, path = tmp_path / "w", tmp_path / "a.warc.gz"
    when = 10**18 if same_time else None
    ok("run", written(path, DAMAGED, when), "--work", work, "--runner", runner, *RUN)
    said = crawlrank("run", written(path, WHOLE, when), "--work", work, "--runner", runner, *RUN)
    assert said.code == 3
    assert f"{path}: has changed since it was extracted" in said.err
    ok("run", path, "--work", work, "--runner", runner, "--force", *RUN)
    ok("run", path, "--work", tmp_path / "new", "--runner", runner, *RUN)
    results = [(folder / "precedence.txt").read_bytes() for folder in (work, tmp_path / "new")]
    assert results[0] == results[1]
    assert results[0].count(b"\n") == 300


def test_a_byte_that_changes_unseen_takes_a_full_check(tmp_path: Path) -> None:
    work, path = tmp_path / "w", tmp_path / "a.warc.gz"
    ok("run", written(path, WHOLE, 10**18), "--work", work, *RUN)
    written(path, one_byte_changed(), 10**18)
    ok("run", path, "--work", work, *RUN)
    said = crawlrank("run", path, "--work", work, "--check-archives", "full", *RUN)
    assert (said.code, "has changed" in said.err) == (3, True)
    assert crawlrank("status", "--check", "--work", work, "--check-archives", "full").code == 3
    ok("status", "--check", "--work", work)
    ok("run", written(path, WHOLE, 10**18), "--work", work, "--check-archives", "full", *RUN)
    said = ok("status", "--check", "--work", work, "--check-archives", "full")
    assert "archives" in said.out


@pytest.mark.few(1)
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_a_touched_archive_is_kept(runner: str, tmp_path: Path) -> None:
    work, path = tmp_path / "w", written(tmp_path / "a.warc.gz", WHOLE)
    ok("run", path, "--work", work, "--runner", runner, *RUN)
    before = parts(work)
    for options in ((), ("--check-archives", "full")):
        os.utime(path, ns=(10**18, 10**18))
        ok("run", path, "--work", work, "--runner", runner, *options, *RUN)
        (entry,) = archives_of(work).values()
        assert entry["modified"] == 10**18  # so that the next run need not read it
        assert entry["digest"] == hashlib.blake2b(WHOLE, digest_size=16).hexdigest()
        assert parts(work) == before


def test_a_work_folder_and_its_archives_on_another_machine(tmp_path: Path) -> None:
    """Copied without times, and under another name."""
    home, away = tmp_path / "home", tmp_path / "away"
    home.mkdir()
    ok("run", written(home / "a.warc.gz", WHOLE), "--work", home / "w", *RUN)
    shutil.copytree(home, away, copy_function=shutil.copyfile)
    os.utime(away / "a.warc.gz", ns=(10**18, 10**18))
    moved = (away / "a.warc.gz").rename(away / "b.warc.gz")
    before = parts(away / "w")
    ok("run", moved, "--work", away / "w", *RUN)
    assert parts(away / "w") == before


def test_a_damaged_and_a_good_copy_are_two(tmp_path: Path) -> None:
    work = tmp_path / "w"
    paths = [
        written(tmp_path / f"{n}.warc.gz", data, 10**18) for n, data in enumerate((DAMAGED, WHOLE))
    ]
    ok("run", *paths, "--work", work, *RUN)
    entries = archives_of(work)
    assert {entry["path"] for entry in entries.values()} == set(map(str, paths))
    assert sorted(e["counters"].get("captures.response", 0) for e in entries.values())[1] == 300
    before = parts(work)
    ok("run", *reversed(paths), "--work", work, *RUN)
    assert (archives_of(work).keys(), parts(work)) == (entries.keys(), before)
    for path in paths:  # the one that is left is known, and the other missed
        said = crawlrank("run", path, "--work", work, *RUN)
        other = paths[1 - paths.index(path)]
        assert (said.code, f"{other}: was in this work folder" in said.err) == (3, True)


def test_copies_count_once(tmp_path: Path) -> None:
    paths = [written(tmp_path / name, WHOLE, 10**18 + n) for n, name in enumerate("cab")]
    os.link(paths[0], tmp_path / "linked")
    (tmp_path / "named").symlink_to(paths[1])
    everywhere = [*paths, tmp_path / "linked", tmp_path / "named"]
    assert list(given_archives(everywhere).values()) == [paths[0]]
    bad = written(tmp_path / "bad", DAMAGED)
    assert list(given_archives([bad, *everywhere]).values()) == [bad, paths[0]]


def test_extract_links_takes_both(tmp_path: Path) -> None:
    paths = [written(tmp_path / f"{n}.warc.gz", d) for n, d in enumerate((DAMAGED, WHOLE))]
    captures = tmp_path / "captures.txt"
    to = ("--output", tmp_path / "links.txt", "--captures", captures)
    ok("step", "extract-links", *paths, *to, *INLINE)
    assert captures.read_bytes().count(b"1.warc.gz") == 300


def test_folders_of_older_versions_are_not_refused(tmp_path: Path) -> None:
    work, path = tmp_path / "w", written(tmp_path / "a.warc.gz", WHOLE)
    ok("run", path, "--work", work, *RUN)
    manifest = work / "manifest.json"
    data = json.loads(manifest.read_text())
    for entry in data["archives"].values():
        for name in ("ends", "modified", "pieces", "digest"):
            del entry[name]
    text = json.dumps(data, indent=1)
    manifest.write_text(sealed(text.rpartition(DIGEST)[0] or text))
    before = parts(work)
    ok("run", path, "--work", work, "--check-archives", "full", *RUN)
    (entry,) = archives_of(work).values()
    assert entry["digest"] == hashlib.blake2b(WHOLE, digest_size=16).hexdigest()
    assert parts(work) == before


@pytest.mark.parametrize("runner", ["embedded", pytest.param("inline", marks=pytest.mark.slow)])
def test_the_digest_is_that_of_the_file(runner: str, tmp_path: Path) -> None:
    path = written(tmp_path / "a.warc.gz", DAMAGED + b"garbage")
    ok("run", path, "--work", tmp_path / "w", "--runner", runner, *RUN)
    (entry,) = archives_of(tmp_path / "w").values()
    assert entry["digest"] == hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


@given(st.binary(max_size=300), st.lists(st.tuples(st.integers(0, 320), st.integers(0, 99))))
def test_a_digest_of_what_is_read_here_and_there(data: bytes, reads: list[tuple[int, int]]) -> None:
    stream = Digesting(io.BytesIO(data))
    for place, count in reads:
        assert stream.seek(place) == place
        assert stream.read(count) == data[place : place + count]
        assert stream.tell() == place + len(data[place : place + count])
    assert stream.hexdigest() == hashlib.blake2b(data, digest_size=16).hexdigest()


def test_a_glance_is_enough_for_what_is_as_it_was(tmp_path: Path) -> None:
    path = written(tmp_path / "a.warc.gz", WHOLE)
    known = {"key": {"ends": "x", **identify([path], {}).popitem()[1].glance.noted()}}
    assert list(identify([path], known)) == ["key"]
    assert not identify([path], known)["key"].digest


def test_an_archive_that_was_moved_is_known_by_its_new_place(tmp_path: Path) -> None:
    archive, work = write_warc(tmp_path / "a.warc", WEB), tmp_path / "work"
    ok("run", archive, "--work", work, "--no-validate", "--quiet")
    moved = archive.rename(tmp_path / "b.warc")
    ok("run", moved, "--work", work, "--no-validate", "--quiet")
    ok("status", work, "--check", "--check-archives", "full")
    with moved.open("ab") as file:
        file.write(b"\r\n")
    said = crawlrank("run", moved, "--work", work, "--no-validate", "--quiet")
    assert said.code == 3
    assert "b.warc: has changed since it was extracted" in said.err


def test_force_tries_an_archive_again_that_could_not_be_read() -> None:
    entry = {"error": ["it died", "", ""], "path": "a.warc", "part": "p", "mark": "m"}
    manifest: Any = SimpleNamespace(archives={"c": entry})
    asked = functools.partial(
        check_archives, lambda part: True, manifest, {"c": Path("a.warc")}, lambda content: "m"
    )
    assert asked(skip_bad_files=True) == []
    assert asked() == asked(skip_bad_files=True, force=True) == ["c"]
