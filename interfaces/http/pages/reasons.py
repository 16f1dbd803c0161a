"""Why something was done to a memory, in words for people who build no software."""

from __future__ import annotations

import re
from typing import Final

from schema import AdmissionAction, Asker, AuditEntry, Review

_PLAIN: Final = {
    "nothing similar": "nothing like it was known",
    "similar memories say something else": "nothing that was known says the same",
    "the same fact": "it was said again",
    "said again": "it was said again",
    "similar, and the words do not tell": "it is like something that was known, and could not be told to be the same",
    "it says more than what is known, whose words its source may not change": (
        "it says more than what you said yourself"
    ),
    "it still holds of a memory that said several things, of which one changed": (
        "it still holds of something that was replaced"
    ),
    "edited: summary": "it says something else now",
    "pinned": "never to fade",
    "unpinned": "it may fade again",
    "suppressed: never told": "not to be mentioned",
    "no longer suppressed": "it may be mentioned again",
    "archived by hand": "by hand",
    "restored by hand": "by hand",
    "told without what was forgotten": "a part of it was to be forgotten",
    "became a part of a consolidated memory": "another memory sums it up together with others",
    "taken out of a consolidated memory": "it stands by itself again",
    "imported": "brought along from elsewhere",
    "contradicts_more_trusted": "it contradicts what you said yourself",
    "the user asked for it to be forgotten": "you asked for it to be forgotten",
    "the user asked for something like it to be forgotten: hidden until somebody says more": (
        "you asked for something like it to be forgotten"
    ),
}
_CHANGED: Final = re.compile(r"(the fact|\w+) changed")
_FADED: Final = re.compile(r"(?:weight|alone|not used).*?(?:not used for|for) (\d+) days.*")
_PUT_AWAY: Final = re.compile(r"archived for (\d+) days")
_ASKED: Final = {
    Asker.SCREENING: "It comes from a text that may give the assistant orders behind your back.",
    Asker.PROMOTION: "It was concluded from several things that happened, and is not sure.",
    Asker.AUTHORITY: "It contradicts what you said yourself, and somebody else said it.",
    Asker.FORGETTING: "You asked for something to be forgotten, and may have meant this. It is hidden meanwhile.",
}


ADMITTED: Final = {
    AdmissionAction.KEEP: "Yes.",
    AdmissionAction.ASK: "Perhaps, so it is looked at.",
    AdmissionAction.SKIP: "No: there is nothing in it that lasts.",
}
"""What admission says of a turn."""


def because(entry: AuditEntry) -> str:
    """Return why a line of the audit says that something was done; what an operator wrote as it is."""
    if entry.reason in _PLAIN:
        return _PLAIN[entry.reason]
    if changed := _CHANGED.fullmatch(entry.reason):
        return f"{changed[1].replace('_', ' ')} changed".replace("the fact", "what it is about")
    if faded := _FADED.fullmatch(entry.reason):
        return f"it faded: it was not used for {faded[1]} days"
    if put_away := _PUT_AWAY.fullmatch(entry.reason):
        return f"it was put away for {put_away[1]} days"
    return entry.reason


def found_by(entry: AuditEntry) -> str:
    """Return who proposed what a line of the audit tells of: fixed rules, or which language model; empty if nobody
    did."""
    model = str(entry.details.get("model") or "")
    if not model:
        return ""
    if model.startswith("rules-"):
        return "Fixed rules found it in what was said; no language model took part."
    return f"The language model {model} found it; its names, numbers and dates were checked against what was said."


def asked_because(review: Review) -> str:
    """Return why a candidate waits for a person."""
    return _ASKED[review.asked_by]
