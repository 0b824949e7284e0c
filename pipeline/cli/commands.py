"""The table of commands. A command is loaded when it is called; its name and the first sentence of
its help are here, so that `crawlrank --help` loads none."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import click

from crawlrank.pipeline.cli.parameters.command import ConfiguredCommand

#: words of a command -> the module of this folder that defines it, the first sentence of its help
COMMANDS = {
    "run": ("run", "Do all steps, from ARCHIVES to a precedence file."),
    "rank": ("rank", "Rank the pages of a work folder by another method."),
    "status": ("workfolder", "Show steps, rows, rounds and damage of a work folder."),
    "report": ("report", "Write a page for a browser about a run and its ranking."),
    "diff": ("compare", "Show what differs between two runs, or between rankings."),
    "explain": ("compare", "Show why the page of URI has its score and its class."),
    "inspect": ("inspect", "Show what is in ARCHIVES."),
    "export": ("export", "Write the precedence file, or a list of pages or sites."),
    "hosts": ("results", "Show the hosts of a ranking."),
    "plan": ("plan", "Plan how often to fetch each page of a site."),
    "recrawl": ("recrawl", "Make a Heritrix job crawl in the order of a ranking."),
    "audit": ("audit", "Check a precedence file, or a crawl that followed it."),
    "step extract-links": ("steps", "Read links and captures from ARCHIVES."),
    "step select-links": ("steps", "Choose the captures that count, and fold pages."),
    "step canonicalize": ("steps", "Turn the URIs of links into keys (SURT)."),
    "step assign-ids": ("steps", "Number the keys from 0, in byte order."),
    "step gen-graph": ("steps", "Make the graph that PageRank iterates on."),
    "step page-rank": ("steps", "Compute the PageRank of a graph."),
    "step join-scores": ("steps", "Join scores with their URIs, best first."),
    "step export-precedence": ("export", "Write the precedence file, or a list of pages."),
    "step validate-opic": ("results", "Compare the ranks of a graph with those of OPIC."),
    "step import-text": ("steps", "Make a work folder from text files."),
    "lab aopic": ("lab", "Reproduce the experiments of Adaptive OPIC."),
    "lab watch": ("watch", "Make a page to watch OPIC work, and to touch it."),
    "cluster package": ("package", "Build what tasks on Hadoop, EMR and Spark need."),
}

#: first word of commands -> what they are for
GROUPS = {
    "step": "Do a single step of a run, from files to files.",
    "lab": "Study OPIC: its experiments, and a page to watch it.",
    "cluster": "Prepare the nodes of a cluster.",
}

#: a command that was removed -> what takes its place
REMOVED = {
    "compare-outlinks": "In a clone, use scripts/compare/compare_outlinks.py.",
    "plot": "Write a page with charts instead: crawlrank report.",
}

#: what commands are for -> the commands and groups, as `crawlrank --help` lists them
PURPOSES = {
    "Rank a crawl": ("inspect", "run", "rank", "status"),
    "Take results": ("export", "hosts", "report"),
    "Understand results": ("explain", "diff"),
    "Crawl again": ("plan", "recrawl", "audit"),
    "Groups of commands": tuple(GROUPS),
}


def command(words: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a function the command of these words. Its docstring follows the first sentence."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        paragraphs = (COMMANDS[words][1], inspect.getdoc(function) or "")
        text = "\n\n".join(filter(None, paragraphs))
        name = words.rpartition(" ")[2]
        return click.command(name, cls=ConfiguredCommand, help=text)(function)

    return decorate


def loaded(words: str) -> click.Command:
    """The command itself, with its options."""
    module = importlib.import_module(f"crawlrank.pipeline.cli.{COMMANDS[words][0]}")
    name = words.rpartition(" ")[2].replace("-", "_")
    loaded_command: click.Command = getattr(module, name)
    return loaded_command
