"""Quotation: what cannot surely be told of its speaker stands in their own words."""

from __future__ import annotations

from typing import Final

from schema import MAX_SUMMARY_CHARS

NAMELESS: Final = "The user"
"""A user who never said a name."""


def quotation(words: str, name: str, asked: str | None = None) -> str:
    """Return what somebody said in their own words, with the question that it answers: 'Maya: "I love pottery."'."""
    who = NAMELESS.lower() if name == NAMELESS and asked else name
    opening = f'Asked "{asked}", {who} said: ' if asked else f"{who}: "
    summary = f'{opening}"{ended(words.strip())}"'
    summary = summary[:1].upper() + summary[1:]
    return summary if len(summary) <= MAX_SUMMARY_CHARS else summary[: MAX_SUMMARY_CHARS - 2].rsplit(" ", 1)[0] + '…"'


def ended(text: str) -> str:
    """Return a sentence with its full stop, where no mark ends it."""
    return text if text[-1:] in ".!?…\"'”)。！？" else f"{text}."


def sentence(text: str) -> str:
    """Return a text as a sentence: with a capital, an end, and no longer than a summary may be."""
    text = text.strip(" ,;:-")
    if not text:
        return text
    # "iPhone" has its capital where it belongs.
    return ended(text if text[1:2].isupper() else text[0].upper() + text[1:])[:MAX_SUMMARY_CHARS]
