"""URIs, their canonical keys (SURT), and their form in Heritrix."""
