"""Imports modules where nothing is installed but what a lock names, as far as an installation of all can tell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType

from schema.errors import SettingsError

ROOT = Path(__file__).parents[1]
_OURS = {"afterturn", "afterturn-client"}
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)
_brought_by = cache(packages_distributions)


class _Without(MetaPathFinder):
    """Finds nothing of some packages at the top, as where they are not installed."""

    def __init__(self, hidden: Sequence[str]) -> None:
        self._hidden = frozenset(hidden)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = fullname.partition(".")[0]
        if top in self._hidden:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
        return None


def failing(lock: Path, modules: Sequence[str]) -> dict[str, str]:
    """Return why modules cannot be imported with what a lock names, of those that cannot."""
    named = {_normal(name) for name in _PINNED.findall(lock.read_text())} | _OURS
    hidden = [top for top, distributions in _brought_by().items() if named.isdisjoint(map(_normal, distributions))]
    done = subprocess.run(
        [sys.executable, "-m", "tests.only_locked", ",".join(hidden), *modules],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": "clients/python"},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _import(hidden: str, *modules: str) -> None:
    sys.meta_path.insert(0, _Without(hidden.split(",")))
    for module in modules:
        try:
            import_module(module)
        except (ImportError, SettingsError) as error:
            print(f"{module}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    _import(*sys.argv[1:])
