"""OPIC on a Csr: pages that are read give away cash, one kind of it or two."""
