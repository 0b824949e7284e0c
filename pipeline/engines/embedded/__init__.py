"""The embedded engine: the steps of the recipe in this process and a pool, larger than memory."""
