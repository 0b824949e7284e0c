"""What tasks on a cluster need: the jobs, their libraries, and the configuration of mrjob."""
