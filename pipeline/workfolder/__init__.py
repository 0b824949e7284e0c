"""The folder of a run: its manifest, its lock, its archives, its datasets."""
