"""Orders not to keep something that can only mean what was told before: "don't keep that complaint about my aunt"."""

from __future__ import annotations

import re
from typing import Final

from policies.language.heads import judge
from policies.language.people import KIN

_TELLS, _CLAIMS = 0.5, 0.2
"""How likely what stands beside an order is worth a memory from which it tells something, and the same of what claims
something: "my salary is 52k, don't store that", not "I take that back"."""
_SAID_BEFORE: Final = re.compile(r"\b(?:that|it|them|those)\b", re.IGNORECASE)
"""Pronouns for something said before, and not for what follows: "don't save that"."""
_NAMED_BEHIND: Final = re.compile(
    r"\s*(?P<what>(?!(?:i|you|he|she|it|we|they|this|that|these|those|there|my|your|his|her|its|our|their|the|an?|no|some|any|"
    r"please|pls|plz|ok|okay|either|any\w+|in|on|to|for|of|at|by|from|with|as|because|since|though|yet|now|then|when|if|or|"
    r"and|but|so|just|only|again|here|out|up|{kin})\b)[a-z][\w'-]*\b[^.!?;\n]{{0,120}})".format(
        kin="|".join(sorted(KIN))
    )
)
"""A thing that is pointed at behind "that": "complaint about my aunt"."""
_STATES: Final = re.compile(
    r"\s(?:is|are|was|were|has|had|have|will|would|can|could|does|did|do)\b|['’](?:s|re|ll|d)\s"
)
"""A verb that makes a statement of it: "that mould is everywhere"."""
_TOPIC: Final = re.compile(
    r"(?:\A|[.!?\n]\s*)(?:(?:and|so|oh|hey|hi|ok|okay|also),? ){0,2}"
    r"(?:about|regarding|concerning|as for|re)\s(?P<what>[^.!?,;:\n]{2,80})[,:;–—-]\s*"
    r"(?:(?:please|pls|just|kindly) )?\Z",
    re.IGNORECASE,
)
"""Words before an order that say what it is about: "About the tablets, "."""


def told_before(text: str, start: int, end: int) -> tuple[str, int, int] | None:
    """Return what an order not to keep "that" means of what was told before, and where it begins and ends with that;
    None where it means what it stands with. The order stands from `start` to `end` (characters)."""
    if topic := _TOPIC.search(text, 0, start):
        return topic["what"], topic.start("what"), end
    behind = _NAMED_BEHIND.match(text, end) if text[start:end].rstrip().lower().endswith(("that", "those")) else None
    if behind is None or _STATES.search(behind["what"]):
        return None
    return behind["what"].strip(" ,"), start, behind.end()


def points_back(text: str, start: int, end: int, before: str, language: str) -> bool:
    """Return whether an order not to keep something can only mean what was said before its message, for that tells
    nothing beside it: "Hm, don't save that". `before` is what the assistant said last."""
    if not _SAID_BEFORE.search(text[start:end]):
        return False
    rest = f"{text[:start]} {text[end:]}".strip(" .,!?;:")
    if not rest:
        return True
    told = judge(rest, None, before, language)
    return told.worth < (_TELLS if told.whose == "none" else _CLAIMS)
