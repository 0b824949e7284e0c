"""`crawlrank inspect` against counts by other means: warcio, gzip, and tables made by hand."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.crawls import WEB, crawlrank, ok, process, write_warc
from support.inputs.archive_samples import extracted, page, warc
from support.paths import DAMAGED, DATA, LOOPBACK, ROOT, SAMPLES, SMALL_ARCHIVES
from warcio.archiveiterator import ArchiveIterator

from crawlrank.jobs.kernel.captures.extraction import extract
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.pipeline.analysis import inspection
from crawlrank.pipeline.analysis.inspection_report import InspectionWriter

AUT = SAMPLES / "aut-example.warc.gz"
ARC = SAMPLES / "aut-example.arc.gz"
TRUNCATED = DAMAGED / "truncated.warc"
TABLE = DATA / "extraction_table.tsv"
QUIET = ("--quiet", "--jobs", "1")


def audit(*args: object) -> dict[str, Any]:
    """The JSON of a command that ends well."""
    found: dict[str, Any] = json.loads(ok("inspect", "--json", "-", *QUIET, *args).out)
    return found


def without_seconds(found: dict[str, Any]) -> dict[str, Any]:
    for each in (*found["archives"], found["total"]):
        del each["seconds"]
    return found


def by_warcio(path: Path) -> dict[str, Any]:
    kinds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    types: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    dates = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream):
            kinds[record.rec_type] += 1
            uri = record.rec_headers.get_header("WARC-Target-URI") or ""
            if record.rec_type not in ("response", "revisit") or not uri.startswith("http"):
                continue
            http = record.http_headers
            statuses[http.get_statuscode()] += 1
            types[(http.get_header("Content-Type") or "-").split(";")[0].strip().lower()] += 1
            hosts[urlsplit(uri).hostname or ""] += 1
            date = record.rec_headers.get_header("WARC-Date")
            dates.append("".join(c for c in date if c.isdigit())[:14])
    return {
        **{"kinds": kinds, "statuses": statuses, "types": types, "hosts": hosts},
        **{"first": min(dates), "last": max(dates)},
    }


@pytest.mark.parametrize("path", [AUT, LOOPBACK], ids=lambda path: path.name)
def test_what_warcio_counts(path: Path) -> None:
    [found] = audit(path)["archives"]
    other = by_warcio(path)
    assert found["records"]["by_kind"] == other["kinds"]
    assert found["captures"]["by_status"] == other["statuses"]
    assert found["captures"]["by_type"] == other["types"]
    assert found["captures"]["first"] == other["first"]
    assert found["captures"]["last"] == other["last"]
    assert found["hosts"]["count"] == len(other["hosts"])
    assert found["hosts"]["complete"]
    counts = [host["captures"] for host in found["hosts"]["top"]]
    assert counts == sorted(other["hosts"].values(), reverse=True)[:10]
    assert all(other["hosts"][host["host"]] == host["captures"] for host in found["hosts"]["top"])


@pytest.mark.parametrize("path", [AUT, LOOPBACK], ids=lambda path: path.name)
def test_sizes_are_those_of_the_file_and_of_what_gzip_makes_of_it(path: Path) -> None:
    [found] = audit("--no-links", path)["archives"]
    assert found["size"] == path.stat().st_size
    ends = 4 * found["records"]["count"]  # two empty lines after each record
    assert found["inflated"] == len(gzip.decompress(path.read_bytes())) - ends


def test_the_links_are_those_that_extraction_gives() -> None:
    links, captures, _, _ = extracted(LOOPBACK, links="all")
    [found] = audit("--links", "all", LOOPBACK)["archives"]
    hops = Counter(link.hop.decode() for link in links)
    assert found["links"]["by_hop"] == {hop: hops[hop] for hop in "LREX"}
    assert found["links"]["count"] == sum(found["links"]["by_source"].values()) == len(links)
    assert found["captures"]["count"] == len(captures)


def test_the_table_of_the_small_archives() -> None:
    """tests/data/extraction_table.tsv has these numbers, made by another way."""
    rows = {line.split("\t")[0].split("/")[1]: line for line in TABLE.read_text().splitlines()[1:]}
    paths = [path for path in sorted(SMALL_ARCHIVES.glob("*arc*")) if path.name in rows]
    assert len(paths) > 10
    for found in audit("--links", "all", *paths)["archives"]:
        hops, damage = found["links"]["by_hop"], found["damage"]["by_reason"]
        counts = [
            found["records"]["count"],
            found["captures"]["count"],
            found["documents"].get("html", 0),
            *(hops[hop] for hop in "LREX"),
            " ".join(f"{reason}={damage[reason]}" for reason in sorted(damage)) or "-",
        ]
        assert rows[Path(found["path"]).name].split("\t")[1:] == list(map(str, counts))


def test_a_total_is_the_sum_of_its_archives() -> None:
    found = audit(AUT, LOOPBACK, TRUNCATED)
    archives, total = found["archives"], found["total"]
    assert total["archives"] == 3
    assert total["damaged"] == 1
    for path in (("size",), ("inflated",), ("records", "count"), ("captures", "count")):
        values = [each[path[0]] if len(path) == 1 else each[path[0]][path[1]] for each in archives]
        assert sum(values) == (total[path[0]] if len(path) == 1 else total[path[0]][path[1]])
    assert total["captures"]["first"] == min(each["captures"]["first"] for each in archives)
    assert total["captures"]["last"] == max(each["captures"]["last"] for each in archives)
    assert total["damage"]["by_reason"] == {"bad-length": 1}
    assert total["damage"]["places"][0]["path"] == str(TRUNCATED)


@pytest.mark.slow
def test_several_processes_give_what_one_gives() -> None:
    archives = [LOOPBACK, TRUNCATED, DAMAGED / "bad-lengths.arc.gz", "/nowhere", ARC]
    said = process("inspect", "--json", "-", "--quiet", "--jobs", "2", *archives)
    assert said.code == 3
    one = crawlrank("inspect", "--json", "-", *QUIET, *archives)
    assert one.code == 3
    found = without_seconds(json.loads(said.out))
    assert found == without_seconds(json.loads(one.out))
    assert [each["path"] for each in found["archives"]] == list(map(str, archives))


def test_without_links_the_rest_is_the_same() -> None:
    paths = (AUT, LOOPBACK, TRUNCATED)
    quick, whole = audit("--no-links", *paths)["archives"], audit(*paths)["archives"]
    for name in ("records", "captures", "hosts", "damage", "size", "inflated", "format"):
        assert [each[name] for each in quick] == [each[name] for each in whole], name
    assert {each["links"] for each in quick} == {each["documents"] for each in quick} == {None}


def test_an_archive_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "empty.warc").touch()
    output = tmp_path / "new" / "audit.json"
    (tmp_path / "text.warc").write_text("no archive")
    bad = [tmp_path / name for name in ("none.warc", "empty.warc", "text.warc")]
    said = crawlrank("inspect", *bad, LOOPBACK, "--json", output, *QUIET)
    assert said.code == 3
    assert "3 of 4 archives cannot be read:" in said.err
    assert f"{bad[0]}: cannot be read (No such file" in said.err
    *errors, good = json.loads(output.read_text())["archives"]
    found = [each["error"]["found"] for each in errors]
    assert found[:2] == ["cannot be read (No such file or directory)", "an empty file"]
    assert found[2].startswith("'no archive' at its beginning")
    assert good["error"] is None
    assert good["captures"]["count"] == 64
    assert "4 (3 not readable, 0 damaged)" in said.out


def test_damage_is_an_error_when_strict() -> None:
    assert crawlrank("inspect", TRUNCATED, *QUIET).code == 0
    said = crawlrank("inspect", LOOPBACK, TRUNCATED, "--strict", *QUIET)
    assert said.code == 3
    assert f"{TRUNCATED}, offset 1197: bad-length" in said.err


def test_uris_without_a_key_are_told(tmp_path: Path) -> None:
    bad = "http://h:99999999/"  # surt takes no such port
    archive = tmp_path / "a.warc"
    records = [page(f'<a href="{n}">', f"http://h:99999999/{n}") for n in range(7)]
    archive.write_bytes(b"".join([page("x", bad), *records, page("<a href=/y>", "http://g/")]))
    [found] = audit(archive)["archives"]
    assert found["without_key"]["captures"] == 8
    assert found["examples"]["no-key"][0] == bad
    assert len(found["examples"]["no-key"]) == 5
    assert "no-key" in ok("inspect", archive, *QUIET).out


def test_what_is_dropped_has_examples(tmp_path: Path) -> None:
    archive = tmp_path / "a.warc"
    archive.write_bytes(b"".join(warc(b"", f"dns:h{n}", "resource") for n in range(9)))
    [found] = audit(archive)["archives"]
    assert found["dropped"] == {"capture.scheme.dns": 9}
    assert found["examples"] == {"capture.scheme.dns": [f"dns:h{n}" for n in range(5)]}


def test_references_that_are_no_links_have_examples(tmp_path: Path) -> None:
    archive, body = tmp_path / "a.warc", b"".join(b'<a href="http://[%d">' % n for n in range(9))
    archive.write_bytes(page(b'<a href="mailto:a@h"><a href="/b">' + body, "http://h/"))
    [found] = audit(archive)["archives"]
    assert found["dropped"] == {"invalid": 9, "scheme.mailto": 1}
    expected = {"invalid": [f"http://[{n}" for n in range(5)], "scheme.mailto": ["mailto:a@h"]}
    assert found["examples"] == expected


def test_nothing_in_an_archive_steers_a_terminal(tmp_path: Path) -> None:
    archive = tmp_path / "a\x1b[2J\n[red].warc"
    uris = [
        "dns:\x1b]0;x\x07",
        "http://h\x1b[31m/",
        "http://[bold]/",
        "ht\x1btp:x",
        "\u202ehttp://h/",
    ]
    archive.write_bytes(b"".join(page("x", uri) for uri in uris) + b"\x1b[2Jgarbage")
    said = ok("inspect", archive, *QUIET)  # which looks for what steers
    assert "[red].warc" in said.out
    assert audit(archive)["archives"][0]["path"] == str(archive)


def test_lists_are_bounded_and_say_so() -> None:
    few, out = inspection.Inspection(max_damage=2), StringIO()
    with (DAMAGED / "bad-lengths.arc.gz").open("rb") as stream:
        few.add(extract(stream, "bad-lengths.arc.gz", ExtractionOptions(), few.counters))
    writer = InspectionWriter(out, "1", {})
    writer.add(few)
    writer.end(inspection.Total())
    [found] = json.loads(out.getvalue())["archives"]
    assert found["damage"]["count"] == 3
    assert len(found["damage"]["places"]) == 2
    assert found["damage"]["not_listed"] == 1
    hosts = inspection.Hosts(2)
    for host in ("a", "b", "c", "b", "x" * 300):
        hosts.add(host)
    assert hosts.top(9) == [("b", 2), ("a", 1)]
    assert hosts.more == 2


def test_the_tables_tell_what_the_json_tells(tmp_path: Path) -> None:
    output = tmp_path / "audit.json"
    said = ok("inspect", AUT, LOOPBACK, "--json", output, *QUIET).out
    total = json.loads(output.read_text())["total"]
    for count in (total["links"]["count"], total["captures"]["count"], total["records"]["count"]):
        assert f"{count:,}" in said
    for section in ("records by type", "captures by status", "links by hop", "left out"):
        assert f"\n{section}\n" in said
    assert "WARC/0.17 gzip" in said
    assert "\ndamage\n" not in said  # nothing to tell
    assert not [line for line in said.splitlines() if line != line.rstrip()]


def test_an_output_is_no_input(tmp_path: Path) -> None:
    archive = Path(shutil.copy(LOOPBACK, tmp_path))
    assert crawlrank("inspect", archive, "--json", archive).code == 2
    assert archive.read_bytes() == LOOPBACK.read_bytes()


NAMES = {
    "archive": "path error format",
    "total": "archives failed damaged",
    "both": "size inflated seconds records captures hosts documents links dropped skipped"
    " without_key metadata examples damage",
}


def test_the_schema_is_the_one_that_is_documented() -> None:
    """Programs read these names: a change here needs another schema, and its line in the docs."""
    found = audit(LOOPBACK, TRUNCATED)
    assert set(found) == {"schema", "version", "options", "archives", "total"}
    assert found["schema"] == "crawlrank-inspect-1"
    both = NAMES["both"].split()
    assert sorted(found["archives"][0]) == sorted(NAMES["archive"].split() + both)
    assert sorted(found["total"]) == sorted(NAMES["total"].split() + both)
    page = (ROOT / "docs" / "inspect.md").read_text()
    inner = ("format", "captures", "hosts", "links", "damage", "records")
    names = {*found, *found["options"], *found["archives"][0], *found["total"]}
    for name in inner:
        names |= set(found["archives"][0][name])
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", ["audit.json", "audit"])
def test_a_second_audit_replaces_the_first(name: str, tmp_path: Path) -> None:
    for archives in ((LOOPBACK,), (LOOPBACK, write_warc(tmp_path / "web.warc", WEB))):
        ok("inspect", *archives, "--json", tmp_path / name, *QUIET)
        assert len(json.loads((tmp_path / name).read_text())["archives"]) == len(archives)
    (tmp_path / "folder").mkdir()
    said = crawlrank("inspect", LOOPBACK, "--json", tmp_path / "folder", *QUIET)
    assert said.code == 3
    assert "folder: a folder; expected the name of a file" in said.err
