"""Datasets where jobs leave them: folders of parts on this machine, in HDFS or in S3.

A place is a path or a URL (opening.py). A dataset at a path appears there by a rename;
one at a URL is there once its job has left `_SUCCESS` in it, as object stores rename nothing.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from jobs.kernel.storage.opening import S3, Place, is_url, located, prefix_of, store_errors

DONE = "_SUCCESS"
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
INFLATED = 8  # about how much larger lines are than their gzip


def join(where: Place, *names: str) -> Place:
    """The place of that name in a folder."""
    if is_url(where):
        return "/".join((str(where).rstrip("/"), *names))
    return Path(where, *names)


def exists(dataset: Place) -> bool:
    """Whether it is there, whole. Raises OSError."""
    if not is_url(dataset):
        return Path(dataset).exists()
    return bool(_type(join(dataset, DONE)) == "File")


def part_sizes(dataset: Place) -> list[tuple[Place, int]]:
    """The parts by name, each with its size in bytes, at a URL. Raises OSError."""
    from pyarrow import fs

    filesystem, path = located(str(dataset))
    with store_errors():
        infos = filesystem.get_file_info(fs.FileSelector(path.rstrip("/")))
    prefix = prefix_of(str(dataset))
    parts = [info for info in infos if info.type == fs.FileType.File]
    visible = [info for info in parts if info.base_name[0] not in "._"]
    return [(prefix + info.path, info.size) for info in sorted(visible, key=lambda i: i.path)]


def size_of_dataset(dataset: Place) -> int:
    """Bytes of its text at a URL, estimated where parts are compressed. Raises OSError."""
    sizes = part_sizes(dataset)
    return sum(size * (INFLATED if str(p).endswith(COMPRESSED) else 1) for p, size in sizes)


def folders(where: Place) -> list[str]:
    """The names of the folders in a folder at a URL; none where it is not there. Raises OSError."""
    from pyarrow import fs

    filesystem, path = located(str(where))
    selector = fs.FileSelector(path.rstrip("/"), allow_not_found=True)
    with store_errors():
        infos = filesystem.get_file_info(selector)
    return sorted(info.base_name for info in infos if info.type == fs.FileType.Directory)


def remove(folder: Place) -> None:
    """A dataset, whole or not, if it is there. Raises OSError where it cannot be, at a URL."""
    if not is_url(folder):
        shutil.rmtree(folder, ignore_errors=True)
    elif _type(folder) == "Directory":
        filesystem, path = located(str(folder))
        with store_errors():
            filesystem.delete_dir(path.rstrip("/"))


def make_folder(folder: Place) -> None:
    """At a URL, with those above it. Raises OSError."""
    filesystem, path = located(str(folder))
    with store_errors():
        filesystem.create_dir(path.rstrip("/"), recursive=True)


def upload(file: Path, to: Place) -> None:
    """A file of this machine to a URL. Raises OSError."""
    write(to, file.read_bytes())


def read(file: Place) -> bytes | None:
    """A small file at a URL; none where it is not there. Raises OSError."""
    filesystem, path = located(str(file))
    try:
        with store_errors(), filesystem.open_input_stream(path, compression=None) as stream:
            return bytes(stream.read())
    except FileNotFoundError:
        return None


def write(file: Place, data: bytes) -> None:
    """A file, at a URL, as it is, whatever its name says of a compression. Raises OSError."""
    filesystem, path = located(str(file))
    with store_errors():
        filesystem.create_dir(path.rpartition("/")[0], recursive=True)
        with filesystem.open_output_stream(path, compression=None) as stream:
            stream.write(data)


def lines(dataset: Place) -> Iterator[bytes]:
    """Every line of a dataset at a URL, with its end, part by part. Raises OSError."""
    for part, _ in part_sizes(dataset):
        with open_part(part) as stream:
            yield from stream


def open_part(part: Place) -> BinaryIO:
    """A part at a URL, inflated where its name tells how (.gz, .bz2, .zst, .lz4)."""
    filesystem, path = located(str(part))
    stream = filesystem.open_input_stream(path, compression="detect")
    return cast(BinaryIO, io.BufferedReader(stream, 1 << 20))


def ending(part: Place, size: int, count: int) -> bytes:
    """The last `count` bytes of a part of `size` bytes at a URL."""
    filesystem, path = located(str(part))
    with store_errors(), filesystem.open_input_file(path) as file:
        start = max(0, size - count)
        return bytes(file.read_at(size - start, start))


def _type(where: Place) -> Any:
    filesystem, path = located(str(where))
    with store_errors():
        return filesystem.get_file_info(path.rstrip("/")).type.name


def rename(dataset: Place, output: Place) -> None:
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
