"""The audit of a crawl against the precedence file that it was to follow.

`crawl_log` reads logs as columns. `entries` reads the precedence file, and joins both within a
bound of memory. `order` measures how well the order was kept. `causes` says why a URI was not
listed. `findings` holds the results, and `advice` says what to change. `report` and `picture` show
them.
"""
