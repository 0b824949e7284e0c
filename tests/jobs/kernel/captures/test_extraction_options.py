"""Options of extraction, from the command line to the job and back into counters."""

from __future__ import annotations

from pathlib import Path

from support.crawls import INLINE, ok
from support.inputs.archive_samples import page

from crawlrank.jobs.extract_links import ExtractLinks
from crawlrank.jobs.kernel.captures.extraction_options import ExtractionOptions
from crawlrank.pipeline.workfolder.archives import extraction_mark

HTML = "<a href=l><a href=n rel=nofollow><img src=e><form action=x></form>"


def links(tmp_path: Path, *options: str) -> list[str]:
    archive, output = tmp_path / "a.warc", tmp_path / f"{len(list(tmp_path.iterdir()))}.txt"
    archive.write_bytes(page(HTML, "http://h/"))
    captures = output.with_suffix(".captures.txt")
    ok(
        "step",
        "extract-links",
        archive,
        "--output",
        output,
        "--captures",
        captures,
        *options,
        *INLINE,
    )
    return [" ".join(line.split()[::2]) for line in output.read_text().splitlines()]


def test_the_command_hands_them_on(tmp_path: Path) -> None:
    assert links(tmp_path) == ["http://h/l L", "http://h/n L"]
    assert links(tmp_path, "--nofollow", "drop") == ["http://h/l L"]
    assert links(tmp_path, "--max-links-per-page", "1") == ["http://h/l L"]
    everything = ["http://h/e E", "http://h/l L", "http://h/n L"]
    assert sorted(links(tmp_path, "--links", "all")) == everything
    more = links(tmp_path, "--links", "all", "--forms", "--pdf")
    assert sorted(more) == [*everything, "http://h/x X"]


OTHER = ExtractionOptions(
    "both",
    "all",
    "drop",
    True,
    True,
    2**20,
    7,
    timestamps=True,
    canonical=True,
    anchor_text=True,
    words_around=True,
    validators=True,
    titles=True,
)


def test_the_job_takes_what_the_pipeline_gives() -> None:
    assert OTHER.arguments() == [
        *("--forms", "--pdf", "--timestamps", "--canonical", "--anchor-text", "--words-around"),
        *("--validators", "--titles"),
        *("--outlinks", "both", "--links", "all", "--nofollow", "drop"),
        *("--max-record", "1048576", "--max-links-per-page", "7"),
    ]
    for options in (ExtractionOptions(), OTHER):
        assert ExtractLinks(options.arguments()).extraction() == options


def test_every_option_marks_an_extraction() -> None:
    for name in ExtractionOptions._fields:
        changed = ExtractionOptions()._replace(**{name: getattr(OTHER, name)})
        marks = {
            extraction_mark(options, "x", "text") for options in (changed, ExtractionOptions())
        }
        assert len(marks) == 1 + (name != "bodies")


def test_folders_made_before_there_were_some_options_stay_good() -> None:
    later = {"--timestamps", "--canonical", "--anchor-text", "--words-around"}
    later |= {"--validators", "--titles"}
    assert not later & ExtractionOptions().parameters().keys()
