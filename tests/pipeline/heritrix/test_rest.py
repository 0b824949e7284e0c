"""What the client of Heritrix's REST interface refuses before it asks anybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.heritrix.rest import LOGIN, HeritrixEngine, Login, read_login


def test_a_login_is_read_from_a_file_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "login"
    file.write_text("admin:with:colon\nmore\n")
    monkeypatch.setenv(LOGIN, "other:word")
    assert read_login(file) == Login("admin", "with:colon")
    assert read_login(None) == Login("other", "word")


@pytest.mark.parametrize("text", ["", "admin", ":word", "admin:", "\nadmin:word"])
def test_no_login(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "login"
    file.write_text(text)
    monkeypatch.delenv(LOGIN, raising=False)
    for path in (file, None):
        with pytest.raises(BadInput, match="no user and password"):
            read_login(path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_login(tmp_path / "none")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8443", "127.0.0.1:8443", "https://", "file:///x"]
)
def test_only_https(url: str) -> None:
    with pytest.raises(BadInput, match="no address of Heritrix's console"):
        HeritrixEngine(url, Login("a", "b"))


def test_nobody_answers() -> None:
    engine = HeritrixEngine("https://127.0.0.1:9", Login("a", "b"), is_trusted=True)
    with pytest.raises(BadInput, match=r"https://127.0.0.1:9/engine: no answer"):
        engine.job("x")
