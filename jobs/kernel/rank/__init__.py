"""One round of PageRank, plain or packed."""
