"""Which records and captures count, and for what."""
