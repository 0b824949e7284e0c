"""The stages of jobs/fold_keys.py."""
