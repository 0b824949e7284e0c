"""From keys of pages and the links between them to the graph of sites, and to their table."""
