"""Plugins of pytest: what tests cost, and tests in several processes."""
