"""`crawlrank lab watch`: small graphs for a page in which OPIC runs before one's eyes."""
