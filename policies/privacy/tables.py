"""Secrets in a table: what stands below a heading such as "password"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.privacy.rules import Finding

_HEADING: Final = re.compile(
    r"[\s*_\"'`]*(?:\w{1,16}[ _-])?(?:password|passwort|passcode|passphrase|pwd|pin|puk|cvv2?|cvc|secret|api[ _-]?key|"
    r"token|contraseña|mot de passe|senha)(?:[ _-](?:code|hash))?[\s*_\"'`]*",
    re.IGNORECASE,
)
"""The heading of a column of secrets: "API key"."""
_SEPARATORS: Final = ("|", "\t", ";", ",")
_PROSE_TOO: Final = (";", ",")
_PLAIN_HEADING: Final = re.compile(r"\s*(?!(?:and|or)\b)[\w./-]{0,24}(?: [\w./-]{1,24})?\s*")
"""A heading of one or two words: "user name"."""
_RULE_CHARS: Final = frozenset(" -:=+\t")


def find(text: str) -> Iterator[Finding]:
    """Yield the cells below a heading that names a secret, in lines of the same width. Linear in its length."""
    if "\n" not in text:
        return
    separator, columns, width, at = "", frozenset[int](), 0, 0
    for line in text.splitlines(keepends=True):
        if separator and line.count(separator) == width:
            yield from _cells(line, at, separator, columns)
        elif heading := next(((s, named) for s in _SEPARATORS if s in line and (named := _named(line, s))), None):
            separator, columns = heading
            width = line.count(separator)
        else:
            separator = ""
        at += len(line)


def _named(line: str, separator: str) -> frozenset[int]:
    cells = line.split(separator)
    if separator in _PROSE_TOO and not all(map(_PLAIN_HEADING.fullmatch, cells)):
        return frozenset()
    return frozenset(column for column, cell in enumerate(cells) if _HEADING.fullmatch(cell))


def _cells(line: str, at: int, separator: str, columns: frozenset[int]) -> Iterator[Finding]:
    for column, cell in enumerate(line.split(separator)):
        value = cell.strip()
        if column in columns and value and not value.startswith("[") and not set(value) <= _RULE_CHARS:
            start = at + cell.index(value)
            yield Finding("secret_in_table", start, start + len(value), "[secret]")
        at += len(cell) + len(separator)
