"""The stages of jobs/select_links.py."""
