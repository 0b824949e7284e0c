"""The configuration file: options that are not on the command line, for crawls that repeat.

A table for each command, with the options as the command line names them; above the tables what
holds for all commands. Every fault names the file and the line. docs/configuration.md describes it.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any, NamedTuple

import click

from crawlrank.jobs.kernel.storage.opening import require_file
from crawlrank.pipeline.cli.parameters.calls import program_call
from crawlrank.pipeline.cli.parameters.groups import long_name
from crawlrank.pipeline.cli.parameters.types import require_word
from crawlrank.pipeline.cli.parameters.words import TABLES

NAME = "crawlrank.toml"
VARIABLE = "CRAWLRANK_CONFIG"
#: options that mean the same for all commands, and may stand above the tables
SHARED = ("archives", "archives-from", "work", "memory", "jobs", "quiet", "verbose")
#: commands that take a shared `work` although they can do without one
WITH_WORK = ("recrawl",)
#: of these, one on the command line stands for all: the others in the file do not count
EXCLUSIVE = (
    {"archives", "archives-from"},
    {"iterations", "tolerance"},
    {"method", "combine"},
    {"quiet", "verbose"},
    {"work", "plan"},
)
#: options of paths that are texts to click, as they may be URLs or globs
PATHS_AS_TEXT = (
    *("archives-from", "links", "captures", "canonical-links", "input-links", "graph", "map"),
    *("folds", "uris"),
)
OWN = ("config", "help")  # options of the command line alone
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_HEAD = re.compile(r"\s*\[\s*([\w\"'-]+)\s*\]")


class Configured(NamedTuple):
    """What a file gives to a command. values: by the names of the file, as they stand there."""

    path: Path
    values: dict[str, Any]


class ConfigurationFile:
    """A file that was read. Raises UsageError for what is no TOML, and BadInput for what may never
    end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        require_file(path, "a configuration in TOML")
        try:
            self.text = path.read_bytes().decode()
            self.data = _parsed(self.text)
        except OSError as error:
            raise click.UsageError(f"{path}: cannot be read ({error.strerror}).") from error
        except ValueError as error:  # of TOML or of UTF-8
            raise click.UsageError(f"{path}: no TOML: {error}") from error

    def table_of(self, command: str) -> str:
        """The name of the table of a command: its own, or a former one that the file has."""
        former = (name for name, today in TABLES.items() if today == command and name in self.data)
        return command if command in self.data else next(former, command)

    def fault(self, table: str, key: str, what: str) -> click.UsageError:
        """The error for a key of a table; table: empty for keys above all tables."""
        return click.UsageError(f"{self.path}, line {self._line(table, key)}: {what}")

    def _line(self, table: str, key: str) -> int:
        """The line of a key, or of its table where that is written in another way than usual."""
        named = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]")
        dotted = re.compile(rf"\s*[\"']?{re.escape(table)}[\"']?\s*[=.]")
        head, best = "", 1
        for number, line in enumerate(self.text.split("\n"), 1):
            if match := _HEAD.match(line):
                head = match[1].strip("\"'")
                best = number if head in (table, key) else best
                if not table and head == key:
                    return number
            elif head == table and named.match(line):
                return number
            elif not head and table and dotted.match(line):
                best = number
        return best


