"""The hosts of a ranking, or their registrable domains: a row for each."""
