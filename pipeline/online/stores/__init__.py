"""What a crawler keeps while it runs: protocols, and each of them on SQLite."""
