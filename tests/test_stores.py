"""Files at URLs are written as they are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from jobs import stores


@pytest.mark.parametrize("name", ["x", "x.tar.gz", "x.bz2", "x.zst", "x.lz4"])
def test_a_name_that_says_compressed_changes_no_byte(name: str, tmp_path: Path) -> None:
    """Arrow would compress once more what is written to such a name."""
    data = gzip.compress(b"lines\n" * 1000)
    (tmp_path / "given").write_bytes(data)
    url = f"file://{tmp_path}/folder/{name}"
    stores.upload(tmp_path / "given", url)
    assert (tmp_path / "folder" / name).read_bytes() == data
    assert stores.read(url) == data
