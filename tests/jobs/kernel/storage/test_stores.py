"""Files at URLs are written as they are."""

from __future__ import annotations

import gzip
import socket
from pathlib import Path

import pytest

from crawlrank.jobs.kernel.storage import stores


@pytest.mark.parametrize("name", ["x", "x.tar.gz", "x.bz2", "x.zst", "x.lz4"])
def test_a_name_that_says_compressed_changes_no_byte(name: str, tmp_path: Path) -> None:
    """Arrow would compress once more what is written to such a name."""
    data = gzip.compress(b"lines\n" * 1000)
    (tmp_path / "given").write_bytes(data)
    url = f"file://{tmp_path}/folder/{name}"
    stores.upload(tmp_path / "given", url)
    assert (tmp_path / "folder" / name).read_bytes() == data
    assert stores.read(url) == data


def test_a_name_node_that_is_not_there() -> None:
    """It is said at once, where Hadoop's clients try for minutes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"hdfs://127.0.0.1:{free.getsockname()[1]}/data"
    with pytest.raises(OSError, match=r"no name node answers at 127.0.0.1:.*refused"):
        stores.exists(url)
