"""The groups in which help shows options, with one name for the same group in all commands."""

from __future__ import annotations

from typing import Any

import click

from crawlrank.pipeline.ranking.inputs import INPUTS

#: group -> its options by their long names, in the order of groups
GROUPS = {
    "Input": """--archives-from --prefix --allow-private --allow-http --web-time
        --web-bytes --work --ranking --against
        --from --plan --map --uris --folds
        --canonical-links --input-links --graph --order --ratings --report --state --crawl-log
        --force --check --check-archives --strict --skip-bad-files""",
    "Links": """--outlinks --links --nofollow --forms --pdf --max-record --max-links-per-page
        --validators --no-links --timestamps --canonical""",
    "Pages": "--captures --take --fold --gone --keep-www --surt-exact --nodes",
    "Ranking": f"""--method --name {" ".join(each.option for each in INPUTS)}
        --iterations --tolerance --max-rounds""",
    "Precedence": "--bins --unlisted --classes-over --ties --spellings --aliases --digits --eta",
    "Filters": """--status --type --host --match --captured --not-captured --min-links
        --linked-from --new-since""",
    "Validation": """--validate --min-agreement --policy --opic-error --max-visits --seed
        --virtual-page""",
    "Plan": "--budget --horizon --due --objective --shortest-interval",
    "Heritrix": """--job --heritrix --classes --seeds-only --grow --part --no-annotations --dry-run
        --undo --rest --login --certificate --insecure --checkpoint""",
    "Experiment": """--figures --exponent --poisson --partitions --discover --favour
        --favour-words""",
    "Page": "--around --serve --port --idle",
    "Package": "--python --machine --glibc --wheels --upload",
    "Engine": "--runner --jobs --memory",
    "Cluster": "--data --cluster-conf --reducers",
    "Output": """--output --json --format --anchors --top --by --sort --plot
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
