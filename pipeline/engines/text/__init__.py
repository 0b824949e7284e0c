"""The engines on text: the jobs on this machine or on a cluster."""
