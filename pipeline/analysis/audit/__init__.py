"""The audit of a crawl against the precedence file that it was to follow.

`lines` and `crawl_log` read logs, `entries` the precedence file, both as columns; `joining` brings
them together within a bound of memory; `order` measures how well the order was kept; `causes`
says why a URI was not listed; `findings` holds what was found, `advice` what to change; `tables`,
`document` and `picture` show it.
"""
