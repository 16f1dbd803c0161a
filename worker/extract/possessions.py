"""What people have one of at a time besides the slots of `attributes`: a bank, a doctor, a deadline, an appointment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from worker.extract.slots import NAME_WORD

_NOUNS: Final = (
    r"bank|doctor|physician|gp|dentist|therapist|psychiatrist|lawyer|accountant|landlord|landlady|boss|manager|"
    r"supervisor|mentor|gym|laptop|computer|tablet|camera|watch|bike|motorbike|hairdresser|barber|trainer|coach|vet|"
    r"insurer|insurance|airline|internet provider|phone provider|mobile provider|e-?mail provider|native language|"
    r"mother tongue|star sign|zodiac sign|shoe size|dress size|church"
)
_NOUN = rf"(?P<n>(?i:{_NOUNS}))"
_SAME_THING: Final = {
    "gp": "doctor",
    "physician": "doctor",
    "mother_tongue": "native_language",
    "barber": "hairdresser",
}
_NAME = rf"(?P<o>{NAME_WORD}(?: {NAME_WORD}){{0,3}})"
_NEW = r"(?:(?:new|current|main|own|old) ){0,2}"
_STILL = r"(?: (?:now|still|currently|again|at|with|called|named|an?|the|size)){0,3}"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = (
    rf"(?P<o>(?i:\d{{4}}-\d\d-\d\d|\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}})?|"
    rf"{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?|"
    rf"(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day(?: \d{{1,2}} {_MONTH}(?: \d{{4}})?)?))\b"
)
_MOVED = (
    r"(?:'s| is| are| will be|(?:(?: was| were| has been| got| is now)? (?:moved|postponed|rescheduled|"
    r"changed|extended|"
    r"pushed back|pushed|brought forward|put off|set)))(?: now| again| only| due|"
    r" scheduled){0,2}(?: (?:to|on|for|by|at))?"
)
_EVENT = r"appointment|exam|interview|surgery|operation|wedding|flight|defen[cs]e|checkup|check-up|presentation"
_SEEN = r"dentist|doctor|therapist|vet|lawyer|notary|optician|surgeon|dermatologist|cardiologist|gynaecologist|midwife"

_HAVES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b[Mm]y {_NEW}{_NOUN}(?: is| was changed to| changed to| has been){_STILL} {_NAME}",
        rf"^{_NAME} is (?:now |still )?my {_NEW}{_NOUN}\b",
        rf"\b(?:switched|changed|moved) (?:my )?{_NOUN}s?,? (?:from [A-Z0-9][\w.& '-]{{0,40}}? )?to {_NAME}",
    )
)
_PHRASES: Final = tuple(
    (attribute, re.compile(pattern))
    for attribute, pattern in (
        ("bank", rf"\bI (?:now |still |currently )?bank with {_NAME}"),
        ("doctor", r"\bI(?:'m| am) (?:now |still )?a patient of (?P<o>Dr\.? [A-Z][\w'-]+)"),
    )
)
_EVENTS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b[Mm]y (?:next )?(?P<n>(?:[a-z]+ )?(?:{_EVENT})){_MOVED} {_DATE}",
        rf"\bI(?:'ve| have)(?: got)? (?:an?|my|the) (?P<n>(?:[a-z]+ )?(?:{_EVENT}))(?: is)? (?:on|at|for) {_DATE}",
        rf"\b(?:moved|postponed|rescheduled|changed) my (?P<n>(?:[a-z]+ )?(?:{_EVENT})) to {_DATE}",
    )
)
_VISITS: Final = re.compile(
    rf"\b(?:(?:have|need|am going|'m going|must) (?:to )?(?:see|visit|go to) |[Rr]emind me (?:of|about) )(?:the|my|a) "
    rf"(?P<n>{_SEEN}) (?:again )?on {_DATE}"
)
_MOVED_BY: Final = re.compile(
    rf"\b[Mm]y (?P<n>{_SEEN}) (?:moved|postponed|rescheduled|changed) my appointment to {_DATE}"
)
_DEADLINES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:deadline|due date) (?:of|for) my (?P<n>[a-z]+){_MOVED} {_DATE}",
        rf"\b[Mm]y (?P<n>[a-z]+)(?:'s)? (?:deadline|due date){_MOVED} {_DATE}",
        rf"\b[Mm]y (?P<n>[a-z]+) is (?:now |only )?due (?:on |by )?{_DATE}",
        rf"\b(?:hand in|submit|turn in|finish|deliver) my (?P<n>[a-z]+) (?:on|by|until|before) {_DATE}",
    )
)


def possessions(text: str) -> Iterator[tuple[str, str, str, int]]:
    """(attribute, verb, value, where the value starts) of what a first-person sentence says the speaker has one of."""
    for pattern in _HAVES:
        if match := pattern.search(text):
            noun = _key(match["n"])
            yield noun, f"has as {noun.replace('_', ' ')}", match["o"], match.start("o")
    for attribute, pattern in _PHRASES:
        if match := pattern.search(text):
            yield attribute, f"has as {attribute}", match["o"], match.start("o")
    for pattern in () if _MOVED_BY.search(text) else _EVENTS:
        if match := pattern.search(text):
            yield _key(match["n"]), f"has their {match['n']} on", match["o"], match.start("o")
    for pattern in (_VISITS, _MOVED_BY):
        if match := pattern.search(text):
            yield f"{match['n']}_appointment", f"sees the {match['n']} on", match["o"], match.start("o")
    for pattern in _DEADLINES:
        if match := pattern.search(text):
            yield f"{match['n']}_deadline", f"must hand in their {match['n']} by", match["o"], match.start("o")


def _key(noun: str) -> str:
    key = noun.lower().replace("-", "").replace(" ", "_")
    return _SAME_THING.get(key, key)
