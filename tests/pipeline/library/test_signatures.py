"""Functions have the options of their commands, with the same defaults."""

from __future__ import annotations

import inspect
from typing import Any

import click
import pytest

import crawlrank
from crawlrank.pipeline.cli.commands import loaded
from crawlrank.pipeline.ranking.options import Stop

#: what a command shows or writes, of which a function gives its result
OF_COMMANDS = {"quiet", "verbose", "json", "dry-run", "estimate", "config", "log", "memory"}
#: parameters that are arguments of the command, or none of it
OF_FUNCTIONS = {"progress", "archives", "older", "newer"}
FUNCTIONS = ["run", "rank", "diff", "agree", "inspect", "report", "hosts", "plan", "export"]
#: `crawlrank diff` of one work folder compares its rankings
COMMANDS = {"agree": "diff"}
OF_THE_OTHER = {"diff": {"ratings"}, "agree": {"links"}}


def options_of(name: str) -> dict[str, click.Option]:
    command = loaded(COMMANDS.get(name, name))
    params = [param for param in command.params if isinstance(param, click.Option)]
    return {param.opts[-1].removeprefix("--"): param for param in params}


def default_of(param: click.Option) -> Any:
    """What a function has for it: None, False or () where the command line has nothing."""
    with click.Context(click.Command("any")) as context:
        default = param.get_default(context)
    if default is not None and str(default) != "Sentinel.UNSET":
        return default
    return () if param.multiple else False if param.is_flag else None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_are_those_of_the_command(name: str) -> None:
    options = options_of(name)
    parameters = inspect.signature(getattr(crawlrank, name)).parameters
    for parameter in parameters.values():
        option = parameter.name.rstrip("_").replace("_", "-")
        if parameter.name in OF_FUNCTIONS or option not in options:
            assert parameter.name in OF_FUNCTIONS | {"work"}
        elif parameter.default is not inspect.Parameter.empty:
            expected = default_of(options[option])
            expected = Stop.tolerance if option == "tolerance" else expected
            assert parameter.default == (
                None if (name, option) == ("diff", "ranking") else expected
            )
    named = {each.rstrip("_").replace("_", "-") for each in parameters}
    others = {"output"} if name == "hosts" else {"web-time", "web-bytes"}
    assert options.keys() - named <= OF_COMMANDS | OF_THE_OTHER.get(name, others)


def test_rankings_of_graphs_stop_as_the_command_does() -> None:
    own = Stop()
    for name in ("pagerank", "personalized", "trustrank", "hits", "opic", "opic_hits"):
        parameters = inspect.signature(getattr(crawlrank, name)).parameters
        stop = Stop(*(parameters[key].default for key in ("iterations", "tolerance", "max_rounds")))
        assert stop == own
