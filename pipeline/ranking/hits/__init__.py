"""HITS: hubs and authorities."""
