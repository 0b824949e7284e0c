"""Click options: of a field of options, several as one decorator, several as one argument."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast, get_args, get_type_hints

import click
from click.core import ParameterSource

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


def option(*names: str, **attributes: Any) -> Decorator:
    """An option with a value, whose help shows its default. Help has `NUMBER` for a number with
    bounds, as click's own words for it take half of a line."""
    if isinstance(attributes.get("type"), click.IntRange | click.FloatRange):
        attributes.setdefault("metavar", "NUMBER")
    return click.option(*names, show_default=True, **attributes)


def field_option(owner: object, name: str, help: str, type: Any = None) -> Decorator:
    """The option of a field of an object of options: its name, its default and, if the field is one
    of several words, its choices. type: by default as the field's own type says, which the classes
    that mypyc compiles do not keep."""
    spelled, default = f"--{name.replace('_', '-')}", getattr(owner, name)
    if default is False:
        return click.option(spelled, is_flag=True, help=help)
    choice = type or click.Choice(get_args(get_type_hints(owner.__class__)[name]))
    shown = getattr(choice, "shown", None)  # how a type writes its values
    return option(spelled, type=choice, default=shown(default) if shown else default, help=help)


def on_command_line(name: str) -> bool:
    """Whether the user has given a parameter of the command that runs. One of a configuration file
    serves several commands and runs, so it may be without effect in some of them."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def together(*options: Decorator) -> Callable[[Command], Command]:
    """One decorator for several, shown in the order given."""

    def decorate(command: Command) -> Command:
        for each in reversed(options):
            command = each(command)
        return command

    return decorate


def grouped(
    argument: str, make: Callable[..., Any], *options: Decorator
) -> Callable[[Command], Command]:
    """Options that reach the command as one argument: the result of `make` with their values."""

    @click.command()
    @together(*options)
    def holder() -> None:
        """Holds the options, for their names."""

    names = [each.name for each in holder.params]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            return command(**values, **{argument: make(**own)})

        return cast(Command, together(*options)(wrapped))

    return decorate
