"""manifest.json of a work folder: what was done, with what, and what came out.

    {"format": 1, "crawlrank": version,
     "archives": {fingerprint: {"path", "size", "part", "counters", "damage", "error"}},
     "imported": {"kind", "files", "datasets", "fingerprint"},
     "parameters": {name: value},
     "steps": {name: {"fingerprint", "parameters", "rows", "counters", "seconds", "crawlrank",
                      "rounds": [{"round", "certificate", "eta", …}]}}}

A step is done when its entry is there with the fingerprint of its inputs and parameters: the entry
is written after the step's datasets were renamed into place.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from jobs.kernel.errors import BadInput
from jobs.kernel.opening import Place, is_url, open_binary, read_range, size_of
from pipeline.datasets import replacing

FORMAT = 1
SAMPLED = 1 << 16
SAVING = 20  # times as long as the manifest took to save, it is not saved again unless it must be


def crawlrank_version() -> str:
    try:
        return version("crawlrank")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"


def fingerprint(*of: Any) -> str:
    """A short digest of values that JSON can hold, equal for equal values."""
    text = json.dumps(of, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def file_fingerprint(path: Place) -> str:
    """Digest of a file's size, first and last 64 KiB: archives are written once, and may be moved
    or touched; reading all of a hundred gigabytes at each start would cost more than it finds."""
    size = size_of(path)
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    if is_url(path):  # there may be hundreds of thousands of them
        for begin in (0, max(0, size - SAMPLED)):
            digest.update(read_range(path, begin, SAMPLED))
        return digest.hexdigest()
    with open_binary(path) as file:
        digest.update(file.read(SAMPLED))
        file.seek(max(0, size - SAMPLED))
        digest.update(file.read(SAMPLED))
    return digest.hexdigest()


def _written(data: dict[str, Any]) -> str:
    """For people to read, but for the archives: thousands, and their damage, on a line each, as an
    indent would take ten times as long with every step that is saved."""
    text = json.dumps({**data, "archives": {}}, indent=1)
    lines = (
        f"  {json.dumps(content)}: {json.dumps(of)}" for content, of in data["archives"].items()
    )
    archives = "{\n" + ",\n".join(lines) + "\n }"
    return text.replace('"archives": {}', f'"archives": {archives}', 1) + "\n"


class Manifest:
    """The manifest in memory; every change is written through."""

    def __init__(self, work: Path) -> None:
        self.path = work / "manifest.json"
        self._next_save = 0.0
        self._data: dict[str, Any] = {
            "format": FORMAT,
            "crawlrank": crawlrank_version(),
            "archives": {},
            "parameters": {},
            "steps": {},
        }
        if self.path.exists():
            self._data = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            data = json.loads(self.path.read_text())
        except (ValueError, OSError) as error:
            raise BadInput(
                str(self.path),
                f"cannot be read ({error})",
                "the manifest of a work folder",
                "Use another --work, or remove this folder.",
            ) from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            found = data.get("format") if isinstance(data, dict) else "none"
            raise BadInput(
                str(self.path),
                f"a manifest of format {found}",
                f"format {FORMAT}",
                "The folder is of another version of crawlrank: use another --work.",
            )
        return data

    def save(self) -> None:
        begun = time.monotonic()
        with replacing(self.path) as place:
            place.write_text(_written(self._data))
        now = time.monotonic()
        self._next_save = now + SAVING * (now - begun)

    def save_in_time(self) -> None:
        """Save, unless it was done a moment ago: a manifest of many archives takes its time, and
        what comes often may be lost by a kill to the last moment."""
        if time.monotonic() >= self._next_save:
            self.save()

    @property
    def archives(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self._data["archives"]
        return found

    @property
    def imported(self) -> dict[str, Any]:
        """What text files the folder was made of, if any; see pipeline/imported.py."""
        found: dict[str, Any] = self._data.setdefault("imported", {})
        return found

    @property
    def claims(self) -> dict[str, str]:
        """URLs of folders of data that are this work folder's own; see pipeline/claim.py."""
        found: dict[str, str] = self._data.setdefault("claims", {})
        return found

    @property
    def parameters(self) -> dict[str, Any]:
        found: dict[str, Any] = self._data["parameters"]
        return found

    @property
    def steps(self) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self._data["steps"]
        return found

    def is_done(self, step: str, mark: str) -> bool:
        return self.steps.get(step, {}).get("fingerprint") == mark

    def require_done(self, *steps: str) -> None:
        """Raise BadInput for the first of the steps that is not."""
        for step in steps:
            if "fingerprint" not in self.steps.get(step, {}):
                cure = "Finish it with `crawlrank run`."
                raise BadInput(str(self.path.parent), f"{step} is not done", "a finished run", cure)

    def forget(self, steps: Iterable[str]) -> None:
        """Steps that are done no longer."""
        for step in steps:
            self.steps.pop(step, None)
        self.save()

    def begun(self, step: str, entry: dict[str, Any]) -> None:
        """Record how far a step is."""
        self.steps[step] = {**entry, "crawlrank": crawlrank_version()}
        self.save_in_time()

    def done(self, step: str, entry: dict[str, Any]) -> None:
        """Record a finished step and save."""
        self.steps[step] = {**entry, "crawlrank": crawlrank_version()}
        self.save()
