"""All edits, by area. To add one: a row in the module of its area, seen to be found."""

from __future__ import annotations

from mutants import of_archives, of_graph, of_library, of_ranking, of_results, of_work
from mutants.edit import Edit

MODULES = (of_ranking, of_archives, of_graph, of_work, of_results, of_library)
AREAS: dict[str, tuple[Edit, ...]] = {
    area: edits for module in MODULES for area, edits in module.EDITS.items()
}
EDITS: tuple[Edit, ...] = tuple(edit for edits in AREAS.values() for edit in edits)
