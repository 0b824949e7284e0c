"""The stages of jobs/fold_chains.py."""
