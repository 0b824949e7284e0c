"""Hosts or registrable domains as the nodes of a ranking, whose pages share one score."""
