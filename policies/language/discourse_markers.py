"""What only opens or ends a sentence, and tells nothing: "well, ...", "... lol", smileys."""

from __future__ import annotations

from typing import Final

from policies.language.parse import Parsed, Token
from policies.language.sentences import words

_LEADING: Final = words(
    "so well anyway anyways also btw actually honestly oh ah yeah yes yep yup no nope ok okay sure and but plus hey hi "
    "hello haha lol wow um uh basically unfortunately sadly luckily plus because cos cause though hm hmm "
    "thanks ya then nah"
)
_INTERJECTIONS: Final = words("btw lol omg haha lmao wow ugh yay hey hi hello oh ok okay yeah yep nope nah um uh")
_SHORTEST_NAME: Final = 3
_ANNOUNCEMENT: Final = 6
"""How many words may announce what is told."""
_TRAILING: Final = words("lol haha hahaha lmao btw tbh though tho rip")


def discourse_margins(parsed: Parsed, other_name: str | None = None) -> tuple[int, int]:
    """Return from where to where a sentence is more than what only opens or ends it: "well, ...", "... lol", smileys,
    the name of the `other_name` side where it is spoken to."""
    tokens = parsed.tokens
    begin, end = _announced(tokens), _unaddressed(tokens, other_name)
    while begin < end and (
        (_calls(tokens[begin], other_name) and begin + 1 < end and tokens[begin + 1].text in ",!")
        or tokens[begin].tag in ("UH", ",", ":", ".", "-RRB-", "NFP", "_SP", "HYPH")
        or (
            tokens[begin].lower in _LEADING
            and (tokens[begin].lower in _INTERJECTIONS or not tokens[begin].tag.startswith(("VB", "NN", "IN", "DT")))
            and (tokens[begin].lower != "no" or (begin + 1 < end and tokens[begin + 1].text in ",.!"))
        )
    ):
        begin += 1
    while end > begin and (
        tokens[end - 1].lower in _TRAILING
        or tokens[end - 1].tag in ("UH", ",", ":", "_SP", "NFP", "HYPH")
        or not any(c.isalnum() or c in ".!?)$€£%\"'”" for c in tokens[end - 1].text)
    ):
        end -= 1
    return begin, end


def _calls(token: Token, other_name: str | None) -> bool:
    """Return whether a word is the name of the other side, or short for it: "Mel" of Melanie."""
    return other_name is not None and len(token.text) >= _SHORTEST_NAME and other_name.startswith(token.text)


def _unaddressed(tokens: tuple[Token, ...], other_name: str | None) -> int:
    """Return where a sentence ends before the name of the other side: "I get it, Jon!"."""
    end = len(tokens)
    while end and not tokens[end - 1].text[:1].isalnum():
        end -= 1
    called = end > 1 and tokens[end - 2].text == "," and _calls(tokens[end - 1], other_name)
    return end - 2 if called else len(tokens)


def _announced(tokens: tuple[Token, ...]) -> int:
    """Return where a sentence begins after what only says that something is told: "Big news: ", "So you know: "."""
    for index, token in enumerate(tokens[:_ANNOUNCEMENT]):
        if token.text in (":", ")") and index + 1 < len(tokens):
            return index + 1
        if (token.tag.startswith("PRP") and token.lower != "you") or token.text in "(,.":
            break
    return 0
