"""Discourse markers, which only open or end a sentence and tell nothing: "well, ...", "... lol", smileys."""

from __future__ import annotations

from typing import Final

from policies.language.clauses import FIRST_PERSON, main_clauses
from policies.language.parse import Parsed, Token
from policies.language.sentences import words

LEADING: Final = words(
    "so well anyway anyways also btw actually honestly oh ah yeah yes yep yup no nope ok okay sure and but plus hey hi "
    "hello haha lol wow um uh basically unfortunately sadly luckily plus because cos cause though hm hmm "
    "thanks ya then nah"
)
INTERJECTIONS: Final = words(
    "btw lol omg haha ha lmao welp wow woah whoa ugh yay aww aw hey hi hello oh ok okay yeah yep nope nah um uh "
    "tbh ngl fr"
)
_SHORTEST_NAME: Final = 3
_ANNOUNCEMENT: Final = 6
"""How many words may announce what is told."""
_TRAILING: Final = words("lol haha hahaha lmao btw tbh though tho rip")
_OPENINGS: Final = frozenset(
    tuple(phrase.split("_"))
    for phrase in words(
        "guess_what you_know_what by_the_way on_another_note on_a_different_note on_the_other_hand in_other_news "
        "on_top_of_that as_for_me to_be_honest believe_it_or_not long_story_short speaking_of_which speaking_of_that "
        "fun_fact good_news big_news thank_you thanks thanks_so_much thanks_a_lot no_worries of_course in_fact "
        "for_real not_gon_na_lie like_i_said as_i_said for_future_reference for_the_record for_your_information fyi"
    )
)
"""Phrases that only say that something is told."""
_FRAMES: Final = tuple(
    tuple(phrase.split("_"))
    for phrase in words(
        "what_happened_is what_happened_was the_thing_is thing_is the_fact_is fact_is the_truth_is truth_is "
        "did_i_mention did_i_tell_you did_i_say have_i_mentioned have_i_told_you i_forgot_to_mention i_forgot_to_say "
        "i_should_mention i_should_add"
    )
)
"""The same where a clause about the speaker follows: "did I mention that I'm vegan"."""
_OWN: Final = FIRST_PERSON | {"my", "our"}
_ENDINGS: Final = frozenset(
    tuple(phrase.split("_"))
    for phrase in words(
        "take_a_look have_a_look check_it_out check_this_out can_you_believe_it you_know long_time_no_see "
        "long_time_no_talk long_time_no_chat"
    )
)
_THANKS: Final = ("thanks", "thank", "because of", "sorry for", "sorry about")
_OTHER_SIDE: Final = frozenset({"you", "your", "ya", "u"})
_JOINTS: Final = frozenset({",", "-", "–", "—", "!", "?", ":", ";", "...", "…", "."})
_MARKS_OF_SPEECH: Final = frozenset({"UH", ",", ":", ".", "-RRB-", "NFP", "_SP", "HYPH"})
"""Tags of what opens a sentence and is no word of it: "hm", a comma, a smiley."""
_SPOKEN_TO: Final = frozenset({"npadvmod", "intj", "dep", "vocative"})


def discourse_margins(parsed: Parsed, other_name: str | None = None) -> tuple[int, int]:
    """Return from where to where a sentence is more than what only opens or ends it: "well, ...", "... lol", smileys,
    thanks, the name of the `other_name` side where it is spoken to."""
    tokens = parsed.tokens
    begin, end = _announced(tokens), _unaddressed(tokens, other_name)
    begin = _prepared(tokens, _thanked(parsed, begin))
    begin += _opening(tokens, begin, end)
    while begin < end and (
        _is_spoken_to(parsed, begin, end, other_name)
        or (tokens[begin].tag in _MARKS_OF_SPEECH and tokens[begin].dep != "det")
        or _only_opens(tokens, begin, end)
    ):
        begin += 1
        begin += _opening(tokens, begin, end)
    end -= _ending(tokens, begin, end)
    while end > begin and (
        tokens[end - 1].lower in _TRAILING
        or tokens[end - 1].tag in ("UH", ",", ":", "_SP", "NFP", "HYPH")
        or not any(c.isalnum() or c in ".!?)$€£%\"'”" for c in tokens[end - 1].text)
    ):
        end -= 1
    is_asked = end > begin and tokens[end - 1].text == "?" and frames(" ".join(token.lower for token in tokens[:begin]))
    return begin, end - is_asked


def _only_opens(tokens: tuple[Token, ...], begin: int, end: int) -> bool:
    """Return whether a word only opens a sentence, and is no part of it: "No, I walk", not "No telly in this house"."""
    word, after = tokens[begin], tokens[begin + 1] if begin + 1 < end else None
    if word.lower == "no" and (after is None or after.text not in ",.!"):
        return False
    if word.lower == "also" and after is not None and after.lower == "have":
        return False
    return word.lower in INTERJECTIONS or (word.lower in LEADING and not word.tag.startswith(("VB", "NN", "IN", "DT")))


