"""What a run will take, from a sample of its archives that is really run."""
