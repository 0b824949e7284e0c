"""Click options: declared from a field, several as one argument, and in the groups of help.

A group has one name in all commands.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast, get_args, get_type_hints

import click
from click.core import ParameterSource

from crawlrank.pipeline.ranking.inputs import INPUTS

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]


def option(*names: str, **attributes: Any) -> Decorator:
    """An option with a value, whose help shows its default. Help has `NUMBER` for a number with
    bounds, as click's own words for it take half of a line."""
    if isinstance(attributes.get("type"), click.IntRange | click.FloatRange):
        attributes.setdefault("metavar", "NUMBER")
    return click.option(*names, show_default=True, **attributes)


OF_RUN = "(default: that of the run)"


def field_option(
    owner: object, name: str, help: str, type: Any = None, *, of_run: bool = False
) -> Decorator:
    """The option of a field of an object of options: its name, its default and, if the field is one
    of several words, its choices. type: by default as the field's own type says, which the classes
    that mypyc compiles do not keep. of_run: the default, None, stands for what a run had."""
    spelled, default = f"--{name.replace('_', '-')}", getattr(owner, name)
    if default is False:
        return click.option(spelled, is_flag=True, help=help)
    choice = type or click.Choice(get_args(get_type_hints(owner.__class__)[name]))
    if of_run:
        return option(spelled, type=choice, help=f"{help} {OF_RUN}")
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


#: group -> its options by their long names, in the order of groups
GROUPS = {
    "Input": """--archives-from --prefix --allow-private --allow-http --web-time
        --web-bytes --work --ranking --against
        --from --plan --map --uris --folds
        --canonical-links --input-links --graph --order --ratings --report --state --crawl-log
        --force --check --check-archives --strict --skip-bad-files""",
    "Links": """--outlinks --links --nofollow --forms --pdf --max-record --max-links-per-page
        --validators --titles --anchor-text --words-around --no-links --timestamps --canonical""",
    "Pages": "--captures --take --fold --gone --keep-www --surt-exact --nodes",
    "Ranking": f"""--method --name {" ".join(each.option for each in INPUTS)}
        --iterations --tolerance --max-rounds""",
    "Precedence": "--bins --unlisted --classes-over --ties --spellings --aliases --digits --eta",
    "Filters": """--status --type --host --match --captured --not-captured --min-links
        --linked-from --around --new-since""",
    "Validation": """--validate --min-agreement --policy --opic-error --max-visits --seed
        --virtual-page""",
    "Plan": "--budget --horizon --due --objective --shortest-interval",
    "Heritrix": """--job --heritrix --classes --seeds-only --grow --part --no-annotations --dry-run
        --undo --rest --login --certificate --insecure --checkpoint""",
    "Experiment": """--figures --exponent --poisson --partitions --discover --favour
        --favour-words""",
    "Page": "--serve --port --idle",
    "Package": "--python --machine --glibc --wheels --upload",
    "Engine": "--runner --jobs --memory",
    "Cluster": "--data --cluster-conf --reducers",
    "Output": """--output --json --format --replay --anchors --top --by --sort --plot
        --estimate
        --quiet --verbose --log""",
    (OTHER := "Other"): "--config --help",
}
#: command -> options that mean something else there
ELSEWHERE = {
    "run": {"--dry-run": "Output"},
    "extract-links": {"--captures": "Output"},
    "select-links": {"--captures": "Input", "--folds": "Output"},
    "canonicalize": {"--captures": "Input", "--uris": "Output"},
    "assign-ids": {"--map": "Output"},
    "page-rank": {"--report": "Output"},
    "import-text": {"--captures": "Input", "--links": "Input"},
    "diff": {"--links": "Output"},
    "explain": {"--links": "Output"},
    "export": {"--top": "Filters"},
    "recrawl": {"--top": "Heritrix", "--budget": "Heritrix"},
    "export-precedence": {"--report": "Precedence", "--top": "Filters"},
    "aopic": {"--nodes": "Experiment", "--seed": "Experiment", "--anchors": "Input"},
    "watch": {"--nodes": "Page"},
}
_GROUP_OF = {name: group for group, names in GROUPS.items() for name in names.split()}


def long_name(param: click.Parameter) -> str:
    """Such as `--quiet` of an option with the names -q and --quiet."""
    return next((name for name in param.opts if name.startswith("--")), param.opts[0])


def group_of(command: str, param: click.Parameter) -> str | None:
    """None for an option that is in no group; a test finds it."""
    name = long_name(param)
    return ELSEWHERE.get(command, {}).get(name) or _GROUP_OF.get(name)


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def __init__(self, name: str, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.title = name  # `name` is not always a text, by its type

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for param in self.get_params(ctx):
            record = None if isinstance(param, click.Argument) else param.get_help_record(ctx)
            if record:
                groups[group_of(self.title, param) or OTHER].append(record)
        for group, records in groups.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records)
