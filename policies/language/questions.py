"""The end of what the other side said: a question or none, about the user or not."""

from __future__ import annotations

import re
from typing import Final

_QUESTION: Final = re.compile(r"[^.!?\n]{1,300}\?")
"""A question, from the end of the sentence before it: "How are you?"."""
_SHORTEST_QUESTION: Final = 12
_USER: Final = re.compile(r"\b(?:you|your|yours|you're|you've|u|ur)\b", re.IGNORECASE)
"""A word that means whom one speaks to: "your"."""


def asks_about_user(text: str) -> bool:
    """Return whether the other side's text ends by asking something about the user ("Do you have any pets?")."""
    return any(_USER.search(question) for question in _QUESTION.findall(text[-200:]))


def asks(text: str) -> bool:
    """Return whether the other side's text ends by asking something, whatever it is about ("What do they eat?")."""
    return any(len(question) > _SHORTEST_QUESTION for question in _QUESTION.findall(text[-200:]))
