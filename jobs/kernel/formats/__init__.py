"""The lines of the text datasets: parsed, ordered, split into ranges."""
