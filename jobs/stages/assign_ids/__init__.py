"""The stages of jobs/assign_ids.py."""
