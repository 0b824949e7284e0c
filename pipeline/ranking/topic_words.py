"""The words of a topic, and how much a text is of it.

Words are sequences of letters and digits. Case, accents and forms of letters that mean the same
(Unicode NFKD) do not matter. A phrase is words that follow each other.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

_WORD = re.compile(r"\w+").findall


def folded(text: str) -> str:
    """The words of a text, folded, with a blank before, between and after them; '' without any."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    words = _WORD("".join(c for c in plain if not unicodedata.combining(c)))
    return f" {' '.join(words)} " if words else ""


@dataclass(frozen=True)
class TopicWords:
    """phrases: each as `folded` has it, with its weight, above 0. mark: a digest of them."""

    phrases: tuple[tuple[str, float], ...]
    mark: str

    def weight(self, text: str) -> float:
        """The sum of the weights of the phrases that are in a text, each once."""
        words = folded(text)
        return math.fsum([weight for phrase, weight in self.phrases if phrase in words])
