"""While a crawl runs, and between crawls: which page to fetch next, and how often."""
