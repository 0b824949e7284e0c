"""The command `crawlrank` with an engine of the tests' own, which `run` makes.

with_engine(lambda work, options, tmp, reporter, stack: MyEngine(…))(["run", …])
"""

from __future__ import annotations

import click

from crawlrank.pipeline.cli import CommandGroup, main
from crawlrank.pipeline.cli.run import ENGINE
from crawlrank.pipeline.run.run import MakeEngine


class _Group(CommandGroup):
    def __init__(self, make_engine: MakeEngine) -> None:
        super().__init__(main.name, main.commands, params=main.params)
        self.make_engine = make_engine

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ENGINE] = self.make_engine
        return super().parse_args(ctx, args)


def with_engine(make_engine: MakeEngine) -> CommandGroup:
    return _Group(make_engine)
