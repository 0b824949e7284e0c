"""What a crawler keeps while it runs, on SQLite."""
