"""A promise of the product, broken on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """One text of a file in the place of another, and the tests that must notice."""

    name: str
    file: str
    before: str
    after: str
    tests: Sequence[str]
