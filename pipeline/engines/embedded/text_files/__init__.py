"""The text files of the recipe, to and from the datasets of this engine."""
