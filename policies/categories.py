"""Which category is meant, however somebody writes it."""

from __future__ import annotations

from collections.abc import Sequence


def normalised_category(given: str | None, categories: Sequence[str]) -> str:
    """Return the one of the categories that is meant, spelled as the setting has it; the last one where none is.

    Case, and whether spaces, hyphens or underscores stand between words, make no difference ("S3 Vectors Memory
    Implementation Plan (V1)", LangGraph tools: title case with underscores, `Other` by default).
    """
    wanted = _key(given or "")
    return next((category for category in categories if _key(category) == wanted), categories[-1])


def is_category(given: str, categories: Sequence[str]) -> bool:
    """Return whether one of the categories is written so, however."""
    return _key(given) in map(_key, categories)


def _key(name: str) -> str:
    return "_".join(name.casefold().replace("_", " ").replace("-", " ").split())
