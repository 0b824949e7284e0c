"""Files at https:// and http:// URLs: read by ranges, and resumed where a connection breaks."""
