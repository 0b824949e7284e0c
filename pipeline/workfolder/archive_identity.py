"""Which archive a file is: one that the work folder knows, one that has changed, or a new one.

A glance at a file gives the digest of its size and ends, that of pieces all over it, and when it
was modified. A known archive with the same of all three is taken for the same. Where only the ends
are the same (a file was touched, copied, or written again), the digest of all bytes decides; the
manifest has it from when the archive was extracted. So it does where several files with the same
ends are given together. Entries of older versions have no digest: they are known by their ends.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jobs.kernel.errors import BadInput
from jobs.kernel.storage.digesting import Digesting
from jobs.kernel.storage.opening import Place, is_url, modified_of, open_binary, real, size_of
from pipeline.workfolder.manifest import SAMPLED, file_fingerprint, fingerprint

AT_ONCE = 32
PIECES, PIECE = 16, 1 << 12  # bytes; of a file on a disk 16 seeks, some 0.1 s at worst
Entries = Mapping[str, Mapping[str, Any]]
Given = TypeVar("Given")
Made = TypeVar("Made")


class Glance(NamedTuple):
    """What a file shows without being read. ends: digest of its size and ends. modified: in ns
    since 1970, None where a store does not tell. pieces: digest, '' of what is not on a disk."""

    path: Place
    ends: str
    modified: int | None
    pieces: str

    def noted(self) -> dict[str, Any]:
        """What the manifest keeps of it."""
        return {"ends": self.ends, "modified": self.modified, "pieces": self.pieces}


class Identified(NamedTuple):
    """digest: of all bytes, '' where it was not needed."""

    glance: Glance
    digest: str = ""


def glance_at(path: Place) -> Glance:
    """Raises BadInput where the file cannot be read."""
    try:
        pieces = "" if is_url(path) else _pieces(Path(path))
        return Glance(path, file_fingerprint(path), modified_of(path), pieces)
    except OSError as error:
        raise _unreadable(path, error) from error


def _pieces(path: Path) -> str:
    """Of a file whose ends are not all of it."""
    if (size := size_of(path)) <= 2 * SAMPLED:
        return ""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb", buffering=0) as file:
        for number in range(1, PIECES + 1):
            file.seek(size * number // (PIECES + 1))
            digest.update(file.read(PIECE))
    return digest.hexdigest()


def digest_of(path: Place) -> str:
    """Of all bytes of an archive. Raises BadInput."""
    try:
        with open_binary(path) as stream:
            return Digesting(stream).hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Place, error: OSError) -> BadInput:
    found = f"cannot be read ({error.strerror or error})"
    return BadInput(str(path), found, "a WARC or ARC file")


def identify(
    paths: Sequence[Place], known: Entries, *, full: bool = False
) -> dict[str, Identified]:
    """The archives by their keys: those of known entries, new ones for others. The same content
    counts once. full: read all of every file that may be a known one. Raises BadInput."""
    glances = _distinct(_in_threads(glance_at, paths))
    entries = _by_ends(known)
    given = Counter(glance.ends for glance in glances)
    doubtful = [
        glance.path
        for glance in glances
        if given[glance.ends] > 1
        or (glance.ends in entries and (full or not _known(glance, entries[glance.ends])))
    ]
    digests = dict(zip(doubtful, _in_threads(digest_of, doubtful), strict=True))
    found: dict[str, Identified] = {}
    for glance in glances:
        digest = digests.get(glance.path, "")
        key = _key(glance, digest, entries.get(glance.ends, {}), found)
        found.setdefault(key, Identified(glance, digest))
    return found


def _distinct(glances: Iterable[Glance]) -> list[Glance]:
    """Each file once, whatever its names."""
    files: dict[str, Glance] = {}
    for glance in glances:
        files.setdefault(real(glance.path), glance)
    return list(files.values())


def _by_ends(known: Entries) -> dict[str, dict[str, Mapping[str, Any]]]:
    entries: dict[str, dict[str, Mapping[str, Any]]] = {}
    for key, entry in known.items():
        entries.setdefault(entry.get("ends", key), {})[key] = entry
    return entries


def _known(glance: Glance, candidates: Entries) -> str:
    """The key of the one entry that shows the same; '' if there is none, or are several."""
    noted = glance.noted()
    same = [
        key
        for key, entry in candidates.items()
        if all(entry.get(name) == value for name, value in noted.items())
    ]
    if not same and len(candidates) == 1:
        same = [key for key, entry in candidates.items() if not entry.get("digest")]
    return same[0] if len(same) == 1 else ""


def _key(glance: Glance, digest: str, candidates: Entries, found: Mapping[str, Identified]) -> str:
    """Of a known entry, or of a new one, or of the same content among those found already."""
    if not digest:
        return _known(glance, candidates) or glance.ends
    for key, entry in candidates.items():
        if entry.get("digest") == digest:
            return key
    for key, other in found.items():
        if (other.digest, other.glance.ends) == (digest, glance.ends):
            return key
    key = _known(glance, candidates)
    if key and key not in found and not candidates[key].get("digest"):
        return key
    taken = glance.ends in candidates or glance.ends in found
    return fingerprint(glance.ends, digest) if taken else glance.ends


def _in_threads(work: Callable[[Given], Made], of: Iterable[Given]) -> list[Made]:
    """A store takes its time for each."""
    todo = list(of)
    with ThreadPool(max(1, min(AT_ONCE, len(todo)))) as pool:
        return list(pool.imap(work, todo))
