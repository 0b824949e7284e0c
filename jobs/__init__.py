"""The steps of the recipe as mrjob jobs: what travels to a cluster, without `pipeline`."""

if __name__ != "crawlrank.jobs":  # a second time, its classes would be others
    raise ImportError(f"the folder {__name__} is imported as crawlrank.jobs")
