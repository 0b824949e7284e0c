"""Records of WARC, ARC, WACZ and WAT files, whatever is wrong with them."""
