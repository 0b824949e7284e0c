"""PageRank checked by OPIC: classes by what OPIC proves, and the report."""
