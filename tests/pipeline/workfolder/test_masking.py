"""Arguments as they are kept: no password and no query of a URL, and all else as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlrank.pipeline.terminal.text import masked

NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-_", min_size=1)
SECRETS = st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ+%:;&=~!$", min_size=1)


@given(NAMES, SECRETS, NAMES, NAMES, SECRETS, st.sampled_from("?#"))
def test_secrets_of_urls_go(
    before: str, password: str, host: str, path: str, query: str, sign: str
) -> None:
    """Secrets are of signs that nothing else has here."""
    text = f"{before} --archives-from=https://{before}:{password}@{host}/{path}{sign}{query} {path}"
    hidden = masked(text)
    assert hidden == f"{before} --archives-from=https://***@{host}/{path}{sign}*** {path}"
    assert masked(hidden) == hidden


@pytest.mark.parametrize(
    "text",
    [
        "crawl/*.warc.gz", "what?.warc", "a@b.c", "s3://bucket/crawl-??.warc.gz", "user:pw@host",
        "https://host:8080/a/b.warc.gz", "hdfs://node:9000/a?/b", "https://host/a@b", "--bins=5",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("s3://b/a.warc?access_key=A&secret_key=B", "s3://b/a.warc?***"),
        ("HTTPS://u@h/x", "HTTPS://***@h/x"),
        ("https://u:p@w@h/x", "https://***@h/x"),
        ("'https://h/x?a' (404)", "'https://h/x?***' (404)"),
    ],
)
def test_forms_of_urls(text: str, kept: str) -> None:
    assert masked(text) == kept
