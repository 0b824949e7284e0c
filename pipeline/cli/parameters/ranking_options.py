"""Options of the inputs of rankings, as ranking/inputs.py and ranking/methods.py declare them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from crawlrank.jobs.kernel.errors import count_of
from crawlrank.pipeline.cli.parameters.calls import echo
from crawlrank.pipeline.cli.parameters.groups import Command, Decorator, grouped, option
from crawlrank.pipeline.cli.parameters.options import OUTPUT
from crawlrank.pipeline.ranking.inputs import (
    INPUTS,
    WORDS,
    NumberRange,
    PageFile,
    PageWeights,
    ParsedText,
    RankingInput,
)
from crawlrank.pipeline.ranking.methods import COMBINED, METHODS, Method
from crawlrank.pipeline.terminal import printable


def _option(each: RankingInput[Any]) -> Decorator:
    """Its help begins with the names of the methods that take it."""
    takers = (name for name, method in METHODS.items() if each in method.inputs)
    names = ", ".join(name for name in takers if name != COMBINED)
    help = f"{names}: {each.help}" if names else each.help
    accepts = each.accepts
    if isinstance(accepts, PageFile):
        return option(each.option, type=OUTPUT, metavar="FILE", help=help)
    if isinstance(accepts, ParsedText):
        callback = _parsed_by(accepts.parse)
        return option(each.option, metavar=accepts.metavar, callback=callback, help=help)
    if isinstance(accepts, NumberRange):
        type: click.ParamType[Any] = click.FloatRange(accepts.least, accepts.most)
        if accepts.whole:
            type = click.IntRange(int(accepts.least), int(accepts.most))
    else:
        type = click.Choice(accepts)
    return option(each.option, type=type, default=each.default, help=help)


def _parsed_by(parse: Callable[[str], Any]) -> Callable[..., Any]:
    """A callback that raises BadParameter for what `parse` refuses."""

    def parsed(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            raise click.BadParameter(printable(str(error))) from error

    return parsed


def _given(**values: Any) -> dict[str, Any]:
    """option -> value, of the inputs that the user has given. Raises UsageError for two that
    exclude each other."""
    context = click.get_current_context()
    given: dict[RankingInput[Any], Any] = {}
    for each in INPUTS:
        param = each.option.removeprefix("--").replace("-", "_")
        source = context.get_parameter_source(param)
        if source not in (None, ParameterSource.DEFAULT) and each.counts(values[param]):
            given[each] = values[param]
    for each in given:
        rivals = [other.option for other in given if other.name == each.name]
        if len(rivals) > 1:
            raise click.UsageError(f"{' and '.join(rivals)} exclude each other")
    return {each.option: _value(each, value) for each, value in given.items()}


def _value(each: RankingInput[Any], value: Any) -> Any:
    if each is WORDS:
        from crawlrank.pipeline.run.rank_step import topic_words  # slow to import

        return topic_words(value)
    return _weights(each.accepts, value) if isinstance(each.accepts, PageFile) else value


def _weights(file: PageFile, path: Path) -> PageWeights:
    """Names the seeds that are left out on standard error."""
    from crawlrank.pipeline.run.rank_step import page_weights  # slow to import

    weights = page_weights(file, path)
    if weights.damaged:
        lines, first = count_of(weights.damaged, "seed is", "seeds are"), weights.damaged_lines[0]
        echo(f"{lines} not UTF-8 and left out, such as {printable(first)}", err=True)
    return weights


def input_options(*, combined: bool) -> Callable[[Command], Command]:
    """The options of all inputs, as the argument `inputs`: option -> value of those that are given.
    combined: with those of a ranking that is made of others."""
    left_out = () if combined else METHODS[COMBINED].inputs
    return grouped("inputs", _given, *(_option(each) for each in INPUTS if each not in left_out))


def require_inputs(method: Method, inputs: dict[str, Any], runner: str) -> None:
    """Raises UsageError for inputs that the method or the runner does not take."""
    try:
        method.require(inputs, runner)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
