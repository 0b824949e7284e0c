"""The jars of Hadoop that run here: one version, each jar checked, in a cache of the user's.

Hadoop's own archive has a gigabyte of what a single node needs not; Maven gives the jars that the
servers name. jars.sha256, beside this file, has what they were when they were last chosen.
"""

from __future__ import annotations

from pathlib import Path

from fetching import cache, fetch_jars, made_once

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
        artifacts = [f"org.apache.hadoop:{name}:{VERSION}" for name in ARTIFACTS]
        with made_once(home) as folder:
            fetch_jars(f"Hadoop {VERSION}", artifacts, SUMS, folder)
    make_archive(home)
    return home
