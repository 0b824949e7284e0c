"""HTML as tokens, and the charset of a document."""
