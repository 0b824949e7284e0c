"""The steps of the recipe as mrjob jobs: what travels to a cluster, without `pipeline`."""
