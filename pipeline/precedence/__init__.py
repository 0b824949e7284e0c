"""From scores to the file that Heritrix loads, and to other lists for crawlers."""
