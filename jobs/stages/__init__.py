"""The jobs that a job file runs one after the other: one class, one file for each."""
