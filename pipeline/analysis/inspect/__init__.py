"""What is in archives, before a big job."""
