"""Prompts of the language model, a file a prompt. The name of a file carries its version, which the audit keeps: a
prompt that was in use is never edited, a better one gets the next number."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_BLANK = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt with blanks such as `{{turns}}`."""

    version: str
    text: str

    def filled(self, **values: str) -> str:
        """Return the prompt with every blank filled, once: what looks like a blank in a value stays as it is.

        Raises:
            KeyError: a blank has no value.
        """
        return _BLANK.sub(lambda blank: values[blank[1]], self.text)


@cache
def prompt(version: str) -> Prompt:
    """Return the prompt of a version such as `extract-1`."""
    return Prompt(version, (Path(__file__).parent / f"{version}.md").read_text(encoding="utf-8"))
