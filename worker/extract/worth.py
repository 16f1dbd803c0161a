"""The gate: whether an utterance tells something that is welcome in a month."""

from __future__ import annotations

import re
from typing import Final

from policies.language.antecedents import is_of_a_place
from policies.language.clauses import is_verb, main_clauses
from policies.language.heads import Judgement
from policies.language.jokes import is_hardly_true
from policies.language.people import opens_with_own_people, people_in
from policies.language.reported_speech import asks_for_writing
from policies.language.sentences import split_sentences
from policies.language.tellable import speaks_of_self
from policies.language.wording import read
from worker.extract.judgement import judged, unannounced
from worker.extract.repeated import is_said_by_nobody
from worker.extract.utterances import Utterance

_READ_CHARS: Final = 4_000
_WORTH, _TELLS, _BIT, _IN_PASSING = 0.1, 0.06, 0.3, 0.5
"""How likely an utterance must be welcome in a month to be kept by itself, with what stands beside it, where it has no
verb and answers no question ("provider 5.x"), and as a part of a request that has no verb: "a text to my landlord, Mr
Pike"."""
_SURELY: Final = 0.95
"""The same of what leans on a sentence that is worth nothing by itself, to be kept with that."""
_FEWEST_WORDS: Final = 3
"""Words of what another source than a chat sends."""
_NOBODYS: Final = "none"
_OF_ANOTHER: Final = frozenset({"quoted", "fiction", "task"})
_SURE: Final = 0.9
_ATTRIBUTE_SURELY: Final = 0.7
"""How sure the head must be of the attribute that what a task is about is of: "no dairy" .78, "two kids at home" .77,
"comb 12mm" .6."""
_NO_AGE: Final = re.compile(
    r"\bI(?:'m| am|'ve been| have been) (?:now |about |like |over |only )?"
    r"(?:12[1-9]|1[3-9]\d|[2-9]\d\d|\d{4,6})[ -]years?[ -]old\b",
    re.IGNORECASE,
)
"""An age that nobody reaches, which is a joke: "I'm 900 years old"."""


def is_worth_keeping(utterance: Utterance) -> bool:
    """Return whether an utterance of the user's tells something of them or their people."""
    if utterance.parsed is None or utterance.asks or is_said_by_nobody(utterance):
        return False
    text = unannounced(utterance)
    if _NO_AGE.search(text) or _names_nothing(text) or _is_of_an_unknown_place(utterance) or _is_of_a_task(utterance):
        return False
    if utterance.turn.source != "chat":
        return len(text.split()) >= _FEWEST_WORDS
    judgement = judged(utterance)
    if _is_of_another(judgement, text, utterance) or _is_joke(utterance, judgement):
        return False
    if utterance.within_request and not main_clauses(utterance.part or utterance.parsed):
        return judgement.worth >= _IN_PASSING
    return judgement.worth >= (_BIT if _is_bit(utterance) and utterance.asked is None else _WORTH)


def _is_of_a_task(utterance: Utterance) -> bool:
    """Return whether an utterance is what a task is about, or a bit of what is to be written, and tells nothing of
    anybody: it names neither its speaker nor people of theirs, and surely no attribute ("no dairy")."""
    part = utterance.part or utterance.parsed
    if part is None or speaks_of_self(part) or people_in(part):
        return False
    is_bit = utterance.within_request and not main_clauses(part)
    if not (utterance.of_task or (is_bit and _asks_for_writing(utterance))):
        return False
    judgement = judged(utterance)
    return judgement.attribute is None or judgement.attribute_sure < _ATTRIBUTE_SURELY


def is_telling_bit(utterance: Utterance) -> bool:
    """Return whether an utterance without a verb is worth keeping, best beside the sentence before it: "Sold the car.
    9k."."""
    return _is_bit(utterance) and is_worth_keeping(utterance)


def _is_bit(utterance: Utterance) -> bool:
    """Return whether an utterance has no verb, "provider 5.x", and no label that says what it is: "Colour: mustard"."""
    part = utterance.part or utterance.parsed
    is_labelled = utterance.spelt.plain[: utterance.shift].rstrip().endswith(":")
    return part is not None and not is_labelled and not any(map(is_verb, part.tokens))


def answers_itself(utterance: Utterance, before: Utterance) -> bool:
    """Return whether an utterance without a verb answers what its speaker asked without one right before it: "Favorite
    film? Moonlight"."""
    if not before.text.endswith("?") or not (_is_bit(before) and _is_bit(utterance)):
        return False
    return utterance.parsed is not None and judged(utterance).worth >= _WORTH


def _names_nothing(text: str) -> bool:
    """Return whether a text has no word of its own: "not any more"."""
    wording = read(text)
    return not (wording.words or wording.quantities or wording.names)


def _is_of_an_unknown_place(utterance: Utterance) -> bool:
    """Return whether an utterance is of a place that is not named before it: "where I live"."""
    part = utterance.part
    return part is not None and is_of_a_place(part) and all(note.start for note in utterance.notes)


def tells_something(utterance: Utterance) -> bool:
    """Return whether an utterance says more than all talk does, if not by itself."""
    return utterance.parsed is not None and judged(utterance).worth >= _TELLS


def holds(before: Utterance, utterance: Utterance) -> bool:
    """Return whether a sentence says what the one behind it is of: one that tells something, or, before one that is
    surely worth it, claims anything: "Found a place! It's a terrace in Levenshulme"."""
    if tells_something(before):
        return True
    return not before.asks and claims_something(before) and judged(utterance).worth >= _SURELY


def claims_something(utterance: Utterance) -> bool:
    """Return whether an utterance says that something is so, whatever it may be worth by itself: "She's a nurse there"
    leans on what was said before it."""
    return utterance.parsed is not None and judged(utterance).whose != _NOBODYS


def is_own_and_meant(utterance: Utterance) -> bool:
    """Return whether the words of an utterance are likely its speaker's own, and meant."""
    if utterance.parsed is None or utterance.part is None or utterance.of_others or utterance.orders:
        return False
    if utterance.turn.source != "chat" or _NO_AGE.search(utterance.spelt.plain):
        return False
    judgement = judged(utterance)
    return judgement.whose not in _OF_ANOTHER and not _is_joke(utterance, judgement)


def _is_of_another(judgement: Judgement, text: str, utterance: Utterance) -> bool:
    """Return whether the head is sure that the words are not the speaker's own telling."""
    if judgement.whose == "fiction" and opens_with_own_people(text):
        return _asks_for_writing(utterance)
    return judgement.whose in _OF_ANOTHER and judgement.whose_sure > _SURE


def _asks_for_writing(utterance: Utterance) -> bool:
    """Return whether the message of an utterance asks for something to be written."""
    words = utterance.turn.text_of("user")[:_READ_CHARS]
    return any(asks_for_writing(sentence.text) for sentence in split_sentences(words))


def _is_joke(utterance: Utterance, judgement: Judgement) -> bool:
    """Return whether its speaker laughs at what they say, and it sounds like a joke or has a number that hardly anybody
    can say of themself: "I'm 97 now. Ha."."""
    if not utterance.laughed:
        return False
    if judgement.certainty == "joke" and judgement.certainty_sure >= _SURE:
        return True
    return is_hardly_true(utterance.spelt.plain)
