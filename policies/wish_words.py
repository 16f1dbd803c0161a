"""The words of a wish to forget: which name nothing, and which a topic as a whole."""

from __future__ import annotations

import re
from typing import Final

from policies.language.life_topics import life_topics_named
from policies.language.sentences import words
from policies.language.wording import content, contents, read
from schema import ForgetRequest

_IDLE: Final = contents(
    words(
        "thing stuff information info detail data story topic matter memory note notebook record list file page "
        "profile part bit last previous whole entire everything anything nothing all something say said told mention "
        "mentioned tell talk entirely completely altogether business forget delete erase remove wipe remember know "
        "knew heard hear keep kept save saved store stored never pretend rather prefer undo unsay take back out away "
        "trace mind please ok okay sorry thanks happened going matter remark comment opinion ever drop bin lose ditch "
        "scrap discard withdraw retract strike purge clean clear vanish disappear retain reason need call good kind "
        "let leave request scrub unsee unsaid throw trash toss kindly consider shouldn't "
        "pray must should could would hey haha lol oh actually just kindly abt whole gone longer left stay rid want"
    )
)
"""Words of a wish to forget that name nothing, as stems."""
_THINGS_SO_CALLED: Final = re.compile(r"(?!things)\w+ings|(?:hear|sav|call)ing", re.IGNORECASE)
"""Forms of those words that name a thing: "my savings", "the hearing"."""
_CLAUSE: Final = re.compile(r"(?:that\s+)?(?:i|we)(?:['’]\w+)?\s", re.IGNORECASE)
"""A wish that says what is so names no topic as a whole: "I cook"."""

SPOKEN_WORD: Final = re.compile(r"[^\W_][^\s,;:!?]*[^\W_]|[^\W_]")
"""A word with what is inside it: "e-mail", "8pm"."""


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


def idle_in(text: str) -> frozenset[str]:
    """Return the words that name nothing, but for those of which a form in a text names a thing."""
    return _IDLE - contents(word.lower() for word in SPOKEN_WORD.findall(text) if _THINGS_SO_CALLED.fullmatch(word))


def names_nothing(text: str, name: str = "") -> bool:
    """Return whether the words of a wish to forget say nothing of what is to be forgotten: "say I never said it"."""
    wording = read(text, name)
    return not (wording.words - idle_in(text)) and not wording.quantities


def bare(text: str, name: str = "") -> str:
    """Return the words of a wish to forget that name something, as they stand: "I withdraw my remark about Leo; remove
    it" is "about Leo"; "" where none does."""
    spoken = SPOKEN_WORD.findall(text)
    naming = [index for index, word in enumerate(spoken) if not names_nothing(word, name)]
    return " ".join(spoken[max(naming[0] - 1, 0) : naming[-1] + 1]) if naming else ""
