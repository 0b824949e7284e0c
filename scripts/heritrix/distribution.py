"""The distribution of Heritrix that crawls here: one version, checked, in a cache of the user's.

Maven fetches it from Maven Central, through whatever mirror it is set up with. `CRAWLRANK_CACHE`
names the cache (default: ~/.cache/crawlrank); `CRAWLRANK_HERITRIX_ZIP` a file fetched before.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from pathlib import Path

from fetching import Unavailable, cache, made_once, maven, program

VERSION = "3.13.0"
ARTIFACT = f"org.archive.heritrix:heritrix:{VERSION}:zip:dist"
FILE = f"heritrix-{VERSION}-dist.zip"
# Maven Central gives the sha1 36e17b8779cc649cf0a5aad349a50e99ba2b7042 for the same bytes.
SHA256 = "3376c6ecec719e79df4d97d4c3fd1d55b4300747b9a14355fd635bebc794ac0a"


def heritrix_home() -> Path:
    """The folder of the distribution, with lib/ in it; fetched and unpacked when it is not there.

    Raises Unavailable.
    """
    home = cache() / f"heritrix-{VERSION}"
    if not home.is_dir():
        with made_once(home) as folder:
            unpacked = _unpacked(_given() or _fetched(folder), folder / "unpacked")
            unpacked.rename(folder / "home")
    return home


def _given() -> Path | None:
    given = os.environ.get("CRAWLRANK_HERITRIX_ZIP")
    return Path(given) if given else None


def _fetched(folder: Path) -> Path:
    copy = ["dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={folder}"]
    maven(ARTIFACT, copy, folder)
    return folder / FILE


def _unpacked(archive: Path, folder: Path) -> Path:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        raise Unavailable(f"{archive}: SHA-256 {found}, expected {SHA256}: fetch it again")
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)
    (lib,) = folder.glob("**/lib")
    return lib.parent


if __name__ == "__main__":
    try:
        program("java")
        print(heritrix_home())
    except Unavailable as reason:
        sys.exit(str(reason))
