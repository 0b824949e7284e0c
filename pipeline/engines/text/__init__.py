"""The engine on text: the jobs, on this machine or on a cluster."""
