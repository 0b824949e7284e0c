"""Runs on archives of a web server give what runs on the same files of a disk give."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest
from support.crawls import MORE_WEB, WEB, crawlrank, html, ok, response, write_warc
from support.inputs.archive_samples import each
from support.paths import LOOPBACK, SMALL_ARCHIVES
from support.systems.web_server import WebServer, certificate
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.archive.damage import MAX_RECORD
from crawlrank.jobs.kernel.archive.sources import read_archives
from crawlrank.jobs.kernel.errors import Unreachable
from crawlrank.jobs.kernel.storage.opening import open_binary
from crawlrank.jobs.kernel.storage.web.connections import ALLOW_PRIVATE, BUNDLE, WEB_BYTES
from crawlrank.pipeline.library.calling import WrongUsage
from crawlrank.pipeline.library.command_functions import inspect
from crawlrank.pipeline.workfolder.archive_identity import digest_of

REAL = [SMALL_ARCHIVES / "test__data__example.arc.gz", LOOPBACK]
PRIVATE = "--allow-private"
ALONE = ("--jobs", 1)


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WebServer, Path]]:
    pem, key = certificate(tmp_path_factory.mktemp("certificate"))
    with WebServer((pem, key)).running() as server:
        yield server, pem


@pytest.fixture
def web(secure: tuple[WebServer, Path], monkeypatch: pytest.MonkeyPatch) -> WebServer:
    server, pem = secure
    monkeypatch.setenv(BUNDLE, str(pem))
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # before a fault is tried again
    server.files.clear()
    return server


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("archives")
    with zipfile.ZipFile(folder / "more.wacz", "w") as packed:
        pages = [response(uri, html(targets)) for uri, targets in MORE_WEB.items()]
        packed.writestr("archive/a.warc.gz", each(pages))
    return [*REAL, write_warc(folder / "web b.warc.gz", WEB), folder / "more.wacz"]


def put(web: WebServer, paths: list[Path], **options: object) -> list[str]:
    return [
        web.put("/" + path.name.replace(" ", "%20"), path.read_bytes(), **options) for path in paths
    ]


def precedence(work: Path, *args: object) -> bytes:
    jobs = () if "--jobs" in args else ALONE
    ok("run", *args, "--work", work, "--iterations", 2, "--no-validate", "--quiet", *jobs)
    return (work / "precedence.txt").read_bytes()


@pytest.fixture(scope="module")
def on_files(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The precedence file of a run on the archives as files."""
    return precedence(tmp_path_factory.mktemp("on-files") / "work", *archives)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runner", "ranges"),
    [
        *(("embedded", True), ("inline", False)),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in (
            ("embedded", False), ("inline", True), ("local", True),
        )),
    ],
)  # fmt: skip
def test_a_run_on_https_archives_is_that_on_files(
    web: WebServer,
    archives: list[Path],
    on_files: bytes,
    tmp_path: Path,
    runner: str,
    ranges: bool,
) -> None:
    """With processes of its own, as each has to be told what is allowed and trusted."""
    urls = put(web, archives, ranges=ranges)
    how = ("--runner", runner, "--jobs", 2)
    assert on_files == precedence(tmp_path / "there", *urls, PRIVATE, *how)
    entries = manifest_of(tmp_path / "there")["archives"].values()
    assert sorted(entry["path"] for entry in entries) == sorted(urls)
    assert {entry["size"] for entry in entries} == {path.stat().st_size for path in archives}


@pytest.mark.slow
def test_a_run_through_broken_connections(
    web: WebServer, archives: list[Path], on_files: bytes, tmp_path: Path
) -> None:
    busy = (429, {"Retry-After": "0"})
    urls = put(web, archives, cut=(70_000, 3))
    for served in web.files.values():
        served.before = [busy, (503, {})]
    assert on_files == precedence(tmp_path / "there", *urls, PRIVATE)


