"""The words of a topic, and how much a text is of it.

Words are sequences of letters, digits, and marks that belong to them. Case, accents and forms of
letters that mean the same (Unicode NFKD) do not matter. Accents are those of Latin, Greek and
Cyrillic letters; marks of other scripts are parts of words, such as the vowels of Hindi and what
makes another letter of one in Japanese. A phrase is words that follow each other.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass

_WORD = re.compile(r"\w+").findall
_ACCENTED_UNTIL = "\u0530"  # the first letter after Latin, Greek and Cyrillic ones


def folded(text: str) -> str:
    """The words of a text, folded, with a blank before, between and after them; '' without any."""
    plain = text.casefold()
    words = _WORD(plain) if plain.isascii() else _without_accents(plain).split()
    return f" {' '.join(words)} " if words else ""


def _without_accents(text: str) -> str:
    """A text without accents, and with blanks between its words."""
    kept, letter = list[str](), ""
    for c in unicodedata.normalize("NFKD", text):
        if unicodedata.category(c)[0] != "M":
            letter = c if c.isalnum() or c == "_" else " "
            kept.append(letter)
        elif letter >= _ACCENTED_UNTIL:
            kept.append(c)
    return unicodedata.normalize("NFC", "".join(kept))


@dataclass(frozen=True)
class TopicWords:
    """phrases: each as `folded` has it, with its weight, above 0. mark: a digest of them."""

    phrases: tuple[tuple[str, float], ...]
    mark: str

    def weight(self, text: str) -> float:
        """The sum of the weights of the phrases that are in a text, each once."""
        words = folded(text)
        return math.fsum([weight for phrase, weight in self.phrases if phrase in words])
