"""canonicalize: every spelling of each key, and key numbers."""
