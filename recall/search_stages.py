"""The stages of a search: each is timed into the metrics, and a span where tracing is on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

from memory.metrics import SEARCH_SECONDS
from memory.tracing import span

SearchStage = Literal["access", "words", "embed", "dense", "lexical", "graph", "rerank", "read"]
"""May they ask; the subject's words as they are now; the question's vectors; what the index has near; what has its
words; the facts of it; the order of all; what of it may be told, read whole and judged once more."""
_SECONDS = {name: SEARCH_SECONDS.labels(name) for name in get_args(SearchStage)}


@contextmanager
def search_stage(name: SearchStage) -> Iterator[None]:
    """Time a stage of a search, with a span where tracing is on; one that is come to again is observed again."""
    began = time.perf_counter()
    try:
        with span(f"search.{name}"):
            yield
    finally:
        _SECONDS[name].observe(time.perf_counter() - began)
