"""The words of a wish to forget: which name nothing, and which a topic as a whole."""

from __future__ import annotations

import re
from typing import Final

from policies.language.attributes import ATTRIBUTES
from policies.language.life_topics import life_topics_named
from policies.language.sentences import words
from policies.language.wording import content, contents, read
from schema import ForgetRequest

_REMOVES: Final = contents(
    words(
        "forget delete erase remove wipe keep kept save saved store stored undo take back out away drop bin lose ditch "
        "scrap discard withdraw retract strike purge clean clear vanish disappear retain call let leave left scrub "
        "throw trash toss gone longer stay rid"
    )
)
"""Words for what is done to what is to be forgotten, as stems."""
_IDLE: Final = _REMOVES | contents(
    words(
        "thing stuff information info detail data story topic matter memory note notebook record list file page "
        "profile part bit last previous whole entire everything anything nothing all something say said told mention "
        "mentioned tell talk entirely completely altogether business remember know knew heard hear never pretend "
        "rather prefer unsay trace mind please ok okay sorry thanks happened going remark comment opinion ever reason "
        "need good kind request unsee unsaid kindly consider shouldn't pray must should could would hey haha lol oh "
        "actually just abt whole want before earlier regarding concerning relating related god gosh oops wrong window "
        "tab chat message one ask asked nah no nope yeah yep yes ugh argh w u ur r pls plz"
    )
)
"""Words of a wish to forget that name nothing, as stems."""
_THINGS_SO_CALLED: Final = re.compile(r"(?!things)\w+ings|(?:hear|sav|call|leav|clean|dropp)ing", re.IGNORECASE)
"""Forms of those words that name a thing: "my savings", "the hearing", "about leaving"."""
_CLAUSE: Final = re.compile(r"(?:that\s+)?(?:i|we)(?:['’]\w+)?\s", re.IGNORECASE)
"""A wish that says what is so names no topic as a whole: "I cook"."""
_POINTS: Final = re.compile(r"\b(?:that|this|it|them|those)\b", re.IGNORECASE)
"""A word that points at what was said: "take that back"."""
_CALLED: Final = {
    name: tuple(
        stems for text in (name.replace("_", " "), *row.called) if (stems := contents(text.split()) - contents(["of"]))
    )
    for name, row in ATTRIBUTES.items()
}
"""The names of each attribute, as stems."""

SPOKEN_WORD: Final = re.compile(r"[^\W_][^\s,;:!?]*[^\W_]|[^\W_]")
"""A word with what is inside it: "e-mail", "8pm"."""

_STAYS: Final = re.compile(
    r"\b(?:keep|(?:stays?|remains?)(?! (?:that way|between|private|secret)\b)|fine|useful|"
    r"(?:is|are|was|were|that) (?:ok|okay)|leave|only|just|rest|retain|may|can have|except|apart from|but not|"
    r"not the)\b|['’]s (?:ok|okay)\b",
    re.IGNORECASE,
)
"""Words of a wish that names what is to stay: "the wedding you can keep", "just the price"."""


def life_topics_meant(request: ForgetRequest, name: str = "") -> frozenset[str]:
    """Return the everyday topics that a wish to forget names as a whole; `name` is what the user is called."""
    if request.scope == "all" or request.known or request.just_said:
        return frozenset()
    what = request.what
    if _CLAUSE.match(what) or (name and re.match(rf"{re.escape(name)}\s", what, re.IGNORECASE)):
        return frozenset()
    named = read(what, name).words - idle_in(what)
    spoken = (word.lower().replace("’", "'").removesuffix("'s") for word in SPOKEN_WORD.findall(what))
    return life_topics_named([word for word in spoken if content(word) in named], request.whole)


def attributes_named(words: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the attributes that words name, as stems, each with those that name it."""
    return {
        attribute: matched
        for attribute, called in _CALLED.items()
        if (matched := frozenset().union(*(phrase for phrase in called if phrase <= words)))
    }


def idle_in(text: str) -> frozenset[str]:
    """Return the words that name nothing, but for those of which a form in a text names a thing. In what the user says
    of themselves, what was done is part of it, "that I dropped out", unless it was done to what was said: "I take that
    back"."""
    clause = _CLAUSE.match(text)
    says_what_was_done = clause is not None and _POINTS.search(text, clause.end()) is None
    idle = _IDLE - _REMOVES if says_what_was_done else _IDLE
    return idle - contents(word.lower() for word in SPOKEN_WORD.findall(text) if _THINGS_SO_CALLED.fullmatch(word))


def naming_words(text: str, name: str = "") -> frozenset[str]:
    """Return the words and numbers with which a wish to forget names something, as stems; `name` is what the user is
    called."""
    wording = read(text, name)
    return (wording.words - idle_in(text)) | {quantity.value for quantity in wording.quantities}


def names_nothing(text: str, name: str = "") -> bool:
    """Return whether the words of a wish to forget say nothing of what is to be forgotten: "say I never said it"."""
    return not naming_words(text, name)


def names_what_stays(text: str) -> bool:
    """Return whether the words of a wish to forget say that some of what was told is to stay."""
    return _STAYS.search(text) is not None


def bare(text: str, name: str = "") -> str:
    """Return the words of a wish to forget that name something, as they stand: "I withdraw my remark about Leo; remove
    it" is "about Leo"; "" where none does."""
    spoken = SPOKEN_WORD.findall(text)
    naming = [index for index, word in enumerate(spoken) if not names_nothing(word, name)]
    return " ".join(spoken[max(naming[0] - 1, 0) : naming[-1] + 1]) if naming else ""