def _parsed(text: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def file_of(given: str | None) -> Path | None:
    """The file of --config, of the environment, or of the current folder; none where the variable
    is empty. A program names the file itself. Raises UsageError for one that is named and is not
    there."""
    if given is None and program_call():
        return None
    named = given if given is not None else os.environ.get(VARIABLE)
    if named is None:
        return Path(NAME) if Path(NAME).is_file() else None
    if not named and given is None:
        return None
    if not Path(named).exists() or Path(named).is_dir():  # /dev/null is a usual one for nothing
        source = "--config" if given is not None else VARIABLE
        raise click.UsageError(f"{source}: there is no file {named}.")
    return Path(named)


def configure(command: click.Command, ctx: click.Context, args: Sequence[str]) -> Configured | None:
    """Set the defaults of a command's options from the file, but for those that the command line
    gives. Raises UsageError."""
    given = _given(command, ctx, args)
    path = file_of(given.get("config"))
    if path is None:
        return None
    file, params = ConfigurationFile(path), _params(command)
    _check_tables(file, _commands(command, ctx))
    values = {key: value for key, value in file.data.items() if key in SHARED}
    for key, value in values.items():
        if key in params:
            file.data[key] = _checked(file, ctx, "", key, value, params[key])
    values = {key: value for key, value in values.items() if _is_shared(command, key, params)}
    effective = {key: file.data[key] for key in values}
    table = file.table_of(str(command.name))
    for key, value in file.data.get(table, {}).items():
        if key not in params:
            raise file.fault(table, key, _unknown(f"[{table}] {key}", "option", key, params))
        effective[key] = _checked(file, ctx, table, key, value, params[key])
        values[key] = value
    without = _overridden(given)
    values = {key: value for key, value in values.items() if key not in without}
    ctx.default_map = {str(params[key].name): effective[key] for key in values}
    return Configured(path, values) if values else None


def _given(command: click.Command, ctx: click.Context, args: Sequence[str]) -> dict[str, Any]:
    """What the command line gives, by the names that the file has. Raises UsageError."""
    values, _, _ = command.make_parser(ctx).parse_args(args=list(args))
    names = {str(param.name): key_of(param) for param in command.params}
    given = {names.get(name, name): value for name, value in values.items()}
    arguments = {key_of(param) for param in command.params if isinstance(param, click.Argument)}
    return {
        key: value
        for key, value in given.items()
        if key not in arguments or (isinstance(value, tuple | list | str) and len(value) > 0)
    }


def key_of(param: click.Parameter) -> str:
    return str(param.name) if isinstance(param, click.Argument) else long_name(param).lstrip("-")


def _params(command: click.Command) -> dict[str, click.Parameter]:
    """Options by their names in the file; of the arguments only ARCHIVES."""
    return {
        key: param
        for param in command.params
        if (key := key_of(param)) not in OWN
        and (isinstance(param, click.Option) or key == "archives")
    }


def _is_shared(command: click.Command, key: str, params: Mapping[str, click.Parameter]) -> bool:
    """Whether a command takes the options above the tables."""
    if key not in params:
        return False
    return key != "work" or params[key].required or str(command.name) in WITH_WORK


def _overridden(given: Iterable[str]) -> set[str]:
    names = set(given)
    return names.union(*(group for group in EXCLUSIVE if not group.isdisjoint(names)))


def _commands(command: click.Command, ctx: click.Context) -> Collection[str]:
    """The names of all commands that there are."""
    root = ctx.find_root().command
    return [*_leaves(root), *TABLES] if isinstance(root, click.Group) else [str(command.name)]


def _leaves(group: click.Group) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from _leaves(command)
        else:
            yield name


def _check_tables(file: ConfigurationFile, commands: Collection[str]) -> None:
    """Raises UsageError for what is neither a shared option nor the table of a command."""
    for key, value in file.data.items():
        if key in commands:
            if not isinstance(value, dict):
                raise file.fault("", key, f"{key} is a command: write its table, [{key}]")
        elif isinstance(value, dict):
            raise file.fault("", key, _unknown(f"[{key}]", "table", key, commands))
        elif key not in SHARED:
            what = _unknown(key, "option above the tables", key, SHARED)
            raise file.fault("", key, what)


def _unknown(shown: str, kind: str, key: str, known: Iterable[str]) -> str:
    """What to say of a name that is not known."""
    (*near,) = difflib.get_close_matches(key.replace("_", "-"), [*known], 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(sorted(known))}"
    return f"{shown} is no {kind}{hint}"


def _checked(
    file: ConfigurationFile,
    ctx: click.Context,
    table: str,
    key: str,
    value: Any,
    param: click.Parameter,
) -> Any:
    """The value as click takes it, with paths from the folder of the file. Raises UsageError."""
    where = f"[{table}] {key}" if table else key
    try:
        several = param.multiple if isinstance(param, click.Option) else param.nargs == -1
        given = value if several and isinstance(value, list) else [value]
        typed = [_typed(param, each) for each in given]
        if is_path(key, param):
            typed = [_within(file.path.parent, each) for each in typed]
        result = typed if several else typed[0]
        param.type_cast_value(ctx, result)
    except click.BadParameter as error:
        raise file.fault(table, key, f"{where}: {error.message}") from error
    return result


def _typed(param: click.Parameter, value: Any) -> Any:
    """Raises BadParameter for a value of another type of TOML than that of the option."""
    expected: tuple[type, ...] = (str,)
    words = "a text in quotes"
    if isinstance(param, click.Option) and param.is_flag:
        expected, words = (bool,), "true or false"
    elif isinstance(param.type, click.IntRange):
        expected, words = (int,), "a whole number"
    elif isinstance(param.type, click.FloatRange):
        expected, words = (int, float), "a number"
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        raise click.BadParameter(f"{_as_toml(value)} is of another type; expected {words}")
    return value


def _as_toml(value: Any) -> str:
    """A value as a file of TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, list):
        return f"[{', '.join(map(_as_toml, value))}]"
    if isinstance(value, dict):
        pairs = (f"{key} = {_as_toml(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    return repr(value)  # texts in quotes, and numbers


def is_path(key: str, param: click.Parameter) -> bool:
    as_text = key in PATHS_AS_TEXT and isinstance(param.type, click.types.StringParamType)
    return as_text or isinstance(param.type, click.Path)


def _within(folder: Path, value: str) -> str:
    """A path from that folder. URLs, and `-` for standard streams, stay. Raises BadParameter for an
    empty one."""
    require_word(value)
    return value if value == "-" or _URL.match(value) else str(Path(folder, value))
