"""What the jobs share: the frame of a job, how it is launched, and what it tells."""
