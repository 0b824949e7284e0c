"""`rank`: another ranking beside that of a run, on the same graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.mapreduce.launcher import RUNNERS
from crawlrank.pipeline.cli.commands import command
from crawlrank.pipeline.cli.parameters.groups import field_option, on_command_line, option
from crawlrank.pipeline.cli.parameters.options import (
    jobs_option,
    method_option,
    min_agreement_option,
    precedence_options,
    run_memory_option,
    stop_options,
    work_option,
)
from crawlrank.pipeline.cli.parameters.progress_options import (
    Progress,
    invocation,
    progress_options,
)
from crawlrank.pipeline.cli.parameters.ranking_options import input_options, require_inputs
from crawlrank.pipeline.cli.run import show_result
from crawlrank.pipeline.options import RunOptions
from crawlrank.pipeline.ranking.inputs import COMBINE, COMBINE_BY
from crawlrank.pipeline.ranking.methods import COMBINED, METHODS, Method
from crawlrank.pipeline.ranking.options import ValidationOptions
from crawlrank.pipeline.run import run as runs
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder.manifest import require_manifest
from crawlrank.pipeline.workfolder.rankings import new_ranking


@command("rank")
@work_option
@method_option
@option("--name", "label", metavar="LABEL", help="Label of the ranking (default: its method).")
@input_options(combined=True)
@stop_options
@precedence_options
@min_agreement_option
@field_option(
    RunOptions, "force", "Replace a ranking of that label that was made with other options."
)
@progress_options
@jobs_option
@run_memory_option
def rank(
    work: Path,
    label: str | None,
    inputs: dict[str, Any],
    min_agreement: float,
    progress: Progress,
    **values: Any,
) -> None:
    """The work folder needs its graph: `crawlrank run` makes it. The ranking goes to the folder
    rankings/LABEL in it, with scores and a precedence file of its own. Commands that read a work
    folder take --ranking LABEL.

    Run it again after an interruption, or when the graph was made anew: finished work is kept.
    """
    if label is not None:
        try:
            new_ranking(work, label)
        except BadInput as error:
            raise click.UsageError(str(error)) from error
    if COMBINE.option in inputs:
        from crawlrank.pipeline.run.rank_step import combination  # slow to import

        if click.get_current_context().get_parameter_source("method") != ParameterSource.DEFAULT:
            raise click.UsageError("--method and --combine exclude each other")
        label, values["method"] = label or COMBINED, COMBINED
        inputs[COMBINE.option] = combination(work, label, inputs[COMBINE.option])
    elif on_command_line("combine_by"):
        raise click.UsageError("--combine-by goes with --combine.")
    else:
        inputs.pop(COMBINE_BY.option, None)  # of a configuration file for several commands
    method = METHODS[values["method"]]
    runner = _runner(work, method)
    require_inputs(method, inputs, runner)
    validation = ValidationOptions(min_agreement=min_agreement)
    options = RunOptions(runner=runner, validation=validation, inputs=inputs, **values)
    label = label or method.name
    runs.rank(work, label, options, progress.reporter, invocation())
    if progress.tables:
        show_result(new_ranking(work, label), validated=True)


def _runner(work: Path, method: Method) -> str:
    """The runner of the run in the work folder. Raises BadInput where it cannot rank by the
    method."""
    parameters = require_manifest(work).parameters
    runner, data = parameters.get("--runner", EMBEDDED), parameters.get("--data")
    if runner == EMBEDDED:
        return EMBEDDED
    if data or not method.jobs:
        at = f", with its datasets at {data}" if data else ""
        expected = f"a work folder of --runner {EMBEDDED} for --method {method.name}"
        cure = f"Make one with `crawlrank run --runner {EMBEDDED}`"
        cure += ", or rank in the run: --method." if method.jobs else "."
        raise BadInput(str(work), f"was made on the runner {runner}{at}", expected, cure)
    return RUNNERS[0]
