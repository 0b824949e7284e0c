"""The links of a document: one reader for each kind."""
