"""Wheels made of what is installed, so that tests need no package index."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path


def wheel_of_installed(folder: Path, name: str) -> Path:
    """The installed distribution as a wheel, without its compiled parts and commands."""
    found = metadata.distribution(name)
    files = {
        str(path): Path(str(path.locate())).read_bytes()
        for path in found.files or ()
        if path.suffix not in (".pyc", ".so") and ".." not in path.parts and path.name != "RECORD"
    }
    own = next(path for path in files if path.endswith(".dist-info/METADATA"))
    wheel = own.replace("METADATA", "WHEEL")
    files[wheel] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return write_wheel(folder, own.partition(".dist-info")[0], "py3-none-any", files)


def made_wheel(folder: Path, name: str, tag: str, text: str = "") -> Path:
    """A wheel of version 1.0 with one module."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": text.encode(),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n".encode(),
    }
    return write_wheel(folder, f"{name}-1.0", tag, files)


def write_wheel(folder: Path, stem: str, tag: str, files: Mapping[str, bytes]) -> Path:
    path = folder / f"{stem}-{tag}.whl"
    record = f"{stem}.dist-info/RECORD"
    rows = [f"{name},{_digest(data)},{len(data)}\n" for name, data in files.items()]
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in files.items():
            packed.writestr(name, data)
        packed.writestr(record, "".join([*rows, f"{record},,\n"]))
    return path


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
