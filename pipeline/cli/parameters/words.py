"""The words of a command line, before click reads them: WORK as an argument, and former names.

Former names work in this version. The next one drops them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

#: former option -> what replaces it
OPTIONS = {"--out": "--output"}
#: former command -> the words that replace it
COMMANDS = {
    "check": ("status", "--check"),
    "agree": ("diff",),
    "export-precedence": ("export",),
    "export-sites": ("export", "--format", "sites"),
    "export-text": ("export", "--format", "text"),
    "audit-precedence": ("audit",),
    "verify-precedence": ("audit",),
    "aopic-lab": ("lab", "aopic"),
    "watch": ("lab", "watch"),
    "package": ("cluster", "package"),
    **{
        name: ("step", name)
        for name in (
            *("extract-links", "select-links", "canonicalize", "assign-ids", "gen-graph"),
            *("page-rank", "join-scores", "validate-opic", "import-text"),
        )
    },
}
#: former table of a configuration file -> that of today
TABLES = {
    "agree": "diff",
    "export-precedence": "export",
    "audit-precedence": "audit",
    "aopic-lab": "aopic",
}


def renamed(args: Sequence[str]) -> tuple[list[str], str]:
    """The words of a command line with today's name of the command, and a sentence that says the
    name, empty if it is today's already. `help COMMAND` is `COMMAND --help`."""
    if args and args[0] == "help":
        args = [*args[1:], "--help"]
    name, rest = (args[0], list(args[1:])) if args else ("", [])
    words = COMMANDS.get(name, (name,) if args else ())
    if name == "export-precedence":
        names = {word.partition("=")[0] for word in rest}
        if "--lint" in names:
            words = ("audit",)
            rest = [word.removeprefix("--lint=") for word in rest if word != "--lint"]
        elif names.isdisjoint(("--work", "-h", "--help")):
            words = ("step", name)
    shown = " ".join(words)
    warning = f"`crawlrank {name}` is now `crawlrank {shown}`; the former name will go."
    return [*words, *rest], warning if name in COMMANDS else ""


class WorkOption(click.Option):
    """The work folder, which users give as the argument WORK. It is an option inside, so that a
    configuration file gives it in the same way, and --work still does."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **{**attributes, "hidden": True})
        self.param_type_name = "argument"  # in messages

    def get_error_hint(self, ctx: click.Context | None) -> str:
        return "'WORK'"

    @property
    def usage(self) -> str:
        """Such as `[WORK]`, where the folder may be left out."""
        word = "WORK..." if self.multiple else "WORK"
        return word if self.required else f"[{word}]"


def work_option_of(command: click.Command) -> WorkOption | None:
    return next((param for param in command.params if isinstance(param, WorkOption)), None)


def spelled_out(command: click.Command, args: Sequence[str]) -> list[str]:
    """The words with `--work=WORK` for the argument WORK, and with today's names of options."""
    own = {name for param in command.params for name in param.opts}
    words = [_today(word, own) for word in args]
    work = work_option_of(command)
    if work is None:
        return words
    indexes = _arguments(command, words)
    others = sum(isinstance(param, click.Argument) for param in command.params)
    given = any(word == "--work" or word.startswith("--work=") for word in words)
    extra = 0 if given else max(0, len(indexes) - others)
    folders = indexes[: extra if work.multiple else min(extra, 1)]
    rest = [word for index, word in enumerate(words) if index not in folders]
    return [*(f"--work={words[index]}" for index in folders), *rest]


def _today(word: str, own: set[str]) -> str:
    name, sign, value = word.partition("=")
    return f"{OPTIONS[name]}{sign}{value}" if name in OPTIONS and name not in own else word


def _arguments(command: click.Command, words: Sequence[str]) -> list[int]:
    """The indexes of the words that are neither options nor values of options."""
    flags = {
        name
        for param in command.params
        if isinstance(param, click.Option) and (param.is_flag or param.count)
        for name in (*param.opts, *param.secondary_opts)
    }
    indexes, is_value = list[int](), False
    for index, word in enumerate(words):
        if is_value:
            is_value = False
        elif word == "--":
            return [*indexes, *range(index + 1, len(words))]
        elif word.startswith("-") and word != "-":
            is_value = word.startswith("--") and "=" not in word and word not in flags
        else:
            indexes.append(index)
    return indexes
