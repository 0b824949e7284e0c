"""Media types are input: each is counted, and no archive can make more names than a few."""

from __future__ import annotations

from support.inputs.archive_samples import extracted, warc

from crawlrank.jobs.kernel.captures.counters import MAX_TYPES


def types(*media_types: str) -> dict[str, int]:
    """How often each is counted, in an archive with a capture of each of them."""
    data = b"".join(warc(b"x", kind="resource", media_type=each) for each in media_types)
    counters = extracted(data)[3]
    assert sum(counters[f"captures.status.{status}"] for status in ("-", "200")) == len(media_types)
    return {
        name.removeprefix("captures.type."): count
        for name, count in counters.items()
        if name.startswith("captures.type.")
    }


def test_a_type_is_counted_without_case_and_parameters() -> None:
    found = types("text/html", "TEXT/HTML; charset=utf-8", "image/svg+xml", "")
    assert found == {"text/html": 2, "image/svg+xml": 1, "-": 1}


def test_what_is_no_type_is_other() -> None:
    assert types("html", "\x1b[2Jx/y", "a b/c", "x/" + "y" * 200, "text/\u202ehtml") == {"other": 5}


def test_their_number_is_bounded() -> None:
    found = types(*(f"text/x{number}" for number in range(1000)), "text/x3", "text/x999")
    assert len(found) == MAX_TYPES + 1
    assert found["text/x3"] == 2
    assert sum(found.values()) == 1002
