"""PageRank on a Csr: plain rounds, and sweeps to a certificate."""
