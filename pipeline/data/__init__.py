"""Arrays and tables larger than memory: mapped files, Parquet, DuckDB, processes, budgets."""
