"""A turn and what admission said of it."""

from __future__ import annotations

from dataclasses import dataclass

from schema.decision import Admission
from schema.turn import Turn


@dataclass(frozen=True)
class AdmittedTurn:
    """A turn with what admission said of it. A skipped one is context: nothing may come of it."""

    turn: Turn
    admission: Admission
