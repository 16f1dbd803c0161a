"""Characters that a terminal obeys instead of showing, and how texts that users typed are told without them."""

from __future__ import annotations

import re
from typing import Final

CONTROL_CHARACTERS: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Them and those that turn the direction of text; all but the end of a line."""


def without_control_characters(text: str) -> str:
    """Return a text without them; a tab is a blank."""
    return CONTROL_CHARACTERS.sub("", text.replace("\t", " "))


def escaped_in_json(text: str) -> str:
    """Return JSON with the control characters escaped that JSON itself lets stand as they are: the same value."""
    return CONTROL_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
