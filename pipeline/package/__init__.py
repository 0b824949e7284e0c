"""What tasks on a cluster need: the jobs, what they import, and how a cluster is told of them."""