def test_ssl_cert_file_is_honoured(
    web: WebServer, secure: tuple[WebServer, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (url,) = put(web, REAL[1:])
    monkeypatch.delenv(BUNDLE)
    said = crawlrank("inspect", url, PRIVATE)
    assert (said.code, "TLS failed" in said.err, BUNDLE in said.err) == (3, True, True)
    monkeypatch.setenv("SSL_CERT_FILE", str(secure[1]))
    ok("inspect", url, PRIVATE)
    monkeypatch.setenv(BUNDLE, certifi.where())  # which takes the place of all others
    said = crawlrank("inspect", url, PRIVATE)
    assert (said.code, "SSL_CERT_FILE does not count" in said.err, BUNDLE in said.err) == (
        3, True, True,
    )  # fmt: skip


def test_all_missing_urls_are_named(web: WebServer, tmp_path: Path) -> None:
    (url,) = put(web, REAL[1:])
    missing = [f"{url}.1", f"{url}.2"]
    said = crawlrank("run", *missing, url, PRIVATE, "--work", tmp_path / "w")
    assert (said.code, "2 of 3 archives cannot be read" in said.err) == (3, True)
    assert all(f"\n  {each}: HTTP status 404" in said.err for each in missing)


@pytest.mark.slow
def test_signatures_are_not_shown(web: WebServer, tmp_path: Path) -> None:
    (url,) = put(web, REAL[1:])
    work, signed = tmp_path / "w", f"{url}?X-Sig=SECRET"
    texts = [crawlrank("run", f"{url}.no?X-Sig=SECRET", PRIVATE, "--work", work)]
    texts.append(crawlrank("run", signed, PRIVATE, "--work", work, "-v"))
    assert texts[-1].code == 0, texts[-1]
    texts += [ok("status", "--work", work), ok("status", "--work", work, "--json", "-")]
    texts += [ok("report", "--work", work, "--json", "-"), ok("inspect", signed, PRIVATE)]
    texts += [ok("inspect", signed, PRIVATE, "--json", "-")]
    texts += [crawlrank("run", REAL[0], "--work", work)]
    assert not [said for said in texts if "SECRET" in said.out + said.err]


def test_private_addresses_need_the_option(web: WebServer) -> None:
    (url,) = put(web, REAL[1:])
    said = crawlrank("inspect", url)
    assert (said.code, "--allow-private" in said.err) == (3, True)
    ok("inspect", url, PRIVATE)
    assert crawlrank("inspect", url).code == 3  # what was allowed is not allowed for ever
    assert crawlrank("inspect", url, PRIVATE, "--jobs", "none").code == 2
    assert crawlrank("inspect", url).code == 3  # nor where another option is wrong
    with pytest.raises(WrongUsage):
        inspect([url], allow_private=True, jobs="none")  # type: ignore[arg-type]
    assert crawlrank("inspect", url).code == 3


def test_a_wacz_is_read_by_ranges(web: WebServer, tmp_path: Path) -> None:
    """Also after a large entry that is no archive."""
    packed = tmp_path / "large.wacz"
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("archive/a.warc.gz", each([response("http://h/", html(["/a", "/b"]))]))
        file.writestr("pages/screenshots", b"x" * 6_000_000)
        file.writestr("archive/b.warc.gz", each([response("http://h/a", html(["/"]))]))
    (url,) = put(web, [packed])
    web.asked.clear()
    ok(
        "step",
        "extract-links",
        url,
        PRIVATE,
        "--output",
        tmp_path / "l",
        "--captures",
        tmp_path / "c.tsv",
    )
    assert len((tmp_path / "c.tsv").read_text().splitlines()) == 2


def test_an_archive_that_has_changed_is_noticed(web: WebServer, tmp_path: Path) -> None:
    work, path = tmp_path / "work", write_warc(tmp_path / "web.warc", WEB)
    (url,) = put(web, [path])
    ok("run", url, PRIVATE, "--work", work, "--no-validate")
    (entry,) = manifest_of(work)["archives"].values()
    assert entry["modified"] == 1445412480 * 10**9
    assert entry["pieces"]
    web.asked.clear()
    ok("run", url, PRIVATE, "--work", work, "--no-validate")
    assert len(web.asked) == 1  # a glance, and nothing is read
    before = path.read_bytes()
    changed = before.replace(b"/news/2", b"/news/1")
    assert (len(changed), changed != before) == (len(before), True)
    web.put("/web.warc", changed, etag='"2"')
    said = crawlrank("run", url, PRIVATE, "--work", work)
    assert (said.code, "has changed" in said.err) == (3, True)
    web.put("/web.warc", before, etag='"3"', modified="Thu, 22 Oct 2015 07:28:00 GMT")
    ok("run", url, PRIVATE, "--work", work, "--no-validate")  # served anew, with the same bytes
    ok("run", path, "--work", work, "--no-validate")  # and downloaded


def test_an_archive_that_changes_while_it_is_read(web: WebServer, tmp_path: Path) -> None:
    path = write_warc(tmp_path / "web.warc.gz", WEB)
    (url,) = put(web, [path])
    served = web.files["/web.warc.gz"]
    served.cut = (200, 1)
    work = tmp_path / "work"
    ok("run", url, PRIVATE, "--work", work, "--no-validate")
    served.cut, served.then = (200, 1), type(served)(path.read_bytes(), '"2"')
    said = crawlrank("run", url, PRIVATE, "--work", tmp_path / "other")
    assert (said.code, "has changed while it was read" in said.err) == (3, True)


def test_a_server_that_fails_is_no_damage_of_a_wacz(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damage is passed over, and a run would continue without what could not be read."""
    noise = random.Random(3)
    with zipfile.ZipFile(tmp_path / "x.wacz", "w") as packed:
        for name in ("a", "b", "c"):
            body = noise.randbytes(700_000)
            packed.writestr(f"archive/{name}.warc.gz", each([response(f"http://h/{name}", body)]))
    (url,) = put(web, [tmp_path / "x.wacz"])
    monkeypatch.setenv(ALLOW_PRIVATE, "1")
    with open_binary(url) as file:
        kinds = []
        with pytest.raises(Unreachable, match="5 times in a row"):
            for archive in read_archives(file, "x.wacz", max_record=MAX_RECORD):
                for item in archive.items:
                    kinds.append(type(item).__name__)
                    web.files["/x.wacz"].cut = (100, 99)
        assert kinds == ["Record"]


@pytest.mark.slow
@pytest.mark.parametrize("runner", ["embedded", "inline"])
def test_a_server_that_fails_costs_no_other_archive(
    web: WebServer, archives: list[Path], on_files: bytes, tmp_path: Path, runner: str
) -> None:
    urls, work = put(web, archives), tmp_path / "work"
    more, whole = web.files["/more.wacz"], archives[-1].read_bytes()
    more.cut = (10, 5)  # the glance at it
    args = (*urls, PRIVATE, "--runner", runner)
    said = crawlrank("run", *args, "--work", work, "--iterations", 2, *ALONE)
    assert (said.code, "more.wacz" in said.err, "5 times in a row" in said.err) == (3, True, True)
    assert more.data == whole
    assert precedence(work, *args) == on_files


@pytest.mark.slow
def test_a_multi_wacz(web: WebServer, archives: list[Path], tmp_path: Path) -> None:
    packed = archives[-1]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/more.wacz").write_bytes(packed.read_bytes())
    web.put("/c/sub/more.wacz", packed.read_bytes())
    other = write_wacz(tmp_path / "other.wacz", WEB)
    (there,) = put(web, [other])
    resources = [{"path": "sub/more.wacz"}, {"url": there, "hash": "sha256:0"}]
    text = json.dumps({"profile": "multi-wacz-package", "resources": resources})
    (tmp_path / "all.json").write_text(text)
    url = web.put("/c/all.json", text.encode())
    expected = precedence(tmp_path / "here", packed, other)
    for where, name in (("https", url), ("disk", tmp_path / "all.json")):
        assert precedence(tmp_path / where, name, PRIVATE) == expected


def write_wacz(path: Path, pages: dict[str, list[str]]) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        records = [response(uri, html(targets)) for uri, targets in pages.items()]
        packed.writestr("archive/a.warc.gz", each(records))
    return path


@pytest.mark.slow
def test_a_list_of_common_crawl(
    web: WebServer, archives: list[Path], on_files: bytes, tmp_path: Path
) -> None:
    names = [path.name.replace(" ", "%20") for path in archives]
    put(web, archives)
    listed = web.put("/warc.paths.gz", gzip.compress("\n".join(names).encode()))
    given = ("--archives-from", listed, "--prefix", web.url("/"), PRIVATE)
    assert precedence(tmp_path / "there", *given) == on_files


def test_folders_of_the_web_and_clusters(web: WebServer, tmp_path: Path) -> None:
    said = crawlrank("inspect", web.url("/crawl/"), PRIVATE)
    assert (said.code, "cannot be listed" in said.err) == (3, True)
    (url,) = put(web, REAL[1:])
    cluster = ("--runner", "hadoop", "--data", f"file://{tmp_path}/data")
    said = crawlrank("run", url, PRIVATE, "--work", tmp_path / "w", *cluster)
    assert (said.code, "https://" in said.err, "s3://" in said.err) == (3, True, True)


def test_a_digest_counts_no_records(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive that is only compared may be larger than what passes without a record."""
    monkeypatch.setenv(ALLOW_PRIVATE, "1")
    monkeypatch.setenv(WEB_BYTES, str(1 << 20))
    data = random.Random(1).randbytes(3 << 20)
    assert digest_of(web.put("/a", data)) == hashlib.blake2b(data, digest_size=16).hexdigest()
