"""A run: its options, its steps in order, and what it does in each."""
