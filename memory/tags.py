"""Which tags a memory may have, by one rule for whatever gives them: a turn, a statement, an edit."""

from __future__ import annotations

from collections.abc import Sequence

from memory.context import MemoryContext
from memory.planted_orders import likely_planted
from memory.third_parties import text_without_others
from policies.privacy.screen import screen
from schema import Verdict


def kept_tags(tags: Sequence[str], own: Sequence[str], context: MemoryContext) -> tuple[str, ...]:
    """Return those of the tags that hold no secret, no order, and no name of another beside something sensitive of
    theirs; `own` are the user's names.

    Raises:
        EmbedderUnavailable: the embedder cannot be asked now.
    """
    orders = likely_planted(tags, context.embedder)
    name = next(iter(own), "")
    return tuple(
        tag
        for tag in tags
        if tag not in orders
        and screen(tag, context.policy, name=name).verdict is Verdict.ALLOW
        and text_without_others(tag, own, context.policy) == tag
    )
