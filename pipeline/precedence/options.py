"""Options of precedence files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from crawlrank.jobs.kernel.keys.form_columns import Alias
from crawlrank.pipeline.ranking.options import CutOptions

Spellings = Literal["all", "captured"]


@dataclass(frozen=True)
class PrecedenceOptions(CutOptions):
    """How classes are cut and which URIs are listed; DESIGN, precedence.

    unlisted: precedence of URIs that are not in the file, 1 to MAX_BINS + 1; None: bins + 1.
    eta, absolute: bounds of the error of a score, relative to the exact one and in its unit; eta is
    None where they are not known. aliases: further lines.
    """

    unlisted: int | None = None
    spellings: Spellings = "all"
    aliases: tuple[Alias, ...] = ()
    eta: float | None = None
    absolute: float = math.inf

    @classmethod
    def of_run(cls, parameters: Mapping[str, Any]) -> PrecedenceOptions:
        """Those of a run, by the parameters in its manifest."""
        bins, unlisted = int(parameters["--bins"]), int(parameters["--unlisted"])
        aliases = parameters.get("--aliases")
        return cls(
            bins=bins,
            classes_over=parameters["--classes-over"],
            ties=parameters["--ties"],
            unlisted=None if unlisted == bins + 1 else unlisted,
            spellings=parameters["--spellings"],
            aliases=tuple(aliases.split(",")) if aliases else (),
        )

    def parameters(self) -> dict[str, Any]:
        """What results depend on, by option."""
        aliases = {"--aliases": ",".join(self.aliases)} if self.aliases else {}
        return {
            "--bins": self.bins,
            "--unlisted": self.unlisted_precedence,
            "--classes-over": self.classes_over,
            "--ties": self.ties,
            "--spellings": self.spellings,
            **aliases,
        }

    @property
    def unlisted_precedence(self) -> int:
        return self.bins + 1 if self.unlisted is None else self.unlisted
