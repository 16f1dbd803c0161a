"""The ways out: what is known, for whom may see it.

`open_recall` opens them for a process that lives beside the fleet; a service and its clients ask over HTTP.
"""

from stores.plugin import needs_extra

with needs_extra("fleet", "recall"):
    from memory.edits import Edit
    from memory.remember import Remembered, Statement
    from recall.context_block import ContextBlock
    from recall.excerpts import Excerpt
    from recall.filters import Filters
    from recall.listing import Origin, Page
    from recall.open import AsyncRecall, Recall, open_recall
    from recall.retrieve import Hit, Why

__all__ = [
    "AsyncRecall",
    "ContextBlock",
    "Edit",
    "Excerpt",
    "Filters",
    "Hit",
    "Origin",
    "Page",
    "Recall",
    "Remembered",
    "Statement",
    "Why",
    "open_recall",
]
