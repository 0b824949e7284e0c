"""The command as a process of its own, forked from a server that has imported everything.

`client.py` stands for `python -m crawlrank` wherever tests start the command: the same arguments,
folder, environment, streams and exit code. It saves the second or two in which a process imports
the libraries, so tests of what happens in these seconds start `python -m crawlrank` itself.
"""
