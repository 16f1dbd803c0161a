"""Excerpts of documents as they stand in a context block: cited, as data, within what room is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from recall.audience import Audience
from recall.excerpts import Excerpt, excerpts_for, with_textbooks
from schema.control_characters import CONTROL_CHARACTERS
from stores.open import Stores

_CHARS_A_TOKEN: Final = 4.7
"""English, on average (measured for Titan; see stores/embedding/bedrock.py)."""
_OF_DOCUMENTS: Final = (
    "Of the stories of {whose}, word for word. Use them, be specific, and name the excerpt that you use; if they do "
    "not answer, say so."
)


def excerpts_in(asked: Sequence[Audience], question: str, stores: Stores, room_tokens: int) -> list[Excerpt]:
    """Return the best excerpts that fit into so many tokens, leaving out what is too long."""
    fitting: list[Excerpt] = []
    for excerpt in excerpts_for(with_textbooks(asked, stores), question, stores):
        # The heading with the first of them.
        if tokens_of("\n".join(excerpt_lines([*fitting, excerpt]))) <= room_tokens:
            fitting.append(excerpt)
    return fitting


def excerpt_lines(excerpts: Sequence[Excerpt]) -> list[str]:
    """Return the heading and the excerpts, each behind what it is cited by."""
    whose = ", ".join(dict.fromkeys(as_data(excerpt.subject.subject_id) for excerpt in excerpts))
    lines = [_OF_DOCUMENTS.format(whose=whose)]
    for number, excerpt in enumerate(excerpts, start=1):
        name = "Textbook excerpt" if excerpt.is_textbook else "Story excerpt"
        title = f' "{as_data(excerpt.title)}"' if excerpt.title else ""
        page = f", page {excerpt.page}" if excerpt.page else ""
        lines.append(f"[{name} {number}]{title}{page} [{as_data(excerpt.document_id)}]")
        lines.append(as_data(excerpt.content))
    return lines


def as_data(text: str) -> str:
    """Return a text as one line in which nothing can close the block, pass for another excerpt, or command a terminal
    that shows it."""
    line = CONTROL_CHARACTERS.sub("", " ".join(text.split())).replace("<", "‹").replace(">", "›")
    return line.replace("[Story excerpt", "(Story excerpt").replace("[Textbook excerpt", "(Textbook excerpt")


def tokens_of(text: str) -> int:
    """Return about as many tokens as a text has."""
    return math.ceil(len(text) / _CHARS_A_TOKEN)
