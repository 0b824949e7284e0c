"""Programs of others that scripts run: fetched by Maven from Maven Central and by npm from its
registry, or the mirrors that they are set up with, checked, and kept in a cache of the user's
(`CRAWLRANK_CACHE`, default ~/.cache/crawlrank)."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
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


DEPENDENCY = """
    <dependency>
      <groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>{}
    </dependency>"""
CLASSIFIER = """
      <classifier>{}</classifier>
      <exclusions>
        <exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>
      </exclusions>"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>crawlrank</groupId><artifactId>programs</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>{}
  </dependencies>
</project>
"""


def fetch_jars(what: str, artifacts: Iterable[str], sums: Path, folder: Path) -> None:
    """Put the jars of artifacts of Maven, and what these need to run, into lib/ of a folder.
    artifacts: GROUP:ARTIFACT:VERSION, or with :CLASSIFIER those without what they need. sums: the
    SHA-256 and the name of each jar.

    Raises Unavailable."""
    dependencies = "".join(map(_dependency, artifacts))
    (folder / "pom.xml").write_text(POM.format(dependencies))
    lib = folder / "home" / "lib"
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={lib}"]
    maven(what, copy, folder)
    check_jars(lib, sums)


def _dependency(artifact: str) -> str:
    group, name, version, *classifier = artifact.split(":")
    more = "".join(CLASSIFIER.format(each) for each in classifier)
    return DEPENDENCY.format(group, name, version, more)


def check_jars(lib: Path, sums: Path) -> None:
    """Raises Unavailable unless the folder has the jars of the file `sums` and no others."""
    rows = [line.split() for line in sums.read_text().splitlines()]
    expected = {name: digest for digest, name in rows}
    found = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in lib.iterdir()}
    wrong = sorted(name for name, _ in expected.items() ^ found.items())
    if wrong:
        name = wrong[0]
        raise Unavailable(
            f"{lib / name}: SHA-256 {found.get(name, 'none, no such file')}, expected "
            f"{expected.get(name, 'no such file')} ({sums}): remove what Maven keeps of it "
            "(~/.m2/repository) and fetch again"
        )


@contextlib.contextmanager
def made_once(home: Path) -> Iterator[Path]:
    """A folder in which `home` is made, which appears then as the cache's folder `home`."""
    cache().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        yield Path(scratch)
        appear(Path(scratch) / "home", home)


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
