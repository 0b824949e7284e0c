"""A work folder whose first datasets come from text files: what a run does after them.

`imported` in the manifest is {"kind", "files", "datasets", "fingerprint"}; the fingerprint, there
once all is in place, stands for the marks of the steps that `import-text` takes the place of.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crawlrank.jobs.kernel.captures.choosing import CaptureRules
from crawlrank.jobs.kernel.errors import BadInput
from crawlrank.jobs.kernel.storage.opening import PathOrUrl
from crawlrank.pipeline.ranking.methods import Method, method_of
from crawlrank.pipeline.steps import EMBEDDED
from crawlrank.pipeline.workfolder.manifest import Manifest

LINKS, KEYS, GRAPH = "links", "keys", "graph"
SELECT = "select-links"  # the step that only some runs have

#: kind -> the steps that it takes the place of; the last one is shown as done
REPLACED = {
    LINKS: ("extract-links",),
    KEYS: ("extract-links",),
    GRAPH: ("extract-links", "canonicalize", "assign-ids", "gen-graph"),
}
IMPORT_AGAIN = "Import the text files into a new work folder with `crawlrank step import-text`."
WITHOUT_URIS = (KEYS, GRAPH)  # so there is nothing that Heritrix could look up


def steps_of(
    manifest: Manifest,
    steps: Sequence[str],
    *,
    selects: bool | None = None,
    method: Method | None = None,
) -> list[str]:
    """The steps that a run in this work folder has. selects: whether it selects links.
    method: its ranking. Both are by default as the parameters in the manifest say."""
    kind = manifest.imported.get("kind")
    usual = CaptureRules().parameters()
    if selects is None:
        selects = any(manifest.parameters.get(name, usual[name]) != usual[name] for name in usual)
    no_steps = set() if selects else {SELECT}
    if not (method or method_of(manifest.parameters)).opic:
        no_steps.add("validate-opic")
    if kind is None:
        return [step for step in steps if step not in no_steps]
    no_steps.update(REPLACED[kind][:-1])
    if kind in WITHOUT_URIS:
        no_steps.add("export-precedence")
    return [step for step in steps if step not in no_steps]


def require_finished(manifest: Manifest) -> None:
    """Raise BadInput where a step that a run in this work folder has is not done; validation may
    be left out."""
    without = manifest.imported.get("kind") in WITHOUT_URIS
    manifest.require_done("page-rank", "join-scores" if without else "export-precedence")


def require_import(
    work: Path, manifest: Manifest, archives: Sequence[PathOrUrl], runner: str
) -> dict[str, str]:
    """The marks of the steps that were replaced. Raises BadInput for what does not go with them."""
    imported = manifest.imported
    if archives:
        raise BadInput(
            str(work),
            "was made from text files by `crawlrank step import-text`, and now"
            f" {archives[0]} is given",
            "a work folder for archives, or one for text files",
            "Leave the archives out, or name another work folder for them.",
        )
    if runner != EMBEDDED:
        raise BadInput(
            str(work),
            f"was made for the runner {EMBEDDED}, now it is {runner}",
            f"--runner {EMBEDDED}",
            "The commands of the single steps run the jobs on text files.",
        )
    if "fingerprint" not in imported:
        cure = "Run it again."
        raise BadInput(str(work), "import-text was interrupted", "a finished import", cure)
    return dict.fromkeys(REPLACED[imported["kind"]], imported["fingerprint"])
