"""The jars of Hadoop that run here: one version, each jar checked, in a cache of the user's.

Hadoop's own archive has a gigabyte of what a single node needs not; Maven gives the jars that the
servers name. jars.sha256, beside this file, has what they were when they were last chosen.
"""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from fetching import Unavailable, appear, cache, maven

from hadoop.machine import make_archive

VERSION = "3.4.2"
ARTIFACTS = (
    "hadoop-common",
    "hadoop-hdfs",
    "hadoop-hdfs-client",
    "hadoop-yarn-server-resourcemanager",
    "hadoop-yarn-server-nodemanager",
    "hadoop-yarn-server-timelineservice",  # the ResourceManager looks for a class of it
    "hadoop-mapreduce-client-app",
    "hadoop-mapreduce-client-jobclient",
    "hadoop-mapreduce-client-shuffle",
    "hadoop-mapreduce-client-hs",
    "hadoop-streaming",
)
SUMS = Path(__file__).with_name("jars.sha256")
DEPENDENCY = """
    <dependency>
      <groupId>org.apache.hadoop</groupId><artifactId>{}</artifactId><version>{}</version>
    </dependency>"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>crawlrank</groupId><artifactId>one-node</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencies>{}
  </dependencies>
</project>
"""


def hadoop_home() -> Path:
    """The folder that has, or is to have, the jars in lib/."""
    return cache() / f"hadoop-{VERSION}"


def install() -> Path:
    """Fetch the jars, check them and put them in their folder, unless it is there; archive their
    classes for the Java of this machine, unless that is done.

    Raises Unavailable.
    """
    home = hadoop_home()
    if not home.is_dir():
        cache().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache()) as scratch:
            fetched = Path(scratch)
            _fetch(fetched)
            check(fetched / "home" / "lib")
            appear(fetched / "home", home)
    make_archive(home)
    return home


def check(lib: Path, sums: Path = SUMS) -> None:
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


def _fetch(folder: Path) -> None:
    dependencies = "".join(DEPENDENCY.format(name, VERSION) for name in ARTIFACTS)
    (folder / "pom.xml").write_text(POM.format(dependencies))
    output = f"-DoutputDirectory={folder / 'home' / 'lib'}"
    copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", output]
    maven(f"Hadoop {VERSION}", copy, folder)
