"""Encodings as the Encoding Standard of WHATWG defines them, which is how browsers read pages."""
