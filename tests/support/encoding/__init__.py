"""The Encoding Standard, written from its text and its index files alone."""
