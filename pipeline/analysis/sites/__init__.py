"""The sites of a ranking of sites: their table, and files of it."""
