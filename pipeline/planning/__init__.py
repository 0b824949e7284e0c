"""How often to fetch each page of a site from now on, from several crawls of it."""
