"""Rankings side by side: each a folder in `rankings` of a work folder, on the graph of that.

rankings/LABEL is laid out as a work folder, so every command that reads one reads it: its datasets
up to the graph are links to those of the folder around it, its manifest begins with their entries,
and the steps from page-rank on are its own. It holds for the graph that it was made of: once that
is made anew, the ranking is stale until it is ranked again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.pipeline.steps import RANK, SHARED
from crawlrank.pipeline.workfolder.dataset_store import remove
from crawlrank.pipeline.workfolder.manifest import (
    Manifest,
    fingerprint,
    require_finished,
    require_manifest,
)
from crawlrank.pipeline.workfolder.work_folder import DATASETS, OF_RANKING

RANKINGS = "rankings"
OWN = "run"  # the label of the ranking of the run itself
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z", re.ASCII)
SECTIONS = ("archives", "parts", "imported")  # of the manifest, shared as they are


def labels(work: Path) -> list[str]:
    """The rankings beside a work folder's own, by label."""
    return sorted(path.parent.name for path in (work / RANKINGS).glob("*/manifest.json"))


def new_ranking(work: Path, label: str) -> Path:
    """The folder of a ranking that may be there. Raises BadInput for a label that is no name, for
    that of the run itself, and for one that differs from another in case alone: some file systems
    make one folder of the two."""
    cure = "Name the ranking otherwise."
    if not LABEL.match(label):
        expected = "up to 64 letters, digits and . _ -, of which the first is a letter or digit"
        raise BadInput(f"--name {label!r}", "no label", expected, cure)
    if label.lower() == OWN:
        raise BadInput(f"--name {label}", "the ranking of the run itself", "another label", cure)
    for other in labels(work):
        if other.lower() == label.lower() and other != label:
            raise BadInput(f"--name {label}", f"{other} is there", "another label", cure)
    return work / RANKINGS / label


def ranking_folder(work: Path, ranking: str | None) -> Path:
    """The folder of a ranking that is there, by its label. None, and OWN unless another one has
    that label: of the run's own. Raises BadInput."""
    known = labels(work)
    if ranking is None or (ranking == OWN and OWN not in known):
        return work
    if ranking not in known:
        cure = "Make one with `crawlrank rank`."
        raise BadInput(str(work), f"no ranking {ranking}", " or ".join(known) or "one", cure)
    return work / RANKINGS / ranking


def graph_mark(manifest: Manifest) -> str:
    """What the graph of a work folder was made of. Raises BadInput where it is not done."""
    if imported := manifest.imported.get("fingerprint"):
        done = [step for step in SHARED if step in manifest.steps]
        return fingerprint(imported, [manifest.steps[step].get("fingerprint") for step in done])
    manifest.require_done(SHARED[-1])
    return str(manifest.steps[SHARED[-1]]["fingerprint"])


def take_graph(work: Path, folder: Path, parts: Mapping[str, str]) -> Manifest:
    """Make or renew the shared part of a ranking, in its locked folder. Returns its manifest.
    parts: the rankings that it is made of, each with the fingerprint of its scores.

    Raises BadInput where the graph of the work folder is not done.
    """
    around, manifest = require_manifest(work), Manifest(folder)
    mark = graph_mark(around)
    shared = {step: around.steps[step] for step in SHARED if step in around.steps}
    own = {step: entry for step, entry in manifest.steps.items() if step not in SHARED}
    for name in SECTIONS:
        manifest.section(name).clear()
        manifest.section(name).update(around.section(name))
    manifest.steps.clear()
    manifest.steps.update({**shared, **own})
    manifest.section("ranking").clear()
    manifest.section("ranking").update({"of": mark, **({"parts": dict(parts)} if parts else {})})
    manifest.save()
    for name in DATASETS:
        if name not in OF_RANKING:
            _link(work / name, folder / name)
    return manifest


def _link(dataset: Path, link: Path) -> None:
    """Relative, so that the work folder may be moved."""
    remove(link)
    if dataset.exists():
        link.symlink_to(Path("..") / ".." / dataset.name)


def parts_of(manifest: Manifest) -> dict[str, str]:
    """The rankings that one is made of, by label, with the fingerprints of their scores."""
    return dict(manifest.section("ranking").get("parts", {}))


def is_stale(folder: Path, manifest: Manifest) -> bool:
    """Whether the graph of a ranking was made anew since, or is gone."""
    if not manifest.ranking:
        return False
    work = folder.resolve().parents[1]
    parts = parts_of(manifest)
    try:
        marks = {label: mark_of(ranking_folder(work, label)) for label in parts}
        return marks != parts or graph_mark(require_manifest(work)) != manifest.ranking["of"]
    except BadInput:
        return True


def is_usable(work: Path, label: str) -> bool:
    """Whether a ranking is finished and of the graph that is there."""
    folder = ranking_folder(work, label)
    manifest = Manifest(folder)
    try:
        require_current(folder, manifest)
        require_finished(manifest)
    except BadInput:
        return False
    return True


def mark_of(folder: Path) -> str | None:
    """What the scores of a ranking were made of; None where they are stale or not there."""
    manifest = require_manifest(folder)
    entry = manifest.steps.get(RANK)
    return str(entry["fingerprint"]) if entry and not is_stale(folder, manifest) else None


def require_current(folder: Path, manifest: Manifest) -> None:
    """Raise BadInput for a stale ranking."""
    if is_stale(folder, manifest):
        raise BadInput(
            str(folder),
            "what it was made of is another one by now",
            "a ranking of the graph, or the rankings, that are there",
            f"Rank it again with `{manifest.last_command}`.",
        )
