"""Which words with a capital letter are likely names of people, by what stands around them, in English and elsewhere.

A parse finds few names in short or foreign sentences; here a pronoun, a title or what somebody is to the speaker does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from policies.language.languages import ENGLISH, OTHER, is_common, language_of
from policies.privacy.names import capitals_in, handles_in, is_sensitive, may_be_subject, words_of

_GERMAN: Final = "de"
_WHOSE: Final = (
    r"(?:[\w-]+['’]s|my|our|his|her|their|the|an?|mein\w*|unser\w*|der|die|dem|den|mi|mis|nuestr[oa]|el|la|mon|ma|notre|"
    r"le|il mio|il|la mia|meu|minha|o|mój|moja|mojego|mojej|nasz|nasza|mijn|onze|de)"
)
_BEHIND_A_ROLE: Final = re.compile(rf"\b{_WHOSE}(?: [\w-]+)? [^\W\d_][\w-]{{2,24}},? \Z", re.IGNORECASE)
"""The role of somebody for the speaker, before their name: "Ma collègue ", "our sub-editor "."""
_BEHIND_A_TITLE: Final = re.compile(
    r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Lady|Father|Sister|Brother|Coach|Aunt|Auntie|Aunty|Uncle|Cousin|Old|Poor|Big|"
    r"Little|Frau|Herrn?|Señora?|Sra?|Don|Doña|Madame|Monsieur|Mme|Pani?|Signora?|Mevrouw|Meneer|Tante|Onkel|Oma|Opa|"
    r"Tía|Tío|Oncle)\.? ?\Z"
)
"""A title, or what people put before names: "Frau ", "Poor "."""
_SOMEBODY: Final = re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)
"""Somebody of whom more is said: "she"."""
_SHORTENED: Final = re.compile(r"['’]s\b")
"""A verb, or a thing of theirs, behind a name: "'s skint"."""
_PAIRED: Final = re.compile(r" (?:and|&) [^\W\d_a-zß-öø-ÿ]")
"""Somebody else behind a name: " and Paulo"."""
_PAIR: Final = re.compile(r"[^\W\d_a-zß-öø-ÿ]\w+ (?:and|&) \Z")
"""Somebody else before a name: "Ines and "."""
_SHOUTED: Final = re.compile(r"[^\W\d_a-zß-öø-ÿ]{2,}")
"""A word in capital letters, which is no name: "MRI"."""
_GERMAN_LEAD: Final = re.compile(
    r"\A(?:(?:der|die|das|dem|den|(?:mein|unser|sein|ihr|dein|euer)\w*) [^\W\d_]+ |"
    r"(?:von|bei|mit|für|und) |Frau |Herrn? )+",
    re.IGNORECASE,
)
"""Words before a name in German, where all nouns have capital letters: "Der Sohn von Frau "."""
_OPENS: Final = re.compile(r"(?:\A|[.!?:,;] |\b(?:bei|mit|von|für|und) )[\"“„' ]*\Z", re.IGNORECASE)
"""Where a German noun without an article is likely a name: "Bei "."""
_DOES: Final = re.compile(r",? [a-zß-öø-ÿ]")
"""A verb, most likely, behind a name: " zit"."""
_INITIALS: Final = re.compile(r"(?<![\w.])(?:[^\W\d_a-zß-öø-ÿ]\.){1,3}(?= [a-zß-öø-ÿ])")
"""Initials in place of a name: "T.K. called"."""
_OPENING: Final = "\"“„' "
"""Characters that may stand before the first word of a sentence."""
_NEAR_CHARS: Final = 80
"""How much is read before and behind a name."""


def people_in(sentence: str, people: Sequence[str], things: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """Return the names of others in a sentence that are likely people's, each whole. `people` and `things` are what a
    parse took for names of people and of anything else; `own` are the user's."""
    mine = {name.lower() for name in own}
    language = language_of(sentence)
    is_of_somebody = _SOMEBODY.search(sentence) is not None
    names = dict.fromkeys((*_INITIALS.findall(sentence), *handles_in(sentence)))
    for whole, run in capitals_in(sentence):
        name = _GERMAN_LEAD.sub("", whole) if language == _GERMAN else whole
        is_taken = any(person in name or name in person for person in people)
        if any(part.lower() in mine for part in (name, *words_of(name))) or len(name) < 2:
            continue
        if is_taken or not (
            _SHOUTED.fullmatch(name)
            or is_sensitive(name)
            or is_common(name, language)
            or any(name in thing for thing in things)
        ):
            start = run.start() + run[0].index(name)
            end = start + len(name)
            before, after = sentence[max(0, start - _NEAR_CHARS) : start], sentence[end : end + _NEAR_CHARS]
            if not before.strip(_OPENING) and " " not in name and not (is_taken or may_be_subject(after)):
                continue
            if is_taken or _is_told_of(before, after, language, is_first=not names, is_of_somebody=is_of_somebody):
                names[name] = None
    return tuple(names)


def _is_told_of(before: str, after: str, language: str, *, is_first: bool, is_of_somebody: bool) -> bool:
    """Return whether a name stands where people's do."""
    if _BEHIND_A_TITLE.search(before) or _BEHIND_A_ROLE.search(before) or _PAIRED.match(after) or _PAIR.search(before):
        return True
    if language in (ENGLISH, OTHER):
        return is_of_somebody or _SHORTENED.match(after) is not None
    if language == _GERMAN:
        return _OPENS.search(before) is not None
    return is_first and _DOES.match(after) is not None
