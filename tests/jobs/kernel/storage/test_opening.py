"""Archives on S3: the same from there as from a disk. The server is moto's, on loopback."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.crawls import INLINE, WEB, write_warc
from support.inputs.archive_samples import each, page
from support.work_folders import manifest_of

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import (
    absolute,
    as_path_or_url,
    is_url,
    open_binary,
    real,
    size_of,
)
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.workfolder.archives import given_archives
from crawlrank.pipeline.workfolder.finding import find_archives
from crawlrank.pipeline.workfolder.manifest import file_fingerprint

ODD = "a b/x#y?z%20+é.warc.gz"


def put(client: Any, key: str, path: Path) -> str:
    client.put_object(Bucket="crawl", Key=key, Body=path.read_bytes())
    return f"s3://crawl/{key}"


def run(*args: object) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.output


def test_urls_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_url("s3://a/b")
    assert not any(map(is_url, ("s3:/a", "a/s3://b", Path("s3://a"))))
    assert (
        absolute("s3://a/../b")
        == real("s3://a/../b")
        == as_path_or_url("s3://a/../b")
        == "s3://a/../b"
    )
    assert as_path_or_url("a") == Path("a")
    assert absolute("a") == str(tmp_path / "a")
    Path("a").symlink_to("b")
    assert real("a") == real(Path("b"))


@pytest.mark.few(1)
@pytest.mark.parametrize("key", ["x.warc.gz", ODD])
def test_an_object_is_as_a_file(bucket: Any, tmp_path: Path, key: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(bytes(range(256)) * 80_000)
    url = put(bucket, key, path)
    assert size_of(url) == size_of(path) == path.stat().st_size
    assert file_fingerprint(url) == file_fingerprint(path)
    with open_binary(url) as there, open_binary(path) as here:
        for begin, count in ((0, 9), (20_000_000, 10**6), (5, 2**24), (10**9, 1), (7, 7)):
            there.seek(begin)
            here.seek(begin)
            assert there.read(count) == here.read(count)


@pytest.mark.few(2)
@pytest.mark.parametrize("url", ["s3://crawl/no", "s3://no-bucket/x", "s3://", "s3://crawl"])
def test_what_is_not_there(bucket: Any, tmp_path: Path, url: str) -> None:
    with pytest.raises(OSError):
        open_binary(url)
    result = CliRunner().invoke(main, ["run", url, "--work", str(tmp_path / "w")])
    assert result.exit_code == 3
    assert url in result.output.replace("\n", "")
    assert "Traceback" not in result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "endpoint", "why"),
    [
        ("s3://bucket/a.warc.gz", "http://127.0.0.1:9", "nothing answers"),
        *(
            pytest.param(url, *told, marks=pytest.mark.slow)
            for url, *told in (
                ("s3://bucket/a/", "http://no.invalid", "no known address"),
                ("s3://bucket", "http://127.0.0.1:9", "nothing answers"),
                ("s3://bucket/a/", "http://127.0.0.1:9", "nothing answers"),
                ("s3://bucket/a.warc.gz", "http://no.invalid", "no known address"),
                ("s3://bucket", "http://no.invalid", "no known address"),
            )
        ),
    ],
)
def test_a_store_that_cannot_be_reached(
    url: str, endpoint: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (
        ("ENDPOINT_URL", endpoint),
        ("REGION", "x"),
        ("MAX_ATTEMPTS", "1"),
        ("ACCESS_KEY_ID", "x"),
        ("SECRET_ACCESS_KEY", "x"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    result = CliRunner().invoke(main, ["run", url, "--work", str(tmp_path / "w")])
    assert result.exit_code == 3
    assert f"{url}: cannot be " in result.output
    assert why in result.output and "the host of the store" in result.output
    assert "; expected " in result.output and "Look at bucket or host" in result.output
    assert "curl" not in result.output


def test_hdfs_without_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hdfs_native.fsspec", None)
    for url in ("hdfs://h/x.warc.gz", "hdfs://h/crawl/"):
        result = CliRunner().invoke(main, ["run", url, "--work", str(tmp_path / "w")])
        assert result.exit_code == 3
        assert "hdfs:// is read with fsspec and hdfs-native" in result.output
        assert "Install it with `" in result.output and ".." not in result.output


@pytest.mark.parametrize("runner", ["inline", pytest.param("local", marks=pytest.mark.slow)])
def test_extraction_from_s3(bucket: Any, tmp_path: Path, runner: str) -> None:
    path = write_warc(tmp_path / "web.warc.gz", WEB)
    packed = tmp_path / "web.wacz"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("archive/a.warc.gz", each([page("<a href=a>", "http://in.zip/")]))
    urls = [put(bucket, "web.warc.gz", path), put(bucket, "some/web.wacz", packed)]
    for name, archives in (("there", urls), ("here", [path, packed])):
        output = ["--output", tmp_path / f"{name}.txt", "--captures", tmp_path / f"{name}.tsv"]
        run("extract-links", *archives, *output, "--runner", runner)
    for kind in ("txt", "tsv"):
        assert (tmp_path / f"there.{kind}").read_bytes() == (tmp_path / f"here.{kind}").read_bytes()
    assert b"\tweb.wacz!archive/a.warc.gz\t0\t-\t-\n" in (tmp_path / "there.tsv").read_bytes()


def test_a_run_from_s3_goes_on_with_copies_on_disk(bucket: Any, tmp_path: Path) -> None:
    path = write_warc(tmp_path / "web.warc.gz", WEB)
    url, work = put(bucket, ODD, path), tmp_path / "work"
    run("run", url, "--work", work, "--jobs", 1)
    manifest = manifest_of(work)
    (entry,) = manifest["archives"].values()
    assert (entry["path"], entry["size"], entry["error"]) == (url, path.stat().st_size, None)
    for given in (path, url):
        run("run", given, "--work", work, "--jobs", 1)
    assert list(given_archives([url, path]).values()) == [url]
    bucket.put_object(Bucket="crawl", Key=ODD, Body=path.read_bytes() + each([page("x")]))
    result = CliRunner().invoke(main, ["run", url, "--work", str(work)])
    assert (result.exit_code, "has changed" in result.output) == (3, True)


def test_a_url_with_control_characters(bucket: Any, tmp_path: Path) -> None:
    url = put(bucket, "a\tb", write_warc(tmp_path / "web.warc.gz", WEB))
    run("run", url, "--work", tmp_path / "embedded", "--jobs", 1)
    result = CliRunner().invoke(main, ["run", url, "--work", str(tmp_path / "w"), *INLINE])
    assert (result.exit_code, "control characters" in result.output) == (3, True)


@pytest.mark.slow
def test_folders_and_globs_of_s3(bucket: Any, tmp_path: Path) -> None:
    path = write_warc(tmp_path / "web.warc.gz", WEB)
    for key in ("c/a.warc.gz", "c/deep/b.arc.gz", "c/deep/crawl.log", "c2/d.warc", ODD):
        put(bucket, key, path)

    def found(*urls: str) -> list[str]:
        return [str(url).removeprefix("s3://crawl/") for url in find_archives(urls).archives]

    assert found("s3://crawl/c") == found("s3://crawl/c/") == ["c/a.warc.gz", "c/deep/b.arc.gz"]
    assert found("s3://crawl/c/*.gz", "s3://crawl/c?/*") == ["c/a.warc.gz", "c2/d.warc"]
    assert found("s3://crawl/c/**/*b*") == ["c/deep/b.arc.gz"]
    assert found(f"s3://crawl/{ODD}") == [ODD]
    (tmp_path / "list").write_text("s3://crawl/c\n")
    run("run", "--archives-from", tmp_path / "list", "--work", tmp_path / "work", "--jobs", 1)
    for url in ("s3://crawl/none", "s3://none/", "s3://crawl/c/*.zip"):
        with pytest.raises(BadInput):
            find_archives([url])
