"""Several click options as one decorator, and as one argument of the command."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


def together(*options: Decorator) -> Callable[[Command], Command]:
    """One decorator of several, shown in the order given."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def grouped(
    argument: str, make: Callable[..., Any], *options: Decorator
) -> Callable[[Command], Command]:
    """The options, which reach the command as one argument: what `make` gives of their values."""

    def alone() -> None:
        """Bears the options, for their names."""

    names = [each.name for each in click.command()(together(*options)(alone)).params]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            own = {name: values.pop(name) for name in names}
            return command(**values, **{argument: make(**own)})

        return cast(Command, together(*options)(wrapped))

    return decorate
