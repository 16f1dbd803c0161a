"""Whether a sentence speaks of the past or of what is to come."""

from __future__ import annotations

import re
from typing import Final

_FUTURE = re.compile(
    r"\b(?:will|'ll|going to|gonna|plan(?:s|ning)?|want(?:s)? to|hop(?:e|es|ing)|by|until|til|till|won't|can't wait|"
    r"(?:'m|am|'re|are|is) \w+ing|is|have to|need to|due|booked|scheduled|approved|confirmed|reserved|"
    r"starts?|starting|begins?|beginning|leaves?|fly|flies|arrives?|opens?)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|didn't|went|(?<!'ve )(?<!have )(?<!has )got|saw|met|came|took|made|bought|sold|"
    r"left|began|won|lost|hurt(?= my\b)|said|told|found|felt|"
    r"ran|ate|drove|flew|gave|born|since|read|spent|quit|broke|built|wrote|fell|became|grew|taught|knew|heard|caught|"
    r"(?:up|down) from|slept|sent|held|paid|kept|woke|let (?:me|us|him|her|them) go|no longer|"
    r"(?-i:(?!(?:need|indeed|feed|seed|weed|speed|breed|bleed|exceed|proceed|hundred|shed|sacred|naked)\b)[a-z]{2,}ed))\b",
    re.IGNORECASE,
)


def is_past(text: str) -> bool:
    """Whether a sentence speaks of the past rather than of what is to come."""
    past = _PAST.search(text)
    future = _FUTURE.search(text)
    return past is not None and (future is None or past.start() < future.start())


_JOINTS: Final = (
    " because ",
    " which ",
    " who ",
    " and ",
    ". ",
    ", ",
    " but ",
    " so ",
    " starting ",
    " beginning ",
    " starts ",
    " begins ",
    " ends ",
)
"""Where a clause may begin that speaks of another time."""


PUT_OFF_TO: Final = re.compile(
    r"\b(?:moved|postponed|rescheduled|pushed|delayed|extended|changed|put (?:back|off)|brought forward)\b[^,;.]{0,40} "
    r"(?:to|until|till|from) $"
)
"""What was put off lies ahead, both where it was and where it is."""


_AHEAD: Final = re.compile(
    r"(?:(?:['’](?:s|m|re)|\b(?:is|am|are)) (?:[\w']+ ){1,5}?(?:until|till?|by) "
    r"|[,;.!] (?:moving|leaving|going|joining|flying|travell?ing|coming|returning|heading|starting|due|back) |"
    r"\beffective (?:from |on |as of )?)(?:the )?$"
)
"""What holds until a day, or is to come then, lies ahead whatever was before: "she's deployed until May"."""


def past_at(text: str, place: int, past: bool) -> bool:
    """Whether the clause around `place` speaks of the past, in a sentence that as a whole does or does not."""
    if PUT_OFF_TO.search(text[:place]) or _AHEAD.search(text[:place]):
        return False
    begin = max(text.rfind(joint, 0, place) for joint in _JOINTS)
    clause = text[max(begin, 0) :]
    return is_past(clause) if _PAST.search(clause) or _FUTURE.search(clause) else past
