"""mrjob's runners, made fit for archives, for clusters and for a driver that shows progress."""
