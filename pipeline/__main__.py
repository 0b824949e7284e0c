"""`python -m pipeline`: the command crawlrank, where it is not installed."""

from pipeline.cli import main

if __name__ == "__main__":
    main(prog_name="crawlrank")
