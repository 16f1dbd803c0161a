"""What must not be kept of a text: where it stands and what takes its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Finding:
    """A span of a text that must not be kept. `point` says that its sentence is about nothing else."""

    rule: str
    start: int
    end: int
    placeholder: str
    point: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern with a group `value`, which must pass the check if there is one."""

    name: str
    pattern: re.Pattern[str]
    placeholder: str = "[secret]"
    point: bool = False
    check: Callable[[str], bool] | None = None

    def find(self, text: str) -> Iterator[Finding]:
        """What the rule finds; linear in the length of the text, as all patterns are."""
        for match in self.pattern.finditer(text):
            if self.check is None or self.check(match["value"]):
                yield Finding(self.name, *match.span("value"), self.placeholder, self.point)


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern that takes capitals and small letters for the same, but where it says otherwise."""
    return re.compile(pattern, re.IGNORECASE)


_RUN: Final = re.compile(r"[A-Za-z]+|\d+")


def has_digit(value: str) -> bool:
    """Whether there is a digit in it."""
    return any(c.isdigit() for c in value)


def changes(value: str) -> int:
    """How often letters and digits take turns in a text: none in "office365" beyond the first, many in a key."""
    return len(_RUN.findall(value)) - 1
