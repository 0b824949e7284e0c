"""How often pages change, and how often each is fetched under a budget."""
