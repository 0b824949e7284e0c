"""Heritrix itself: its Java, the store of a job, the files of a job, and its REST interface."""