def _opening(tokens: tuple[Token, ...], begin: int, end: int) -> int:
    """Return how many words from `begin` only say that something is told: "Guess what - ", "On another note, "."""
    for phrase in _OPENINGS:
        at = begin + len(phrase)
        if at < end and tokens[at].text in _JOINTS and _reads(tokens, begin, phrase):
            return len(phrase)
    for phrase in _FRAMES:
        at = begin + len(phrase)
        at += at < end and tokens[at].lower in ("that", ",", ":")
        if at < end and tokens[at].lower in _OWN and _reads(tokens, begin, phrase):
            return at - begin
    return 0


def frames(words_before: str) -> bool:
    """Return whether words only say or ask that what follows was told: "Did I mention that"."""
    lowered = words_before.lower().rstrip("".join(_JOINTS) + " ").removesuffix(" that")
    return any(lowered.endswith(" ".join(phrase)) for phrase in _FRAMES)


def prepares(words_before: str) -> bool:
    """Return whether the words before what is told only say that something is, or how the other side will take it:
    "Guess what,", "You'll laugh, but"."""
    lowered = words_before.lower()
    if frames(words_before) or tuple(lowered.rstrip("".join(_JOINTS) + " ").split()) in _OPENINGS:
        return True
    first, _, rest = lowered.replace("'", " ").partition(" ")
    return first in _OTHER_SIDE and rest.endswith("but")


def _prepared(tokens: tuple[Token, ...], begin: int) -> int:
    """Return where a sentence begins after what only says how the other side will take it: "You won't believe it,
    but"."""
    if begin >= len(tokens) or tokens[begin].lower not in _OTHER_SIDE:
        return begin
    for index in range(begin + 1, min(len(tokens) - 1, begin + _ANNOUNCEMENT + 2)):
        if tokens[index].lower == "but":
            return index + 1 if tokens[index + 1].lower in FIRST_PERSON else begin
        if tokens[index].tag.startswith(("NN", "CD")):
            return begin
    return begin


def thanks(words_before: str) -> bool:
    """Return whether the words before what is told thank whom it is said to, ask their pardon, or give them as its
    reason."""
    return words_before.lower().startswith(_THANKS)


def _thanked(parsed: Parsed, begin: int) -> int:
    """Return where a sentence begins after thanks to whom it is said to, which tell nothing: "Thanks to your tips",
    "Thank you so much,", "Because of you". Whom else is thanked is told: "Thanks to my wife I eat well"."""
    tokens = parsed.tokens
    following = [token.lower for token in tokens[begin : begin + 2]]
    if not thanks(" ".join(following)):
        return begin
    subjects = [clause.subject for clause in main_clauses(parsed) if clause.subject is not None]
    first = min((min(parsed.subtree(subject)) for subject in subjects), default=begin)
    if first <= begin:
        return begin
    if following[0] == "sorry" and tokens[first - 1].text not in _JOINTS:
        return begin
    is_reason = following[1:] in (["to"], ["of"])
    is_theirs = any(token.lower in _OTHER_SIDE for token in tokens[begin:first])
    return first if is_theirs or not is_reason else begin


def _ending(tokens: tuple[Token, ...], begin: int, end: int) -> int:
    """Return how many words before `end` only ask to look or to wonder: ", take a look!"."""
    last = end
    while last > begin and not tokens[last - 1].text[:1].isalnum():
        last -= 1
    for phrase in _ENDINGS:
        at = last - len(phrase)
        if at > begin + 1 and tokens[at - 1].text in _JOINTS and _reads(tokens, at, phrase):
            return end - at
    return 0


def _reads(tokens: tuple[Token, ...], begin: int, phrase: tuple[str, ...]) -> bool:
    return tuple(token.lower for token in tokens[begin : begin + len(phrase)]) == phrase


def _is_spoken_to(parsed: Parsed, index: int, end: int, other_name: str | None) -> bool:
    """Return whether a name only calls whom the sentence is said to: "Nate, I'm home"; "Friday, I'm home" does not."""
    tokens = parsed.tokens
    token = tokens[index]
    if index + 2 >= end or tokens[index + 1].text not in (",", "!"):
        return _calls(token, other_name) and index + 1 < end and tokens[index + 1].text in ",!"
    after = tokens[index + 2]
    other = any(name.label != "PERSON" and name.start <= index < name.end for name in parsed.names)
    begins = after.lower in FIRST_PERSON or (token.dep in _SPOKEN_TO and after.tag == "PRP")
    called = token.tag == "NNP" and not other and begins
    return called or _calls(token, other_name)


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
