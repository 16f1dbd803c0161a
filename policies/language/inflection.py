"""Forms of English verbs."""

from __future__ import annotations

from typing import Final

_IRREGULAR: Final = {"be": "is", "have": "has", "do": "does", "go": "goes", "am": "is", "are": "is", "were": "was"}


def inflected(verb: str) -> str:
    """Return the third person singular of a verb's base form: "bake" -> "bakes", "have" -> "has"."""
    lower = verb.lower()
    if verb.isupper() and len(verb) > 1:
        return inflected(lower).upper()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"
