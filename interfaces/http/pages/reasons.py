"""Why something was done to a memory, in words for people who build no software."""

from __future__ import annotations

import re
from typing import Final

from interfaces.http.pages.language import gettext, marked
from policies.dedup import NEAR_AND_UNTOLD, NEW_BESIDE
from schema import AdmissionAction, Asker, AuditEntry, Review

_PLAIN: Final = {
    "nothing similar": marked("nothing like it was known"),
    NEW_BESIDE: marked("nothing that was known says the same"),
    "the same fact": marked("it was said again"),
    "said again": marked("it was said again"),
    NEAR_AND_UNTOLD: marked("it is like something that was known, and could not be told to be the same"),
    "it says more than what is known, whose words its source may not change": (
        marked("it says more than what you said yourself")
    ),
    "it still holds of a memory that said several things, of which one changed": (
        marked("it still holds of something that was replaced")
    ),
    "edited: summary": marked("it says something else now"),
    "pinned": marked("never to fade"),
    "unpinned": marked("it may fade again"),
    "suppressed: never told": marked("not to be mentioned"),
    "no longer suppressed": marked("it may be mentioned again"),
    "archived by hand": marked("by hand"),
    "restored by hand": marked("by hand"),
    "told without what was forgotten": marked("a part of it was to be forgotten"),
    "became a part of a consolidated memory": marked("another memory sums it up together with others"),
    "taken out of a consolidated memory": marked("it stands by itself again"),
    "imported": marked("brought along from elsewhere"),
    "contradicts_more_trusted": marked("it contradicts what you said yourself"),
    "the user asked for it to be forgotten": marked("you asked for it to be forgotten"),
    "the user asked for something like it to be forgotten: hidden until somebody says more": (
        marked("you asked for something like it to be forgotten")
    ),
}
_PLAIN_FOR_STAFF: Final = {
    "it says more than what is known, whose words its source may not change": (
        marked("it says more than what the user said themself")
    ),
    "contradicts_more_trusted": marked("it contradicts what the user said themself"),
    "the user asked for it to be forgotten": marked("the user asked for it to be forgotten"),
    "the user asked for something like it to be forgotten: hidden until somebody says more": (
        marked("the user asked for something like it to be forgotten")
    ),
}
"""Wordings that differ where it is not the person themself who reads."""
_CHANGED: Final = re.compile(r"(the fact|\w+) changed")
_FADED: Final = re.compile(r"(?:weight|alone|not used).*?(?:not used for|for) (\d+) days.*")
_PUT_AWAY: Final = re.compile(r"archived for (\d+) days")
_ASKED: Final = {
    Asker.SCREENING: marked("It comes from a text that may give the assistant orders behind your back."),
    Asker.PROMOTION: marked("It was concluded from several things that happened, and is not sure."),
    Asker.AUTHORITY: marked("It contradicts what you said yourself, and somebody else said it."),
    Asker.FORGETTING: marked(
        "You asked for something to be forgotten, and it is in doubt what you meant. What you may have meant is hidden."
    ),
}


_ASKED_FOR_STAFF: Final = {
    Asker.SCREENING: marked("It comes from a text that may give the assistant orders behind the user's back."),
    Asker.AUTHORITY: marked("It contradicts what the user said themself, and somebody else said it."),
    Asker.FORGETTING: marked(
        "The user asked for something to be forgotten, and it is in doubt what they meant. What it may be is hidden."
    ),
}
ADMITTED: Final = {
    AdmissionAction.KEEP: marked("Yes."),
    AdmissionAction.ASK: marked("Perhaps, so it is looked at."),
    AdmissionAction.SKIP: marked("No: there is nothing in it that lasts."),
}
"""The words for each answer of admission."""


def because(entry: AuditEntry, is_staff: bool = False) -> str:
    """Return why a line of the audit says that something was done; what an operator wrote as it is."""
    plain = {**_PLAIN, **_PLAIN_FOR_STAFF} if is_staff else _PLAIN
    if entry.reason in plain:
        return gettext(plain[entry.reason])
    if changed := _CHANGED.fullmatch(entry.reason):
        if changed[1] == "the fact":
            return gettext("what it is about changed")
        return gettext("%(attribute)s changed") % {"attribute": changed[1].replace("_", " ")}
    if faded := _FADED.fullmatch(entry.reason):
        return gettext("it faded: it was not used for %(days)s days") % {"days": faded[1]}
    if put_away := _PUT_AWAY.fullmatch(entry.reason):
        return gettext("it was put away for %(days)s days") % {"days": put_away[1]}
    return entry.reason


def found_by(entry: AuditEntry) -> str:
    """Return who proposed what a line of the audit tells of: fixed rules, or which language model; empty if nobody
    did."""
    model = str(entry.details.get("model") or "")
    if not model:
        return ""
    if model.startswith("rules-"):
        return gettext("Fixed rules found it in what was said; no language model took part.")
    text = gettext(
        "The language model %(model)s found it; its names, numbers and dates were checked against what was said."
    )
    return text % {"model": model}


def asked_because(review: Review, is_staff: bool = False) -> str:
    """Return why a candidate waits for a person, who reads it themself unless staff do."""
    asked = {**_ASKED, **_ASKED_FOR_STAFF} if is_staff else _ASKED
    return gettext(asked[review.asked_by])
