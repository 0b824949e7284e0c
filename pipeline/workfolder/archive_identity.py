"""Which archive a file is: one that the work folder knows, one that has changed, or a new one.

A glance at a file gives the digest of its size and ends, the digest of pieces all over it, and when
it was modified. A file for which all three are those of a known archive is that archive. Where only
the ends agree (a file was touched, copied, or written again), and where several files with the same
ends are given together, the digest of all bytes decides. The manifest has it since the archive was
extracted. Entries of older versions have no digest: they are known by their ends.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from crawlrank.jobs.kernel.errors import BadInput, unreadable
from crawlrank.jobs.kernel.storage.opening import (
    STORE_CURE,
    PathOrUrl,
    is_url,
    is_web,
    modified_of,
    open_binary,
    read_range,
    real,
    size_of,
)
from crawlrank.jobs.kernel.storage.while_reading import BLOCK, Digesting
from crawlrank.pipeline.workfolder.manifest import (
    SAMPLED,
    ends_digest,
    file_fingerprint,
    fingerprint,
)

AT_ONCE = 32
LEAVE_OUT = "--skip-bad-files leaves out what cannot be read."
PIECES, PIECE = 16, 1 << 12  # bytes; of a file on a disk 16 seeks, some 0.1 s at worst
Entries = Mapping[str, Mapping[str, Any]]
Input = TypeVar("Input")
Output = TypeVar("Output")


class Glance(NamedTuple):
    """What a file shows without being read. ends: digest of its size and ends. modified: in ns
    since 1970, None where a store does not tell. pieces: digest; of a file on the web that of its
    ETag, '' in other stores."""

    path: PathOrUrl
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


def glance_at(path: PathOrUrl) -> Glance:
    """Raises BadInput where the file cannot be read."""
    if is_web(path):
        return _glance_at_web(str(path))
    try:
        pieces = "" if is_url(path) else _pieces(Path(path))
        return Glance(path, file_fingerprint(path), modified_of(path), pieces)
    except OSError as error:
        raise _unreadable(path, error) from error


def _glance_at_web(url: str) -> Glance:
    """Look at a file on the web by two requests, or one for a small file."""
    from crawlrank.jobs.kernel.storage.web.bodies import (
        beginning_of,  # as its library takes time to load
    )

    facts, first = beginning_of(url, SAMPLED)
    size = size_of(url) if facts.size is None else facts.size
    last = first if size <= SAMPLED else read_range(url, size - SAMPLED, SAMPLED)
    tag = fingerprint(facts.etag) if facts.etag else ""
    return Glance(url, ends_digest(size, first, last), facts.modified, tag)


def _pieces(path: Path) -> str:
    """The digests of pieces of a file that is larger than its ends."""
    if (size := size_of(path)) <= 2 * SAMPLED:
        return ""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb", buffering=0) as file:
        for number in range(1, PIECES + 1):
            file.seek(size * number // (PIECES + 1))
            digest.update(file.read(PIECE))
    return digest.hexdigest()


def digest_of(path: PathOrUrl) -> str:
    """The digest of all bytes of an archive whose size is known. Raises BadInput."""
    try:
        with open_binary(path) as stream:
            digesting = Digesting(stream)
            record_read = getattr(digesting.raw, "record_read", None)  # WebFile's
            while digesting.read(BLOCK):
                if record_read:  # no record is looked for, and each block is as good as one
                    record_read()
            return digesting.hexdigest()
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: PathOrUrl, error: OSError) -> BadInput:
    what = f"cannot be read ({error.strerror or error})"
    return BadInput(str(path), what, "a WARC or ARC file", STORE_CURE if is_url(path) else "")


def identify(
    paths: Sequence[PathOrUrl], known: Entries, *, full: bool = False, skip_bad_files: bool = False
) -> dict[str, Identified]:
    """The archives by their keys: those of known entries, new ones for others. The same content
    counts once. full: read all of every file that may be a known one. Raises BadInput for files
    that cannot be read; if those are skipped, they are known by their path, and their extraction
    says why."""
    glances = _distinct(_glances_at(paths, skip_bad_files=skip_bad_files))
    entries = _by_ends(known)
    files = Counter(glance.ends for glance in glances)
    doubtful = [
        glance.path
        for glance in glances
        if files[glance.ends] > 1
        or (glance.ends in entries and (full or not _known(glance, entries[glance.ends])))
    ]
    digests = dict(zip(doubtful, in_threads(digest_of, doubtful), strict=True))
    archives: dict[str, Identified] = {}
    for glance in glances:
        digest = digests.get(glance.path, "")
        key = _key(glance, digest, entries.get(glance.ends, {}), archives)
        archives.setdefault(key, Identified(glance, digest))
    return archives


def _glances_at(paths: Sequence[PathOrUrl], *, skip_bad_files: bool) -> list[Glance]:
    """Raises one BadInput for all that cannot be read, unless they are skipped."""
    looked = in_threads(_glance_or_fault, paths)
    if skip_bad_files:
        return [
            Glance(path, fingerprint("unread", str(path)), None, "")
            if isinstance(each, BadInput)
            else each
            for path, each in zip(paths, looked, strict=True)
        ]
    faults = {str(each.where): each for each in looked if isinstance(each, BadInput)}
    if faults:
        errors = [(where, (of.found, of.expected, of.cure)) for where, of in faults.items()]
        raise unreadable(errors, len(paths), LEAVE_OUT)
    return [each for each in looked if isinstance(each, Glance)]


def _glance_or_fault(path: PathOrUrl) -> Glance | BadInput:
    try:
        return glance_at(path)
    except BadInput as error:
        return error


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
    shown = glance.noted().items()
    same = [
        key
        for key, entry in candidates.items()
        if all(entry.get(name) == value for name, value in shown)
    ]
    if not same and len(candidates) == 1:
        same = [key for key, entry in candidates.items() if not entry.get("digest")]
    return same[0] if len(same) == 1 else ""


def _key(
    glance: Glance, digest: str, candidates: Entries, archives: Mapping[str, Identified]
) -> str:
    """The key of a known entry, of a new one, or of an archive so far with this content."""
    if not digest:
        return _known(glance, candidates) or glance.ends
    for key, entry in candidates.items():
        if entry.get("digest") == digest:
            return key
    for key, archive in archives.items():
        if (archive.digest, archive.glance.ends) == (digest, glance.ends):
            return key
    key = _known(glance, candidates)
    if key and key not in archives and not candidates[key].get("digest"):
        return key
    taken = glance.ends in candidates or glance.ends in archives
    return fingerprint(glance.ends, digest) if taken else glance.ends


def in_threads(work: Callable[[Input], Output], inputs: Collection[Input]) -> list[Output]:
    """The outputs, in order, by up to AT_ONCE threads: a store takes its time for each."""
    with ThreadPool(max(1, min(AT_ONCE, len(inputs)))) as pool:
        return list(pool.imap(work, inputs))
