"""Checks that a memory still is as whoever would change it has read it."""

from __future__ import annotations

from collections.abc import Collection

from schema import Memory
from schema.errors import Outdated


class VersionMismatch(Outdated):
    """The memory was changed since the version that the caller has read."""

    def __init__(self, current: int) -> None:
        super().__init__(current)
        self.current = current

    def __str__(self) -> str:
        return f"somebody else changed it meanwhile: it is at version {self.current} now; read it again"


def require_version(memory: Memory, versions: Collection[int] | None) -> None:
    """Check that a memory is at one of these versions; None is any.

    Raises:
        VersionMismatch: it is at another.
    """
    if versions is not None and memory.version not in versions:
        raise VersionMismatch(memory.version)
