"""Programs of others that scripts run: fetched by Maven from Maven Central and by npm from its
registry, or the mirrors that they are set up with, checked, and kept in a cache of the user's
(`CRAWLRANK_CACHE`, default ~/.cache/crawlrank)."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

FETCHING = 600  # seconds


class Unavailable(RuntimeError):
    """A program or what it needs cannot be had; the message says what to do."""


def cache() -> Path:
    return Path(os.environ.get("CRAWLRANK_CACHE") or Path.home() / ".cache" / "crawlrank")


NEEDED = {
    "npm": "npm is needed to fetch with (Debian: apt-get install npm)",
    "chromium": "Chromium is needed (Debian: apt-get install chromium)",
}
JAVA = (
    "a JDK of version 17 or later is needed, and Maven to fetch with"
    " (Debian: apt-get install default-jdk-headless maven)"
)


def program(name: str) -> str:
    """The path of a program; raises Unavailable."""
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"no {name} on this machine: {NEEDED.get(name, JAVA)}")
    return path


def maven(what: str, arguments: Sequence[str], folder: Path) -> None:
    """Run Maven in a folder; raises Unavailable with its last words. what: for the message."""
    command = [program("mvn"), "-B", "-q", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCHING)
    if done.returncode:
        raise Unavailable(f"Maven cannot fetch {what}:\n{(done.stdout + done.stderr)[-1000:]}")


def appear(made: Path, home: Path) -> None:
    """By rename: another process may have been faster."""
    try:
        made.rename(home)
    except OSError:
        if not home.is_dir():
            raise


def npm_member(package: str, version: str, member: str, sha256: str) -> bytes:
    """A file of a package of npm; raises Unavailable where it is not that of the digest."""
    kept = cache() / "npm" / f"{sha256}-{Path(member).name}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as tmp:
            content = packed_member(f"{package}@{version}", member, Path(tmp))
            actual = hashlib.sha256(content).hexdigest()
            if actual != sha256:
                raise Unavailable(f"{member} of {package}@{version} has the SHA-256 {actual}")
            made = Path(tmp) / "made"
            made.write_bytes(content)
            made.replace(kept)
    return kept.read_bytes()


def packed_member(package: str, member: str, folder: Path) -> bytes:
    command = [program("npm"), "pack", "--silent", package]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=FETCHING)
    if done.returncode:
        raise Unavailable(f"npm cannot fetch {package}:\n{(done.stdout + done.stderr)[-1000:]}")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as files:
        content = files.extractfile(f"package/{member}")
        assert content is not None, f"{member} is no file"
        return content.read()
