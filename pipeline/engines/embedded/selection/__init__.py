"""select-links: which links count, and which keys fold into others."""
