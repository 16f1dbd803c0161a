"""What happens to a speaker by others, to people whom they know by name, and in their calendar."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

import policies.language.life_words as life

_DATE: Final = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec) \d|\d{1,2} may|\d{1,2}:\d\d)\b"
)
"""A day or a time of a calendar, in small letters: "on the 3rd", "jun 4", "9:30"."""
_DONE_TO_ONE: Final = re.compile(
    r"\b(?:doctor|gp|dentist|physio|therapist|surgeon|boss|manager|landlord|landlady|teacher|school|bank|court|"
    r"company|council|hospital|mom|mum|dad|they) (?:(?:has|have|had|just|finally|also) ){0,2}(?:put|told|gave|given|"
    r"prescribed|diagnosed|fired|laid|hired|promoted|offered|sent|raised|denied|approved|rejected|accepted|evicted) "
    r"(?:me|us|my|our)\b"
)
"""What somebody with a say in a life did to the speaker: "my boss just promoted me"."""
_NAMED_EVENT: Final = re.compile(
    r"(?<!\w)[A-Z][a-z]+'s (?:[a-z]+ )?(?:birthday|bday|anniversary|wedding|funeral|graduation|surgery|due date|job|"
    r"teacher|bedtime|school|diagnosis|allergy|doctor|boss|wife|husband|partner|girlfriend|boyfriend|baby)\b"
)
"""An event of the life of somebody named: "Anna's wedding"."""
_NAMED_LIFE: Final = re.compile(
    r"^(?:(?i:so|and|but|well|oh|also|yeah|ok),? )?(?!(?:He|She|It|We|They|You|This|That|There|Who|People|Every\w+|"
    r"Some\w+|Nobody)\b)[A-Z][a-z]{1,15}(?: and [A-Z][a-z]{1,15})?(?:'s|'ve|'re|'ll)?"
    r"(?: (?:is|are|was|were|has|have|had|just|also|finally|still|now|recently|actually|didn't|doesn't|isn't|never|"
    r"will|may|might|got|took|no|longer))* (?:quit|lives?|lived|married|engaged|divorced|separated|pregnant|expecting|"
    r"born|died|promoted|fired|laid off|hired|diagnosed|adopted|broke up|split up|allergic|goes to|"
    r"(?:moved?|moving|came|come|coming|going|gone|got|went) (?:to|in|into|out|back|home|here|away)|"
    r"work(?:s|ed|ing)? (?:at|for|as|in|with)|retir(?:ed|es|ing)|passed (?:away|h[ie][rs])|graduat(?:ed|es|ing)|"
    r"(?:turned|turning|turns) \d+|(?:starts|started|left|lost|sold|failed|broke|said|finished|likes|loves|hates|has|"
    r"needs) (?:[a-z]+ )?(?:his|her|their|school|college|uni|university|nursery|daycare|work))\b"
)
"""Somebody by name, and what happens in a life: it is somebody whom the user knows. "Anna has moved to Rome"."""
_APPOINTMENT: Final = re.compile(
    r"\b(?:appointment|meeting|interview|exam|surgery|operation|wedding|funeral|deadline|flight|viewing|hearing|"
    r"check-?up|scan|due date|ceremony|delivery|trip|move|course|rehearsal|recital|tournament)s?"
    r"(?: (?:with|at|in|for|to) (?:[\w']+ ){1,4}?| )?(?:'s|is|are|was|were|has been|have been|got|gets|will be)\b"
)
"""A thing of somebody's calendar, of which is said when it is: "the exam is" on the 3rd."""


def life_events_in(text: str, lower: str, bag: Set[str], own: bool) -> list[str]:
    """Return what somebody else did to the speaker, what happens to somebody named, or when something is to be."""
    rules: list[str] = []
    if _DONE_TO_ONE.search(lower):
        rules.append("done_to_one")
    if own:
        return rules
    if _NAMED_EVENT.search(text):
        rules.append("named_event")
    elif _NAMED_LIFE.match(text):
        rules.append("named_life")
    elif _APPOINTMENT.search(lower) and (bag & life.TIME or _DATE.search(lower)):
        rules.append("appointment")
    return rules
