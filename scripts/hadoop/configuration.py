"""What Hadoop reads: small, quick, on loopback. Figures are of a machine of two cores.

Settings that are not as usual say why. Paths are written out, for whoever reads them.
"""

from __future__ import annotations

import os
from pathlib import Path
from xml.sax.saxutils import escape

from hadoop.machine import BROUGHT, argument_file, java_home
from hadoop.node import Node

JAVA = "@{conf}/task.args"  # what sets a class path too, so that CLASSPATH is not asked
SOON = "200"  # milliseconds; a container is given at a heartbeat, by default one a second

FILE_SYSTEM = {
    "fs.defaultFS": "hdfs://127.0.0.1:9000",
    "hadoop.tmp.dir": "{var}/tmp",
    "hadoop.security.token.service.use_ip": "true",
}
HDFS = {
    "dfs.replication": "1",
    "dfs.namenode.name.dir": "file://{var}/names",
    "dfs.datanode.data.dir": "file://{var}/blocks",
    "dfs.namenode.http-address": "127.0.0.1:9870",
    "dfs.namenode.secondary.http-address": "127.0.0.1:9868",
    "dfs.datanode.address": "127.0.0.1:9866",
    "dfs.datanode.http.address": "127.0.0.1:9864",
    "dfs.datanode.ipc.address": "127.0.0.1:9867",
    "dfs.namenode.safemode.extension": "0",
    "dfs.permissions.enabled": "false",
    "dfs.blocksize": "16m",  # several blocks, and tasks, of a small file
    # a DataNode is dead after 2 * recheck + 10 * heartbeat, by default ten minutes
    "dfs.heartbeat.interval": "1",
    "dfs.namenode.heartbeat.recheck-interval": "5000",
}
MAPREDUCE = {
    "mapreduce.framework.name": "yarn",
    "mapreduce.application.classpath": "{conf},{home}/lib/*",
    "yarn.app.mapreduce.am.resource.mb": "640",
    "yarn.app.mapreduce.am.command-opts": f"{JAVA} -Xmx384m",
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": SOON,
    "mapreduce.map.memory.mb": "768",
    "mapreduce.reduce.memory.mb": "768",
    "mapreduce.map.java.opts": f"{JAVA} -Xmx300m",
    "mapreduce.reduce.java.opts": f"{JAVA} -Xmx300m",
    "mapreduce.task.io.sort.mb": "64",
    "mapreduce.map.maxattempts": "2",
    "mapreduce.reduce.maxattempts": "2",
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
    "mapreduce.client.completion.pollinterval": "250",
    "mapreduce.client.progressmonitor.pollinterval": "250",
    "mapreduce.jobhistory.address": "127.0.0.1:10020",
    "mapreduce.jobhistory.admin.address": "127.0.0.1:10033",
    "mapreduce.jobhistory.webapp.address": "127.0.0.1:19888",
    "mapreduce.jobhistory.jhist.format": "json",  # mrjob reads no binary one
}
YARN = {
    "yarn.resourcemanager.hostname": "127.0.0.1",
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": SOON,
    "yarn.nodemanager.hostname": "127.0.0.1",
    "yarn.nodemanager.address": "127.0.0.1:8041",
    "yarn.nodemanager.aux-services": "mapreduce_shuffle",
    "yarn.nodemanager.local-dirs": "{var}/containers",
    "yarn.nodemanager.log-dirs": "{logs}/userlogs",  # where mrjob looks for them
    "yarn.nodemanager.resource.memory-mb": "8192",
    "yarn.nodemanager.resource.cpu-vcores": "8",
    "yarn.nodemanager.pmem-check-enabled": "false",
    "yarn.nodemanager.vmem-check-enabled": "false",
    "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
    "yarn.nodemanager.env-whitelist": "JAVA_HOME,HADOOP_HOME,HADOOP_CONF_DIR,PATH,LANG,TZ,{mark}",
    "yarn.nodemanager.heartbeat.interval-ms": SOON,
    "yarn.scheduler.minimum-allocation-mb": "128",
    "yarn.application.classpath": "{conf},{home}/lib/*",
    # by default in /tmp, beside other users' and other clusters'
    "yarn.node-attribute.fs-store.root-dir": "file://{var}/node-attribute",
    # a NodeManager that is gone, and what ran on it; by default after ten minutes
    "yarn.nm.liveness-monitor.expiry-interval-ms": "15000",
    "yarn.am.liveness-monitor.expiry-interval-ms": "60000",  # it takes 20 s to start on a busy one
}
CAPACITY = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
    "yarn.scheduler.capacity.node-locality-delay": "-1",
}
FILES = {
    "core-site.xml": FILE_SYSTEM,
    "hdfs-site.xml": HDFS,
    "mapred-site.xml": MAPREDUCE,
    "yarn-site.xml": YARN,
    "capacity-scheduler.xml": CAPACITY,
}
LOGGING = """log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{yy/MM/dd HH:mm:ss} %p %c{2}: %m%n
# mrjob reads what `hadoop fs` says from its first line
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""
WEB_APPLICATIONS = ("hdfs", "datanode", "secondary")  # looked for on the class path; may be empty


def write_configuration(node: Node) -> None:
    """The files of node.conf."""
    for name in WEB_APPLICATIONS:
        (node.conf / "webapps" / name).mkdir(parents=True, exist_ok=True)
    (node.conf / "log4j.properties").write_text(LOGGING)
    (node.conf / "java.args").write_text(argument_file(node.home, node.conf))
    (node.conf / "task.args").write_text(argument_file(node.home, node.conf, BROUGHT))
    places = {"var": node.var, "conf": node.conf, "logs": node.logs, "home": node.home}
    for name, settings in FILES.items():
        values = {key: value.format(mark=node.MARK, **places) for key, value in settings.items()}
        (node.conf / name).write_text(_document(values))


def environment(node: Node) -> dict[str, str]:
    """For Hadoop's servers and for commands that are to talk to them. Raises Unavailable."""
    own = Path(__file__).parent / "bin"
    return {
        **os.environ,
        "JAVA_HOME": str(java_home()),
        "HADOOP_HOME": str(node.home),
        "HADOOP_CONF_DIR": str(node.conf),
        "HADOOP_LOG_DIR": str(node.logs),
        "HADOOP_USER_NAME": "hadoop",  # mrjob looks for logs of this user
        "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
        node.FOLDER: str(node.folder),
    }


def _document(settings: dict[str, str]) -> str:
    rows = (
        f"  <property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{"".join(rows)}</configuration>\n'
