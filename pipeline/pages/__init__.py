"""Pages for a browser, each one file: the frame, the libraries, templates, styles and scripts."""
