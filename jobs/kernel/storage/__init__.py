"""Files and datasets at a path or at a URL: opened, read, listed, removed."""
