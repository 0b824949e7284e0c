"""The structure of a graph: its components, its bow tie, its degrees."""
