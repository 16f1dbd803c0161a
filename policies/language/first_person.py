"""Words of the first person: what a speaker says that they are, have, do or think."""

from __future__ import annotations

from collections.abc import Sequence

from policies.language.life_words import CLITIC, LASTING, SPEAKER
from policies.language.sentences import words

_BE = words("am is are was were be been being i'm im we're 're were wasn't weren't ain't")
_HAVE = words("have has had haven't hasn't hadn't i've ive we've got")
_MODAL = words(
    "will would can could should may might must shall won't wouldn't can't cannot cant couldn't shouldn't i'll ill "
    "we'll i'd id we'd"
)
_DO = words("do did don't dont didn't didnt does")
_ADVERB = words(
    "not never always usually often sometimes just also really actually only still recently finally currently mostly "
    "already even both once mainly definitely absolutely especially almost probably certainly totally truly honestly "
    "occasionally rarely normally generally typically personally kinda now too ever all so very pretty quite"
)
_HELPING = _BE | _HAVE | _MODAL | _DO | _ADVERB
_TOWARDS = words("going used trying able about supposed planning hoping hope plan tend learning starting started")
_COUNTED = words(
    "a an the no any some my our many several lots one two three four five six seven eight nine ten twenty thirty "
    "another plenty more most enough too"
)
_MENTAL = words(
    "think thinking thought know knew guess bet imagine suppose agree hear heard see saw seen understand believe say "
    "said mean meant wonder wondering tell told ask asked realize realized forget forgot remember recall expect assume "
    "figure figured appreciate admire admit recommend suggest doubt hope wish notice noticed consider look help "
    "let give show send thank feel find sound promise check wait"
)
"""Verbs of thought and of talk, and what people offer to do for each other: most often they lead to something else."""
_POLITE_STATE = words("sure sorry glad happy impressed jealous curious proud afraid certain here with you ready good")


def first_person_clauses(words: Sequence[str]) -> set[str]:
    """Return the kinds of clause with "I" or "we" in a sentence, given as its words in lower case.

    "state" (I am busy), "polite_state" (I'm sure), "owns" (I have two), "ongoing" (I've been training, I used to),
    "personal_verb" (I moved), "mental_verb" (I think), "other_verb", and "modal" with any of them (I could).
    """
    kinds: set[str] = set()
    last = len(words)
    for index, word in enumerate(words):
        if word not in SPEAKER:
            continue
        helper = word if "'" in word or word in CLITIC else ""
        at = index + 1
        modal = helper in _MODAL
        while at < last and at < index + 8 and words[at] in _HELPING:
            if words[at] not in _ADVERB:
                helper = words[at]
                modal = modal or helper in _MODAL
            at += 1
        head = words[at] if at < last else ""
        following = words[at + 1] if at + 1 < last else ""
        if head == "gonna" or (head in _TOWARDS and following == "to"):
            kinds.add("ongoing")
            continue
        if modal:
            kinds.add("modal")
        if head in LASTING:
            kinds.add("personal_verb")
        elif head in _MENTAL:
            kinds.add("mental_verb")
        elif helper in _BE and head:
            is_polite = head in _POLITE_STATE and (head != "with" or following == "you")
            kinds.add("ongoing" if head.endswith("ing") else "polite_state" if is_polite else "state")
        elif helper in _HAVE and (head in _COUNTED or head[:1].isdigit()):
            kinds.add("owns")
        elif head:
            kinds.add("other_verb")
    return kinds
