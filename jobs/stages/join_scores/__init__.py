"""The stages of jobs/join_scores.py."""
