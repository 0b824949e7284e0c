"""Graphs in files of other programs: edge lists, Parquet, GraphML, GEXF, Matrix Market, and the
vertices and edges of Common Crawl."""
