"""The table of commands. A command is loaded when it is called; its name and the first sentence of
its help are here, so that `crawlrank --help` loads none."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import click

from crawlrank.pipeline.cli.parameters.command import ConfiguredCommand

#: command -> the module of this folder that defines it, the first sentence of its help
COMMANDS = {
    "run": ("run", "Do all steps, from ARCHIVES to a precedence file."),
    "rank": ("rank", "Rank the pages of a work folder by another method."),
    "status": ("workfolder", "Show steps, rows, rounds and damage of a work folder."),
    "check": ("workfolder", "Compare a work folder's files with its manifest."),
    "report": ("report", "Write a page for a browser about a run and its ranking."),
    "diff": ("compare", "Show what changed from run WORK_A to run WORK_B."),
    "agree": ("compare", "Show how far rankings of a work folder agree."),
    "explain": ("compare", "Show why the page of URI has its score and its class."),
    "import-text": ("text", "Make a work folder from text files."),
    "export-text": ("text", "Write the datasets of a run as text files."),
    "inspect": ("inspect", "Show what is in ARCHIVES."),
    "extract-links": ("steps", "Read links and captures from ARCHIVES."),
    "select-links": ("steps", "Choose the captures that count, and fold pages."),
    "canonicalize": ("steps", "Turn the URIs of links into keys (SURT)."),
    "assign-ids": ("steps", "Number the keys from 0, in byte order."),
    "gen-graph": ("steps", "Make the graph that PageRank iterates on."),
    "page-rank": ("steps", "Compute the PageRank of a graph."),
    "join-scores": ("steps", "Join scores with their URIs, best first."),
    "export-precedence": ("take", "Write the precedence file, or a list of pages."),
    "hosts": ("results", "Show the hosts of a ranking."),
    "plan": ("plan", "Plan how often to fetch each page of a site."),
    "recrawl": ("recrawl", "Make a Heritrix job crawl in the order of a ranking."),
    "verify-precedence": ("audit", "Look a precedence file up in the state of a job."),
    "export-sites": ("results", "Write the table of a ranking of sites, best first."),
    "validate-opic": ("results", "Compare the ranks of a graph with those of OPIC."),
    "audit-precedence": ("audit", "Show how well a crawl kept to its precedence file."),
    "aopic-lab": ("lab", "Reproduce the experiments of Adaptive OPIC."),
    "watch": ("watch", "Make a page to watch OPIC work, and to touch it."),
    "package": ("package", "Build what tasks on Hadoop, EMR and Spark need."),
}

#: name of a command that was removed -> what takes its place
REMOVED = {
    "compare-outlinks": "In a clone, use scripts/compare/compare_outlinks.py.",
    "plot": "Write a page with charts instead: crawlrank report.",
}

#: what commands are for -> the commands, as `crawlrank --help` lists them
PURPOSES = {
    "Rank a crawl": ("inspect", "run", "rank", "status", "check"),
    "Take results": ("export-precedence", "export-sites", "export-text", "hosts", "report"),
    "Understand results": ("explain", "diff", "agree"),
    "Crawl again": ("plan", "recrawl", "verify-precedence", "audit-precedence"),
    "Do a single step": (
        *("extract-links", "select-links", "canonicalize", "assign-ids", "gen-graph"),
        *("page-rank", "join-scores", "validate-opic", "import-text"),
    ),
    "Study, and work on clusters": ("watch", "aopic-lab", "package"),
}


def command(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a function the command of that name. Its docstring goes on after the first sentence."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        paragraphs = (COMMANDS[name][1], inspect.getdoc(function) or "")
        text = "\n\n".join(filter(None, paragraphs))
        return click.command(name, cls=ConfiguredCommand, help=text)(function)

    return decorate


def loaded(name: str) -> click.Command:
    """The command itself, with its options."""
    module = importlib.import_module(f"crawlrank.pipeline.cli.{COMMANDS[name][0]}")
    loaded_command: click.Command = getattr(module, name.replace("-", "_"))
    return loaded_command
