"""Hadoop's five servers: how each is started, and when all of them are ready."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.request import ProxyHandler, build_opener

from hadoop.node import Node

SERVERS = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
    "historyserver": "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
}
OPTIONS = ("-Xmx384m", "--add-opens=java.base/java.lang=ALL-UNNAMED")  # for Guice, in YARN's
NAMES = "http://127.0.0.1:9870/jmx?qry=Hadoop:service=NameNode,name="
NODES = "http://127.0.0.1:8088/ws/v1/cluster/metrics"
HISTORY = ("127.0.0.1", 10020)


def command(node: Node, name: str) -> list[str]:
    return [*java(node), SERVERS[name]]


def formatting(node: Node) -> list[str]:
    """The command that makes an empty HDFS; refused by Hadoop where there is one."""
    return [*java(node), SERVERS["namenode"], "-format", "-nonInteractive"]


def formatted(node: Node) -> bool:
    return (node.var / "names" / "current" / "VERSION").is_file()


def java(node: Node) -> list[str]:
    temporary = f"-Djava.io.tmpdir={node.var / 'tmp'}"
    return ["java", f"@{node.conf / 'java.args'}", *OPTIONS, temporary]


def ready() -> bool:
    """Whether HDFS can be written, a node takes containers, and the history is there."""
    try:
        state = _beans("FSNamesystemState")["NumLiveDataNodes"]
        safe = _beans("NameNodeInfo")["Safemode"]
        nodes = _get(NODES)["clusterMetrics"]["activeNodes"]
        socket.create_connection(HISTORY, timeout=1).close()
    except (OSError, ValueError, LookupError):
        return False
    return bool(state == 1 and safe == "" and nodes == 1)


def _beans(name: str) -> Any:
    return _get(NAMES + name)["beans"][0]


def _get(url: str) -> Any:
    with build_opener(ProxyHandler({})).open(url, timeout=2) as answer:
        return json.load(answer)
