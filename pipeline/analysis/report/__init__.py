"""The report of a work folder: its numbers as one document, and the document as a page."""
