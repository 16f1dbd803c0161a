"""For what a memory was used. What was asked is nobody's to keep: a way is all that is noted."""

from __future__ import annotations

from enum import StrEnum


class Way(StrEnum):
    """By which way out a memory was told."""

    SEARCH = "search"
    CONTEXT = "context"
    """In the context block of a prompt."""
    ROUNDS = "rounds"
    """Before an answer, by a retrieval in rounds."""
    TOOL = "tool"
    """To an agent, by a tool."""
    GRAPH = "graph"
    """As a way into the graph."""
