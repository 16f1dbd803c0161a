"""Whose words an utterance repeats, where they speak in the first person."""

from __future__ import annotations

from typing import Final

from policies.language.annotation import offsets_of
from policies.language.people import people_in
from policies.language.sentences import words
from worker.extract.utterances import Utterance

_ME: Final = frozenset({"i", "me", "my", "mine", "myself"})
_THEM: Final = words("he she they him her them his their everyone everybody")


def is_said_by_nobody(utterance: Utterance) -> bool:
    """Return whether words in the first person are repeated of which it is not told that somebody of the speaker's life
    said them: a text to work on, a part to play, a sign, a song ("The chorus goes: my baby left me")."""
    parsed = utterance.parsed
    if utterance.repeats_from is None or parsed is None:
        return False
    before = [
        index
        for index, at in enumerate(offsets_of(parsed))
        if utterance.start + utterance.spelt.typed(at) < utterance.repeats_from
    ]
    if not before:
        return False
    if any(who.index in before and (who.noun is not None or who.name is not None) for who in people_in(parsed)):
        return False
    spoken = any(parsed.tokens[index].tag in ("VBD", "VBN") for index in before)
    return not any(
        parsed.tokens[index].lower in _THEM or (spoken and parsed.tokens[index].lower in _ME) for index in before
    )
