"""Why a page stands where it does, and what has changed between two runs."""
