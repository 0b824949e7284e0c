"""How Java is started: its options in a file per node, and classes that are read ready-made.

Each command of Hadoop and each of its tasks is a Java machine of its own, which spends most of its
second on reading and checking classes. An archive of them (application class data sharing) halves
that. It fits one build of Java, and class paths that begin with the very jars that it was made of;
where it does not fit, Java continues without it.

classes.txt.gz lists the classes that servers, clients and tasks loaded under
-XX:DumpLoadedClassList, as far as the jars have them; Java's own list adds its own.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from fetching import program

CLASSES = Path(__file__).with_name("classes.txt.gz")
COLLECTOR = "-XX:+UseSerialGC"  # two cores
OPTIONS = (
    COLLECTOR,
    "-XX:TieredStopAtLevel=1",  # nothing here runs for long
    "-XX:-UsePerfData",
    "-Xlog:cds=off",  # stdout is what mrjob reads
    "-Djava.net.preferIPv4Stack=true",
)
#: of a task, in its own folder: what a job brings with it
BROUGHT = ("./*", "job.jar/job.jar", "job.jar/classes/", "job.jar/lib/*")


def java_home() -> Path:
    """Raises Unavailable."""
    return Path(program("java")).resolve().parent.parent


def archive(home: Path) -> Path:
    """Where the classes are for the Java of this machine, or are to be."""
    release = java_home() / "release"
    build = release.read_bytes() if release.is_file() else bytes(java_home())
    return home / f"classes-{hashlib.sha256(build).hexdigest()[:12]}.jsa"


def make_archive(home: Path) -> None:
    """Unless it is there, or this Java makes none; takes some twenty seconds of a core."""
    place = archive(home)
    if place.is_file():
        return
    with tempfile.TemporaryDirectory(dir=home) as scratch:
        names, made = Path(scratch, "names"), Path(scratch, "made.jsa")
        own = java_home() / "lib" / "classlist"
        text = (own.read_bytes() if own.is_file() else b"") + gzip.decompress(CLASSES.read_bytes())
        names.write_bytes(text)
        command = ["java", "-Xshare:dump", COLLECTOR, f"-XX:SharedClassListFile={names}"]
        command += [f"-XX:SharedArchiveFile={made}", "-cp", os.pathsep.join(jars(home))]
        subprocess.run(command, capture_output=True)
        if made.is_file():
            made.rename(place)


def jars(home: Path) -> list[str]:
    """In one order: the archive's."""
    return sorted(str(jar) for jar in (home / "lib").glob("*.jar"))


def argument_file(home: Path, conf: Path, brought: tuple[str, ...] = ()) -> str:
    """For `java @file`. conf: comes after the jars, for the sake of the archive."""
    class_path = os.pathsep.join([*jars(home), str(conf), *brought])
    lines = [f"-XX:SharedArchiveFile={archive(home)}", *OPTIONS, "-cp", class_path]
    quoted = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return "".join(f'"{line}"\n' for line in quoted)
