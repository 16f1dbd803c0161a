"""The reasons of admission in plain words: what was seen in a turn that made it worth a look, or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

PLAIN: Final[Mapping[str, str]] = {
    "may_answer": "it may be an answer",
    "may_forget": "it may ask for something to be forgotten",
    "worth": "something about them that is worth remembering",
    "statement": "a statement",
    "may_tell": "it may tell something of them",
    "attachment": "something shared with it",
    "not_english": "words that are not English",
    "external_source": "it comes from elsewhere than the chat",
    "nothing_personal": "nothing personal",
    "no_prose": "no words of their own",
    "off_the_record": "they said it off the record",
    "consent_withdrawn": "their consent is withdrawn",
}
_ORDER: Final = "command_"


def seen(reasons: Sequence[str]) -> str:
    """Return what was seen in a turn, in plain words and nothing twice; a reason without any stands as it is."""
    return ", ".join(dict.fromkeys(map(_plain, reasons))) or "nothing"


def _plain(reason: str) -> str:
    if reason.startswith(_ORDER):
        return f"an order to the memory ({reason.removeprefix(_ORDER).replace('_', ' ')})"
    return PLAIN.get(reason, reason.replace("_", " "))
