"""Datasets where jobs leave them: folders of parts on this machine, in HDFS or in S3.

A dataset at a path appears there by a rename. One at a URL is there once its job has left
`_SUCCESS` in it, as object stores rename nothing. Errors of a store are raised as OSError.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from crawlrank.jobs.kernel.storage.opening import (
    S3,
    PathOrUrl,
    is_url,
    located,
    prefix_of,
    store_errors,
)

DONE = "_SUCCESS"
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
INFLATED = 8  # about how much larger lines are than their gzip


def join(folder: PathOrUrl, *names: str) -> PathOrUrl:
    """The path or URL of that name in a folder."""
    if is_url(folder):
        return "/".join((str(folder).rstrip("/"), *names))
    return Path(folder, *names)


def exists(dataset: PathOrUrl) -> bool:
    """Whether it is there and complete."""
    if not is_url(dataset):
        return Path(dataset).exists()
    return bool(_type(join(dataset, DONE)) == "File")


def _entries(folder: PathOrUrl, kind: str, **options: bool) -> list[Any]:
    from pyarrow import fs

    filesystem, path = located(str(folder))
    with store_errors():
        infos = filesystem.get_file_info(fs.FileSelector(path.rstrip("/"), **options))
    return [info for info in infos if info.type.name == kind]


def part_sizes(dataset: PathOrUrl) -> list[tuple[PathOrUrl, int]]:
    """The parts of a dataset at a URL, by name, each with its size in bytes."""
    prefix, infos = prefix_of(str(dataset)), _entries(dataset, "File")
    visible = [info for info in infos if info.base_name[0] not in "._"]
    return [(prefix + info.path, info.size) for info in sorted(visible, key=lambda i: i.path)]


def folders(folder: PathOrUrl) -> list[str]:
    """The names of the folders in a folder at a URL; none if it is missing."""
    infos = _entries(folder, "Directory", allow_not_found=True)
    return sorted(info.base_name for info in infos)


def remove(folder: PathOrUrl) -> None:
    """A dataset, complete or not, if it is there."""
    if not is_url(folder):
        shutil.rmtree(folder, ignore_errors=True)
    elif _type(folder) == "Directory":
        filesystem, path = located(str(folder))
        with store_errors():
            filesystem.delete_dir(path.rstrip("/"))


@contextlib.contextmanager
def staged(dataset: PathOrUrl) -> Iterator[PathOrUrl]:
    """Where to write a dataset so that it appears whole: beside its path, renamed when the block
    ends well; or at its URL, where it counts once its job has left DONE. Raises OSError."""
    if is_url(dataset):
        remove(dataset)
        yield dataset
        return
    output = Path(dataset)
    stage = output.with_name(f".{output.name}.part")
    remove(stage)
    yield stage
    remove(output)
    stage.replace(output)


def make_folder(folder: PathOrUrl) -> None:
    """Make a folder at a URL, with its parents."""
    filesystem, path = located(str(folder))
    with store_errors():
        filesystem.create_dir(path.rstrip("/"), recursive=True)


def upload(file: Path, to: PathOrUrl) -> None:
    write(to, file.read_bytes())


def read(file: PathOrUrl) -> bytes | None:
    """A small file at a URL; None if it is missing."""
    filesystem, path = located(str(file))
    try:
        with store_errors(), filesystem.open_input_stream(path, compression=None) as stream:
            return bytes(stream.read())
    except FileNotFoundError:
        return None


def write(file: PathOrUrl, data: bytes) -> None:
    """A small file, as it is, whatever its name says of a compression. Raises OSError."""
    if not is_url(file):
        Path(file).write_bytes(data)
        return
    filesystem, path = located(str(file))
    with store_errors():
        filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(data)


def lines(dataset: PathOrUrl) -> Iterator[bytes]:
    """Every line of a dataset at a URL, with its end, part by part."""
    for part, _ in part_sizes(dataset):
        with open_part(part) as stream:
            yield from stream


def open_part(part: PathOrUrl) -> BinaryIO:
    """A part at a URL, inflated if its name ends like COMPRESSED."""
    filesystem, path = located(str(part))
    stream = filesystem.open_input_stream(path, compression="detect")
    return cast(BinaryIO, io.BufferedReader(stream, 1 << 20))


def ending(part: PathOrUrl, size: int, count: int) -> bytes:
    """The last `count` bytes of a part of `size` bytes at a URL."""
    filesystem, path = located(str(part))
    with store_errors(), filesystem.open_input_file(path) as file:
        start = max(0, size - count)
        return bytes(file.read_at(size - start, start))


def _type(folder: PathOrUrl) -> Any:
    filesystem, path = located(str(folder))
    with store_errors():
        return filesystem.get_file_info(path.rstrip("/")).type.name


def rename(dataset: PathOrUrl, output: PathOrUrl) -> None:
    """A dataset at a URL under another name in the same store; object stores copy it."""
    filesystem, path = located(str(dataset))
    to = located(str(output))[1]
    with store_errors():
        if not str(dataset).startswith(S3):
            filesystem.create_dir(to.rpartition("/")[0], recursive=True)
            filesystem.move(path, to)
            return
        for part, _ in part_sizes(dataset):
            name = str(part).rpartition("/")[2]
            filesystem.copy_file(f"{path}/{name}", f"{to}/{name}")
        filesystem.copy_file(f"{path}/{DONE}", f"{to}/{DONE}")
    remove(dataset)
