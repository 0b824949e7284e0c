"""Where jobs write what becomes the outputs of a step."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jobs.kernel.errors import BadInput
from jobs.kernel.storage import stores
from jobs.kernel.storage.opening import Place
from jobs.kernel.storage.plain_paths import plain_path
from jobs.mapreduce.launcher import Launcher
from pipeline.data.datasets import LineKey, deliver

Places = Sequence[Place]


@contextlib.contextmanager
def workplace(output: Path, launcher: Launcher) -> Iterator[Launcher]:
    """A launcher whose temporary folder lies beside the output, on the same file system."""
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=".crawlrank-", dir=output.parent)
    except OSError as error:
        raise BadInput(
            str(output.parent),
            f"cannot be written ({error.strerror})",
            "a folder for the output",
            "Name another output.",
        ) from error
    with folder as tmp, plain_path(Path(tmp)) as near:
        yield replace(launcher, tmp=near)


@contextlib.contextmanager
def delivering(
    launcher: Launcher, outputs: Mapping[Place, LineKey | None]
) -> Iterator[tuple[Launcher, list[Place]]]:
    """A launcher, and for each output the folder that a job is to write.

    outputs: each with what its rows are merged by where it is one file. On this machine the folders
    become the outputs when the block ends well. At a URL they are the outputs: what is there goes,
    and a dataset counts once its job has left its mark.
    """
    first = next(iter(outputs))
    if not isinstance(first, Path):
        for output in outputs:
            stores.remove(output)
        yield launcher, list(outputs)
        return
    with workplace(first, launcher) as beside:
        folders = [beside.tmp / f"output-{number}" for number in range(len(outputs))]
        yield beside, list(folders)
        for folder, (output, key) in zip(folders, outputs.items(), strict=True):
            deliver(folder, Path(output), key)
