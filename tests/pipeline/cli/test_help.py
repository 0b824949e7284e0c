"""Help fits a terminal of 80 columns, and shows each option once, in a group of a common name."""

from __future__ import annotations

import re

import click
import pytest
from support.crawls import ok

from crawlrank.pipeline.cli import commands, main
from crawlrank.pipeline.cli.commands import COMMANDS, PURPOSES, loaded
from crawlrank.pipeline.cli.parameters import groups
from crawlrank.pipeline.cli.parameters.groups import ELSEWHERE, GROUPS, group_of, long_name

COLUMNS = 80
HEAD = re.compile(r"^([A-Z][A-Za-z, ]*):$", re.MULTILINE)


def options_of(name: str) -> list[click.Parameter]:
    command = loaded(name)
    params = command.get_params(click.Context(command))
    return [param for param in params if isinstance(param, click.Option) and not param.hidden]


def sections(text: str) -> dict[str, str]:
    """The texts below the heads of a help."""
    parts = HEAD.split(text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_help_options_of_its_group_without_it_too(name: str) -> None:
    command = loaded(name)
    own = command.get_help_option_names(click.Context(command))
    assert set(own) == set(main.context_settings["help_option_names"])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    lines = ok(*name.split(), "--help").out.splitlines()
    assert len(lines) > 5
    assert [line for line in lines if len(line) > COLUMNS] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_in_one_group(name: str) -> None:
    """A new option goes into a row of GROUPS."""
    shown = sections(ok(*name.split(), "--help").out)
    assert shown.keys() <= GROUPS.keys()
    for option in options_of(name):
        spelled = re.compile(rf"^  (-\w, )?{long_name(option)}( |$)", re.MULTILINE)
        heads = [head for head, text in shown.items() if spelled.search(text)]
        assert heads == [group_of(name.split()[-1], option)], long_name(option)


def test_the_groups_of_run_are_those_that_a_reader_looks_for() -> None:
    groups = {group_of("run", option) for option in options_of("run")}
    assert {"Input", "Links", "Ranking", "Precedence", "Engine", "Cluster", "Output"} <= groups
    assert None not in groups


def test_the_table_of_groups_has_no_dead_rows() -> None:
    known = {name: {long_name(option) for option in options_of(name)} for name in COMMANDS}
    assert groups._GROUP_OF.keys() <= set().union(*known.values())
    of_names = {words.split()[-1]: options for words, options in known.items()}
    for command, own in ELSEWHERE.items():
        assert own.keys() <= of_names[command], command


def test_an_option_is_in_one_row_only() -> None:
    names = " ".join(GROUPS.values()).split()
    assert len(set(names)) == len(names)


def test_every_command_has_a_purpose() -> None:
    listed = [name for names in PURPOSES.values() for name in names]
    assert sorted(listed) == sorted({words.split()[0] for words in COMMANDS})


def test_the_list_of_commands_cuts_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    said = ok("--help").out
    assert "..." not in said.partition("\n")[2]
    first = {words: sentence for words, (_, sentence) in COMMANDS.items() if " " not in words}
    listed = dict(re.findall(r"^  (?:-V, )?([a-z-]+) {2,}(.*)$", said, re.MULTILINE))
    assert {**first, **commands.GROUPS, "--version": "Show the version and exit."} == listed
    assert {*main.commands} == listed.keys() - {"--version"}
