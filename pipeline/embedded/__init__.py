"""The embedded engine: the steps of the recipe in this process and a pool, larger than memory."""

EMBEDDED = "embedded"  # as --runner names it
TOLERANCE = 1e-9  # of the scores, where nobody says
