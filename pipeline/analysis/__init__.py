"""What archives hold, what a run has made of them, and what a crawl has made of that."""
