"""crawlrank.toml gives what the command line does not, and each fault in it is named with its
line."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.crawls import crawlrank, ok
from support.drawing import examples
from support.paths import LOOPBACK, ROOT
from support.work_folders import manifest_of

import crawlrank as library
from crawlrank.pipeline.cli import main
from crawlrank.pipeline.cli.commands import COMMANDS, loaded
from crawlrank.pipeline.cli.parameters.configuration import SHARED, _params, configure


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRAWLRANK_CONFIG", raising=False)
    return tmp_path


def asked(*words: object) -> dict[str, Any]:
    """The parameters that `crawlrank run` has, by the command line and the file."""
    group = click.Context(main, info_name="crawlrank")
    with loaded("run").make_context("run", list(map(str, words)), parent=group) as context:
        return context.params


def configuration(text: str, path: str = "crawlrank.toml") -> Path:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    return Path(path)


SHARED_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=examples(50),
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "bins": st.integers(1, 125),
        "max-rounds": st.integers(1, 500),
        "tolerance": st.floats(1e-14, 0.9),
        "nodes": st.sampled_from(["linked", "all"]),
        "captures": st.sampled_from(["union", "latest"]),
        "strict": st.just(True),
        "validate": st.booleans(),
        "aliases": st.sampled_from(["scheme", "www", "scheme,www"]),
        "fold": st.lists(st.sampled_from(["redirects", "canonical"]), max_size=2, unique=True),
        "memory": st.sampled_from(["1GB", "4GB"]),
    },
)


def as_words(values: dict[str, Any]) -> list[str]:
    """The options as the command line has them."""
    words: list[str] = []
    for name, value in values.items():
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            for each in value if isinstance(value, list) else [value]:
                words += [f"--{name}", str(each)]
    return words


def as_toml(values: dict[str, Any]) -> str:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


@settings(SHARED_FOLDER)
@given(VALUES, VALUES)
def test_the_file_counts_where_the_command_line_says_nothing(
    in_file: dict[str, Any], on_line: dict[str, Any]
) -> None:
    """It counts as if it were on the command line, each option once."""
    common = (LOOPBACK, "--work", "work", "-q")
    configuration("[run]\n" + as_toml(in_file))
    found = asked(*common, *as_words(on_line))
    Path("crawlrank.toml").unlink()
    on_line_at_all = {name: value for name, value in on_line.items() if value != []}
    assert found == asked(*common, *as_words({**in_file, **on_line_at_all}))


def test_archives_and_work_are_those_of_the_folder_of_the_file(folder: Path) -> None:
    (folder / "else" / "crawl").mkdir(parents=True)
    (folder / "else" / "crawl" / "a.warc.gz").write_bytes(LOOPBACK.read_bytes())
    file = configuration('archives = "crawl/*.warc.gz"\nwork = "w"\n', "else/repeated.toml")

    def places(*words: object) -> tuple[Path, Any]:
        found = asked(*words, "-q")
        return found["work"], found["archives"]

    assert places("--config", file) == (Path("else/w"), (Path("else/crawl/a.warc.gz"),))
    assert places(LOOPBACK, "--config", file, "--work", "here") == (Path("here"), (LOOPBACK,))
    Path("list.txt").write_text(f"{LOOPBACK}\n")
    assert places("--archives-from", "list.txt", "--config", file)[1] == (LOOPBACK,)
    listed = configuration('archives-from = "../list.txt"\nwork = "w"\n', "else/listed.toml")
    assert places("--config", listed)[1] == (LOOPBACK,)


def test_which_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    common = (LOOPBACK, "--work", "work")
    for bins, path in ((2, "crawlrank.toml"), (3, "env.toml"), (4, "given.toml")):
        configuration(f"[run]\nbins = {bins}\n", path)
    found = [asked(*common)]
    monkeypatch.setenv("CRAWLRANK_CONFIG", "env.toml")
    found += [asked(*common), asked(*common, "--config", "given.toml")]
    monkeypatch.setenv("CRAWLRANK_CONFIG", "")
    found += [asked(*common), asked(*common, "--config", os.devnull)]
    assert [params["bins"] for params in found] == [2, 3, 4, 5, 5]
    monkeypatch.setenv("CRAWLRANK_CONFIG", "gone.toml")
    missing = crawlrank("run", *common)
    assert (missing.code, missing.err) == (
        2,
        "Error: CRAWLRANK_CONFIG: there is no file gone.toml.\n",
    )
    assert crawlrank("run", *common, "--config", "gone").code == 2


def test_what_is_said_of_the_file(folder: Path) -> None:
    """Which options are from it, unless the command is to be quiet."""
    Path("scores.txt").write_text("1.5\thttp://a.example/\tcom,example)/\n")
    configuration("[export-precedence]\nbins = 3\n")
    words = ("step", "export-precedence", "scores.txt", "--output", "p.txt")
    assert "Options from crawlrank.toml: bins\n" in ok(*words).err
    assert "Options" not in ok(*words, "--config", os.devnull).err
    configuration("quiet = true\n[inspect]\nno-links = true\n")
    assert ok("inspect", LOOPBACK, "--jobs", 1).err == ""


def test_one_of_two_options_that_exclude_each_other() -> None:
    configuration("[run]\niterations = 7\n")
    found = asked(LOOPBACK, "--work", "work", "-q", "--tolerance", 1e-3)
    assert (found["iterations"], found["tolerance"]) == (None, 1e-3)
    configuration("quiet = true\n")
    found = asked(LOOPBACK, "--work", "work", "-v")
    assert (bool(found["quiet"]), bool(found["verbose"])) == (False, True)  # none of the file
    configuration("[run]\niterations = 7\ntolerance = 0.1\n")
    assert "exclude each other" in crawlrank("run", LOOPBACK, "--work", "work").err


FAULTS = {
    "bin = 3": "[run] bin is no option; did you mean bins?",
    "classes_over = 'all'": "[run] classes_over is no option; did you mean classes-over?",
    "bins = 'three'": "[run] bins: 'three' is of another type; expected a whole number",
    "bins = true": "[run] bins: true is of another type; expected a whole number",
    "bins = 3.5": "[run] bins: 3.5 is of another type; expected a whole number",
    "bins = 126": "[run] bins: 126 is not in the range 1<=x<=125.",
    "tolerance = '1e-6'": "[run] tolerance: '1e-6' is of another type; expected a number",
    "tolerance = nan": "[run] tolerance: nan is no finite number",
    "strict = 'yes'": "[run] strict: 'yes' is of another type; expected true or false",
    "nodes = 'some'": "[run] nodes: 'some' is not one of 'linked', 'all'.",
    "fold = ['redirects', 1]": "[run] fold: 1 is of another type; expected a text in quotes",
    "memory = '1 apple'": "[run] memory: '1 apple' is no size such as 4GB, 512MB",
    "work = 2026-11-25": "[run] work: 2026-11-25 is of another type",
    "work = 07:32:00": "[run] work: 07:32:00 is of another type",
    "work = 2026-11-25T07:32:00Z": "[run] work: 2026-11-25T07:32:00+00:00 is of another type",
    "nodes = [true, 'a', {b = false}]": "[run] nodes: [true, 'a', {b = false}] is of another type",
    "config = 'b'": "[run] config is no option",
    "xyzzy = 1": "[run] xyzzy is no option; known are aliases, allow-http",
}


@pytest.mark.parametrize("line", FAULTS)
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=examples(9),
)
@given(st.lists(st.sampled_from(["", "# bins = 1", "max-rounds = 9 # bins", "keep-www = true"])))
def test_faults_name_their_line(line: str, before: list[str]) -> None:
    others = list(dict.fromkeys(before))  # a key may be there once
    text = "\n".join(["work = 'w'", "[inspect]", "jobs = 1", "[run]", *others, line])
    configuration(text)
    said = crawlrank("run", LOOPBACK, "--work", "work")
    assert said.code == 2
    assert said.err.startswith(f"Error: crawlrank.toml, line {5 + len(others)}: {FAULTS[line]}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n[runs]\nbins = 3\n", "line 2: [runs] is no table; did you mean run?"),
        ("bins = 3\n", "line 1: bins is no option above the tables"),
        ("\nwrok = 'w'\n", "line 2: wrok is no option above the tables; did you mean work?"),
        ("run = 3\n", "line 1: run is a command: write its table, [run]"),
        ("run.bin = 3\n", "line 1: [run] bin is no option; did you mean bins?"),
        ("a = 1\nrun = {bin = 3}\n", "line 1: a is no option above the tables"),
        ("\nrun = {bin = 3}\n", "line 2: [run] bin is no option; did you mean bins?"),
        ("\n[run]\n\"bin\" = 3\n", "line 3: [run] bin is no option; did you mean bins?"),
    ],
)  # fmt: skip
def test_faults_of_tables(text: str, message: str) -> None:
    configuration(text)
    said = crawlrank("run", LOOPBACK, "--work", "work")
    assert said.code == 2
    assert said.err.startswith(f"Error: crawlrank.toml, {message}")


def test_a_file_that_is_no_toml() -> None:
    configuration("[run]\nbins = \n")
    said = crawlrank("run", LOOPBACK, "--work", "work")
    assert said.code == 2
    assert said.err.startswith("Error: crawlrank.toml: no TOML: Invalid value (at line 2")
    Path("crawlrank.toml").write_bytes(b"# \xff")
    assert "no TOML" in crawlrank("run", LOOPBACK, "--work", "work").err
    assert ok("run", "--help").out.startswith("Usage")


def value_for(param: click.Parameter) -> Any:
    """Any value of TOML that an option takes."""
    if isinstance(param, click.Option) and param.is_flag:
        return True
    if isinstance(param.type, click.IntRange | click.FloatRange):
        low = param.type.min
        high = param.type.max
        return low if low is not None and not param.type.min_open else (high or 1.0) / 2
    if isinstance(param.type, click.Choice):
        return param.type.choices[0]
    texts = {"memory": "4GB", "budget": "5/day", "from": "2026-11-25", "aliases": "www"}
    texts |= dict.fromkeys(("horizon", "due", "shortest-interval", "idle"), "9d")
    texts |= {
        "upload": "hdfs:///a",
        "favour": "a=1",
        "favour-words": "a=1",
        "part": "1/2",
        "web-bytes": "1GB",
        "replay": "https://archive.example/wayback/",
    }
    names = [name.lstrip("-") for name in param.opts]
    return next((texts[name] for name in names if name in texts), "text")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_may_stand_in_the_file(name: str) -> None:
    command = loaded(name)
    params = {
        key: param
        for key, param in _params(command).items()
        if not (isinstance(param.type, click.Path) and param.type.exists)
    }
    values = {key: value_for(param) for key, param in params.items()}
    configuration(f"[{command.name}]\n" + as_toml(values))
    context = click.Context(command, info_name=command.name)
    configure(command, context, [])
    assert context.default_map is not None
    assert context.default_map.keys() == {str(param.name) for param in params.values()}
    again = click.Context(command, info_name=command.name)
    again.default_map = context.default_map
    for param in params.values():
        param.type_cast_value(again, context.default_map[str(param.name)])


def test_shared_options_are_options_of_run() -> None:
    assert {*SHARED} <= {*_params(loaded("run"))}


@pytest.mark.slow
def test_a_shared_work_folder_serves_all_commands(folder: Path) -> None:
    configuration(
        f'archives = "{LOOPBACK}"\nwork = "w"\nquiet = true\n[run]\nbins = 3\nvalidate = false\n'
        '[export]\nformat = "csv"\n'
    )
    ok("run")
    about = manifest_of(folder / "w")["runs"]["last"][-1]
    assert about["arguments"] == ["run"]
    assert about["configuration"] == "crawlrank.toml"
    assert about["configured"]["bins"] == 3
    assert "Configuration: crawlrank.toml: archives = " in ok("status").out
    ok("export", "--output", "list.csv")
    assert {line.split(",")[2] for line in Path("list.csv").read_text().splitlines()[1:]}
    ok("status", "--check")
    ok("explain", "http://127.0.0.1:18081/")
    (folder / "l.txt").write_text("http://a.example/ 1\n")
    assert "1 line, 1 of them load" in ok("audit", "l.txt").out
    configuration('work = "w"\n[export]\noutput = "p.txt"\n')
    assert "1 line, 1 of them load" in ok("audit", "l.txt").out


@pytest.mark.slow
def test_the_example_of_the_page_is_right(folder: Path) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    configuration(example)
    for name in ("crawl", "more"):
        (folder / name).mkdir()
        (folder / name / "a.warc.gz").write_bytes(LOOPBACK.read_bytes())
    found = asked()
    assert (found["take"], {*found["folds"]}) == ("latest", {"redirects", "canonical"})
    said = crawlrank("run").err.splitlines(keepends=True)
    assert said[0].startswith("Options from crawlrank.toml: ")
    assert said[0] in page
    fault = configuration("work = 'w'\n\n\n\n\n[run]\ncapture = 1\n") and crawlrank("run")
    assert fault.err in page


@pytest.mark.slow
def test_the_library_reads_no_file(folder: Path) -> None:
    configuration("[inspect]\nno-such-option = 1\n")
    assert crawlrank("inspect", LOOPBACK).code == 2
    assert library.inspect(LOOPBACK)["version"]
    assert os.environ.get("CRAWLRANK_CONFIG") is None


@pytest.mark.slow
def test_a_file_that_the_library_is_given(folder: Path) -> None:
    configuration("[run]\nvalidate = false\niterations = 2\n", "mine.toml")
    library.run(LOOPBACK, folder / "w", jobs=1, config="mine.toml")
    assert manifest_of(folder / "w")["parameters"]["--iterations"] == 2
