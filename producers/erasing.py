"""Takes a subject's turns out of this machine's spool: for erasures."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from memory.settings import Settings
from producers.spool import Spool

_ALL = 1_000_000_000


def drop_spooled(settings: Settings, is_meant: Callable[[Any], bool]) -> tuple[int, int]:
    """Drop the spooled turns that are meant: how many went, and how many stay, because a producer is flushing just now
    or because they were rejected and wait for a person.

    Raises:
        SpoolUnavailable: the spool cannot be read or written.
    """
    if not settings.effective_spool_dir.exists():
        return 0, 0
    spool = Spool(settings.effective_spool_dir, max_turns=settings.spool_max_turns, max_bytes=settings.spool_max_bytes)
    try:
        meant = [turn for turn in spool.oldest(_ALL) if is_meant(json.loads(turn.body))]
        with spool.held_alone() as alone:
            if alone:
                spool.remove(meant)
        rejected = sum(is_meant(json.loads(turn.body)) for turn, _ in spool.rejected(_ALL))
        return (len(meant), rejected) if alone else (0, len(meant) + rejected)
    finally:
        spool.close()
