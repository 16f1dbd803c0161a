"""Imports modules where nothing is installed but what a lock names, as far as an installation of all can tell.

    python -m tests.only_locked locks/rules.lock worker.extract.rules

Where a package is wanted that the lock does not name, it fails as an import does that finds nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

_OURS = {"afterturn", "afterturn-client"}
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)


class OnlyLocked(MetaPathFinder):
    """Hides what comes of distributions that a lock does not name."""

    def __init__(self, lock: Path) -> None:
        named = {_normal(name) for name in _PINNED.findall(lock.read_text())} | _OURS
        self._hidden = {
            top for top, brought_by in packages_distributions().items() if named.isdisjoint(map(_normal, brought_by))
        }

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = fullname.partition(".")[0]
        if top in self._hidden:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        return None


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


if __name__ == "__main__":
    sys.meta_path.insert(0, OnlyLocked(Path(sys.argv[1])))
    for module in sys.argv[2:]:
        import_module(module)
