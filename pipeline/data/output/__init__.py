"""What commands write for others: CSV, and standard output."""
