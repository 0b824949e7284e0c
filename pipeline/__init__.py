"""The order of the steps, and what is done with their results."""

if __name__ != "crawlrank.pipeline":  # a second time, its classes would be others
    raise ImportError(f"the folder {__name__} is imported as crawlrank.pipeline")
