"""Takes a subject's turns out of this machine's spool: for erasures."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from producers.spool import Spool
from schema.settings import Settings

_ALL = 1_000_000_000


def drop_spooled(settings: Settings, is_meant: Callable[[Any], bool]) -> tuple[int, int]:
    """Drop the spooled turns that are meant, rejected ones too: how many went, and how many stay, because a producer
    is flushing just now.

    Raises:
        SpoolUnavailable: the spool cannot be read or written.
    """
    if not settings.effective_spool_dir.exists():
        return 0, 0
    spool = Spool(settings.effective_spool_dir, max_turns=settings.spool_max_turns, max_bytes=settings.spool_max_bytes)
    try:
        meant = [turn for turn in spool.oldest(_ALL) if is_meant(json.loads(turn.body))]
        rejected = [turn for turn, _ in spool.rejected(_ALL) if is_meant(json.loads(turn.body))]
        found = len(meant) + len(rejected)
        with spool.locked() as alone:
            if alone:
                spool.remove(meant)
                spool.forget(rejected)
                spool.shrink()
        return (found, 0) if alone else (0, found)
    finally:
        spool.close()
