"""A real Hadoop of one node: HDFS, YARN and MapReduce on loopback, in a network namespace.

    PYTHONPATH=scripts python -m hadoop start
    PYTHONPATH=scripts python -m hadoop run hadoop fs -ls /
    PYTHONPATH=scripts python -m hadoop stop

Some of Hadoop's servers listen on all addresses whatever they are told; in a namespace of their
own, which has loopback and nothing else, none of them is reached from outside, and no port of
theirs meets one of the machine's. See docs/hadoop.md.
"""
