"""The audit of a crawl against the precedence file that it was to follow.

`lines`, `crawl_log` and `pages_log` read logs, `entries` reads the precedence file, as columns;
`joining` joins them within a bound of memory; `order` measures how well the order was kept;
`causes` says why a URI was not listed; `findings` holds the results, `advice` what to change;
`tables`, `audit_json` and `picture` show them.
"""
