"""Cut a turn into windows that an embedder reads whole.

Source: "Vectorized Episodic and Vectorized Semantic memory": what was said, with what was said before it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from policies.chunking import Sizes, Span, chunks

BEFORE: Final = timedelta(hours=24)
"""For how long a turn of the conversation counts as said just before the next."""


def cut(before: str, own: str, sizes: Sizes, tokens: Callable[[str], list[Span]]) -> list[Span]:
    """Return the windows of what a turn tells: as few as are read whole, and the first reaches back, by a negative
    start, as far into what was told `before` as there is room for. `tokens` says where the tokens of a text stand."""
    places = tokens(own)
    spans = chunks(own, sizes, places) if len(places) > sizes.most else [(0, len(own))]
    start, end = spans[0]
    room = sizes.most - sum(token_start < end for token_start, _ in places)
    if start == 0 and before and room > 0:
        spans[0] = (tokens(before)[-room:][0][0] - len(before), end)
    return spans
