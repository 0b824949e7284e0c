"""The order of the steps, and what is done with their results."""
