"""A real Heritrix, headless on loopback: fetch it, write a job, run it, load precedences, look in.

    PYTHONPATH=scripts python -m heritrix FOLDER

crawls a made site, ranks it, loads the ranking and crawls it again; see docs/recrawl.md.
"""
