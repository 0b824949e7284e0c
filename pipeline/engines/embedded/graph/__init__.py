"""gen-graph: the graph of nodes, and its transposed one."""
