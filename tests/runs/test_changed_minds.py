"""Changes of mind between runs in one folder: two folders of data, a disk that was full meanwhile,
a ranking that did not converge."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from support.crawls import MORE_WEB, WEB, crawlrank, ok, write_warc
from support.faults.disks import grow, tiny_disk
from support.paths import LOOPBACK
from support.work_folders import results_of

from crawlrank.jobs.kernel.formats.side_lines import side_name
from crawlrank.pipeline.workfolder.manifest import Manifest

INLINE = ("--runner", "inline", "--iterations", 2, "--no-validate", "--quiet")


@pytest.mark.slow
def test_one_folder_of_data_and_another_and_the_first_again(tmp_path: Path) -> None:
    """What A holds is of the first run, whatever the manifest says of B."""
    web, work = write_warc(tmp_path / "web.warc", WEB), tmp_path / "work"
    a, b = (("--data", f"file://{tmp_path}/{name}") for name in "ab")
    changed = (*INLINE, "--nodes", "all", "--links", "all", "--force")
    ok("run", web, "--work", work, *INLINE, *a)
    ok("run", web, "--work", work, *changed, *b)
    fresh = results_of(work)  # of a folder that was empty
    ok("run", web, "--work", work, *changed, *a)
    assert results_of(work) == fresh


@pytest.mark.slow
def test_another_job_wrote_where_a_dataset_was(tmp_path: Path) -> None:
    """A step of a dead driver may do this, on a cluster: the seal is not that of the manifest."""
    web, work = write_warc(tmp_path / "web.warc", WEB), tmp_path / "work"
    data = ("--data", f"file://{tmp_path}/data")
    ok("run", web, "--work", work, *INLINE, *data)
    before = results_of(work)
    for part in (tmp_path / "data/graph").iterdir():
        part.unlink()
    (tmp_path / "data/graph/part-00000").write_bytes(b"0\t1.0\tO:dummy\ndummy\t1.0\tO:dummy\n")
    (tmp_path / "data/graph/_SUCCESS").touch()
    ok("run", web, "--work", work, *INLINE, *data)
    assert results_of(work) == before
    seal = tmp_path / "data/graph/_crawlrank.json"
    seal.write_text(seal.read_text().replace("part-", "tart-", 1))
    said = ok("run", web, "--work", work, *(word for word in INLINE if word != "--quiet"), *data)
    assert "is not of it: it is made again" in said.err
    assert results_of(work) == before


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("options", [("--bins", 2), ("--nodes", "all")], ids=str)
def test_a_disk_that_is_full_while_the_manifest_is_saved(
    options: tuple[object, ...], tmp_path: Path
) -> None:
    web = write_warc(tmp_path / "web.warc", WEB)
    with tiny_disk(tmp_path / "disk", "1m") as disk:
        work = disk / "work"
        ok("run", web, "--work", work, *INLINE)
        before = results_of(work)
        with contextlib.suppress(OSError), (disk / "filler").open("wb", 0) as filler:
            while filler.write(b"x" * 1024):
                pass
        said = crawlrank("run", web, "--work", work, *INLINE, *options, "--force")
        assert (said.code, "the disk is full" in said.err) == (3, True), said
        grow(disk, "9m")
        ok("run", web, "--work", work, *INLINE, "--force")
        assert results_of(work) == before


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["embedded", "inline", "data"])
def test_scores_that_did_not_converge_are_the_last_ones(where: str, tmp_path: Path) -> None:
    """They stand where those of an earlier run did, and more rounds continue after them."""
    work, data = tmp_path / "work", tmp_path / "data"
    runner: tuple[object, ...] = () if where == "embedded" else ("--runner", "inline")
    if where == "data":
        runner = (*runner, "--data", f"file://{data}")
    given = (LOOPBACK, "--work", work, "--no-validate", "--quiet", "--force", *runner)
    ok("run", *given, "--iterations", 2)
    said = crawlrank("run", *given, "--tolerance", 1e-14, "--max-rounds", 3)
    assert said.code == 4
    assert "kept in the dataset ranks" in said.err
    assert not (work / "precedence.txt").exists()
    rounds = Manifest(work).steps["page-rank"]["rounds"]
    assert len(rounds) == 3
    if where != "embedded":
        ranks = data / "ranks" if where == "data" else work / "ranks"
        lines = [line for part in ranks.glob("part-*") for line in part.read_bytes().splitlines()]
        assert len([line for line in lines if not side_name(line)]) == rounds[-1]["nodes"] + 1
    said = crawlrank("run", *given, "--tolerance", 1e-14, "--max-rounds", 5)
    assert said.code == 4
    again = Manifest(work).steps["page-rank"]["rounds"]
    assert again[:3] == rounds
    assert len(again) == 5


@pytest.mark.slow
def test_status_says_what_is_not_as_it_was_left(tmp_path: Path) -> None:
    webs = [write_warc(tmp_path / f"{n}.warc", web) for n, web in enumerate((WEB, MORE_WEB))]
    work = tmp_path / "work"
    ok("run", *webs, "--work", work, *INLINE)
    part = next((work / "links").iterdir())
    part.write_bytes(part.read_bytes()[1:])
    (work / "precedence.txt").unlink()
    said = ok("status", "--work", work)
    steps = said.out.partition("\nsteps\n")[2].partition("\n\n")[0].splitlines()[1:]
    states = dict(line.split()[:2] for line in steps)
    assert (states["extract-links"], states["export-precedence"]) == ("damaged", "damaged")
    assert (states["canonicalize"], states["page-rank"]) == ("done", "done")
    assert f"{part} has" in said.out
    assert f"{work / 'precedence.txt'} is not there" in said.out
    told = ok("run", *webs, "--work", work, *(word for word in INLINE if word != "--quiet"))
    assert f"{part} has" in told.err
    assert "it is made again" in told.err
    assert "damaged" not in ok("status", "--work", work).out
