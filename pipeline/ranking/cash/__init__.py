"""OPIC and OPIC-HITS as rankings: pages are read in cycles until the cash is proved to be right."""
