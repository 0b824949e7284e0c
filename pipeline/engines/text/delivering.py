"""Where the jobs of a step write, and how that becomes the outputs of the step."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage import stores
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.jobs.kernel.storage.temporary import plain_path, temporary_folder
from crawlrank.jobs.mapreduce.launcher import Launcher
from crawlrank.pipeline.data.datasets import LineKey, deliver

Locations = Sequence[PathOrUrl]


@contextlib.contextmanager
def working_beside(output: Path, launcher: Launcher) -> Iterator[Launcher]:
    """The launcher with a temporary folder beside the output, on the same file system."""
    with contextlib.ExitStack() as stack:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            tmp = stack.enter_context(temporary_folder(output.parent))
        except OSError as error:
            raise BadInput(
                str(output.parent),
                f"cannot be written ({error.strerror})",
                "a folder for the output",
                "Name another output.",
            ) from error
        yield replace(launcher, tmp=stack.enter_context(plain_path(tmp)))


@contextlib.contextmanager
def delivering(
    launcher: Launcher, outputs: Mapping[PathOrUrl, LineKey | None]
) -> Iterator[tuple[Launcher, list[PathOrUrl]]]:
    """A launcher, and for each output the folder for a job to write to.

    outputs: each with the key that its rows are merged by where it is one file. On this machine the
    folders become the outputs when the block ends well. At a URL they are the outputs: old ones are
    removed, and a dataset counts once its job has left its mark.
    """
    first = next(iter(outputs))
    if not isinstance(first, Path):
        for output in outputs:
            stores.remove(output)
        yield launcher, list(outputs)
        return
    with working_beside(first, launcher) as beside:
        folders = [beside.tmp / f"output-{number}" for number in range(len(outputs))]
        yield beside, list(folders)
        for folder, (output, key) in zip(folders, outputs.items(), strict=True):
            deliver(folder, Path(output), key)
