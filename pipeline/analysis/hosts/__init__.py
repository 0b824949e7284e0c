"""Tables of a ranking by host, by registrable domain and by site, and their files."""
