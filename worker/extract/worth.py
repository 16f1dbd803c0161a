"""The gate: whether an utterance tells something that is welcome in a month."""

from __future__ import annotations

import re
from typing import Final

from policies.language.clauses import Mood, Tense, is_of_speaker, main_clauses
from policies.language.dropped_subject import states_own
from policies.language.heads import Judgement
from policies.language.jokes import is_hardly_true
from policies.language.lexicon import COMMON, GENERAL_TAGS
from policies.language.parse import Name, Parsed
from policies.language.people import opens_with_own_people, people_in
from policies.language.relevance import asks, asks_about_user, relevance_of
from policies.language.reported_speech import asks_for_writing
from policies.language.sentences import split_sentences, words
from policies.language.tellable import speaks_of_self
from policies.language.wording import content, contents, read
from worker.extract.judgement import judged, unannounced
from worker.extract.repeated import is_said_by_nobody
from worker.extract.utterances import Utterance

_READ_CHARS: Final = 4_000
_WORTH: Final = 0.5
"""From where on the head is believed where the rules' points say that it is not worth it."""
_WORTH_OF_OTHERS: Final = 0.6
"""The same where the speaker is not in the sentence: what people say of the world looks like it."""
_VAGUE: Final = 0.02
_FEW: Final = 0.25
"""The least that the head must find in what names nothing: chosen so that LoCoMo's evidence is kept but for a point."""
_FEWEST_TELLING: Final = 2
_SAYS_LITTLE: Final = contents(COMMON | GENERAL_TAGS) | {"im", "ive"}
_ONLY_ME: Final = frozenset({"i", "me", "my", "mine", "myself"})
_SHOWN: Final = frozenset({"this", "that", "these", "those", "it"})
_ENJOYS: Final = words("love like adore enjoy")
_BEING: Final = frozenset({"am", "'m", "is", "'s", "are", "'re"})
_HAVING: Final = words("have has 've own owns keep keeps")
_LIKES: Final = contents(["like", "hate", "prefer"])
_FELT: Final = words("was were been felt had loved learned learnt enjoyed thought realized realised knew wanted")
_OF_ANOTHER: Final = frozenset({"quoted", "fiction", "task"})
_SURE: Final = 0.9
_SURE_WORTH: Final = 0.65
"""From where on the head is believed against a form that mostly is a remark: "The baby has a milk allergy". At .8, of
600 and 200 everyday cases of two authors 474 and 125 come out right, at .65 476 and 127."""
_REACTIONS: Final = frozenset({"reaction", "suggestion", "polite_state"})
_FEWEST_WORDS: Final = 3
_IDLE: Final = frozenset({"task", "question", "pure_question"})
_REMARKS: Final = frozenset({"reaction", "about_you", "suggestion", "exclamation", "polite_state"})
_LASTING_STATES: Final = words(
    "vegan vegetarian pescatarian pregnant diabetic allergic asthmatic coeliac celiac intolerant married single "
    "engaged divorced separated widowed retired unemployed freelance jobless gay lesbian bisexual straight trans "
    "autistic dyslexic deaf blind colorblind colourblind handed bald sober religious catholic "
    "muslim jewish christian buddhist hindu atheist sick ill depressed anxious burnt"
)
_OF_THE_TALK: Final = words(
    "think thinks thought guess bet hope wonder know knew mean see hear heard agree understand suppose imagine need "
    "want like love appreciate thank ask asked asking wondering looking trying try mean question questions idea doubt "
    "doubts favor favour request minute second moment problem issue help clue point"
)
"""Verbs and objects of what is said about this conversation, its wishes and views."""
_HEALTH: Final = frozenset({"allergy", "diet", "medication"})
_POLITE: Final = frozenset({"please", "pls", "plz"})
_NOT_OWN: Final = frozenset({"what", "which", "how", "list", "name", "any", "no"})
"""How a question or a task opens that has no subject."""
_NO_AGE: Final = re.compile(
    r"\bI(?:'m| am|'ve been| have been) (?:now |about |like |over |only )?"
    r"(?:12[1-9]|1[3-9]\d|[2-9]\d\d|\d{4,6})[ -]years?[ -]old\b",
    re.IGNORECASE,
)
"""An age that nobody reaches, which is a joke: "I'm 900 years old"."""
_THOUGHT: Final = words("think thinks guess guesses bet hope hopes wonder know knows mean means sound sounds")


def is_worth_keeping(utterance: Utterance) -> bool:  # noqa: PLR0911 (a list of reasons)
    """Return whether an utterance of the user's tells something of them or their people."""
    text = unannounced(utterance)
    passing = utterance.part is not None and passes_with_the_moment(utterance.part)
    if utterance.parsed is None or utterance.asks or passing or _NO_AGE.search(text):
        return False
    if is_said_by_nobody(utterance):
        return False
    if utterance.turn.source != "chat":
        return len(text.split()) > 2
    judgement = judged(utterance)
    if _is_of_another(judgement, text, utterance) or _is_joke(utterance, judgement):
        return False
    question = utterance.asked.text if utterance.asked is not None and utterance.number < 2 else ""
    by_rules = relevance_of(text, after_question=asks_about_user(question), replying=asks(question))
    reasons = set(by_rules.reasons)
    if judgement.worth < _least_worth(utterance) or (judgement.worth < _WORTH_OF_OTHERS and _is_of_nobody(utterance)):
        return False
    if by_rules.worth_keeping and not reasons & _IDLE:
        return True
    part = utterance.part or utterance.parsed
    theirs = judgement.whose == "own" or any(who.is_subject and who.noun is not None for who in people_in(part))
    surely = judgement.worth >= _SURE_WORTH and theirs and not reasons & _REACTIONS
    if len(text.split()) < _FEWEST_WORDS or reasons & _IDLE or (reasons & _REMARKS and not surely):
        return False
    if states_own(part) or _is_of_ones_health(part, judgement):
        return True
    own = speaks_of_self(utterance.parsed) or _says_how_much(part) or _is_of_somebody_named(part)
    sure = judgement.worth >= (_WORTH if own else _WORTH_OF_OTHERS)
    return sure or _is_of_life(utterance) or _tells_of_speaker(part)


def _is_of_another(judgement: Judgement, text: str, utterance: Utterance) -> bool:
    """Return whether the head is sure that the words are not the speaker's own telling."""
    if judgement.whose == "fiction" and opens_with_own_people(text):
        words = utterance.turn.text_of("user")[:_READ_CHARS]
        return any(asks_for_writing(sentence.text) for sentence in split_sentences(words))
    return judgement.whose in _OF_ANOTHER and judgement.whose_sure > _SURE


def _is_joke(utterance: Utterance, judgement: Judgement) -> bool:
    """Return whether its speaker laughs at what they say, and it sounds like a joke or has a number that hardly anybody
    can say of themself: "I'm 97 now. Ha."."""
    if not utterance.laughed:
        return False
    if judgement.certainty == "joke" and judgement.certainty_sure >= _SURE:
        return True
    return is_hardly_true(utterance.spelt.plain)


def _least_worth(utterance: Utterance) -> float:
    """Return what the head must find at least in an utterance, whatever the rules make of it: what names no person,
    number or day may be a saying, praise or a resolve that tells nothing ("We made great memories", "I won't give up"),
    unless it says what was done to what, or what somebody is ("I am a widow")."""
    part = utterance.part
    if part is None or any(note.when is not None for note in utterance.notes):
        return 0.0
    telling = telling_words(utterance)
    if telling is None or _is_done(part) or _is_said_to_be(part):
        return 0.0
    return _FEW if len(telling) < _FEWEST_TELLING else _VAGUE


def _is_of_nobody(utterance: Utterance) -> bool:
    """Return whether a sentence tells how the world is, or how it is for all of us: "Practice is key", "It's amazing
    how music changes our lives"."""
    part = utterance.part
    if part is None or utterance.asked is not None or any(note.when is not None for note in utterance.notes):
        return False
    tops = main_clauses(part)
    own = any(token.lower in _ONLY_ME for token in part.tokens)
    if own or not tops or any(c.tense is not Tense.PRESENT or not c.owns_subject for c in tops):
        return False
    of_theirs = any(_is_theirs(part, clause.subject) for clause in tops) or people_in(part)
    return not (of_theirs or _says_how_much(part))


def _is_of_ones_health(parsed: Parsed, judgement: Judgement) -> bool:
    """Return whether a sentence without a subject is sure to tell what the speaker cannot take or takes: "allergic to
    penicillin btw"."""
    subjects = any(clause.subject is not None for clause in main_clauses(parsed))
    surely = judgement.attribute in _HEALTH and judgement.attribute_sure >= _SURE
    words_said = {token.lower for token in parsed.tokens}
    return surely and not subjects and not words_said & _POLITE and parsed.tokens[0].lower not in _NOT_OWN


def _says_how_much(parsed: Parsed) -> bool:
    """Return whether a sentence says what one thing comes to: "The budget for the trip is 6,000"."""
    return parsed.tokens[0].lower == "the" and any(token.tag == "CD" for token in parsed.tokens)


def _is_of_somebody_named(parsed: Parsed) -> bool:
    """Return whether a sentence tells of whom or what it names: "Chidi got into Stanford"."""
    return any(c.subject is not None and parsed.tokens[c.subject].tag == "NNP" for c in main_clauses(parsed)[:1])


def telling_words(utterance: Utterance) -> frozenset[str] | None:
    """Return the words of an utterance that say more than all talk does, None where it names somebody or a number."""
    part = utterance.part
    if part is None:
        return frozenset()
    wording = read(part.text_of(range(len(part.tokens))))
    if wording.quantities or any(not _calls(name, utterance.other) for name in part.names):
        return None
    return wording.words - _SAYS_LITTLE - contents((utterance.other or "").lower().split())


def tells_nothing(utterance: Utterance) -> bool:
    """Return whether an answer says what could be said of anything: "It was great!"."""
    return telling_words(utterance) == frozenset() and (utterance.part is None or judged(utterance).worth < _WORTH)


def _calls(name: Name, other_name: str | None) -> bool:
    return other_name is not None and other_name.startswith(name.text.removesuffix("'s"))


def _is_done(parsed: Parsed) -> bool:
    """Return whether a clause says that the speaker or somebody of theirs did something to something, or wants to."""
    return any(
        (clause.tense in (Tense.PAST, Tense.PERFECT) or clause.mood is Mood.WISHING)
        and _is_theirs(parsed, clause.subject)
        and parsed.tokens[clause.head].lower not in _FELT
        and any(
            parsed.tokens[index].tag.startswith("NN") and content(parsed.tokens[index].lower) not in _SAYS_LITTLE
            for index in parsed.subtree(clause.head)
            if index != clause.subject and parsed.tokens[index].dep in ("dobj", "pobj")
        )
        for clause in main_clauses(parsed)
    )


def _is_said_to_be(parsed: Parsed) -> bool:
    """Return whether a clause says what the speaker or somebody of theirs is, has, or likes by its name, in words that
    not all talk has: "I am a widow", "I own a horse", "I love jazz"."""
    return any(
        clause.tense is Tense.PRESENT
        and _is_theirs(parsed, clause.subject)
        and any(
            content(parsed.tokens[index].lower) not in _SAYS_LITTLE
            for complement in parsed.children(clause.head)
            if _is_predicate(parsed, clause.head, complement)
            for index in parsed.subtree(complement)
        )
        for clause in main_clauses(parsed)
    )


def _is_predicate(parsed: Parsed, head: int, complement: int) -> bool:
    """Return whether a word under a verb is what somebody is said to be or to have, or what is liked, by its name."""
    if parsed.tokens[head].lower in _BEING:
        return parsed.tokens[complement].dep in ("attr", "acomp")
    if parsed.tokens[head].lower in _HAVING:
        thing = parsed.tokens[complement]
        return thing.dep == "dobj" and thing.tag.startswith("NN") and thing.lower not in _OF_THE_TALK
    is_bare = not any(parsed.tokens[child].dep in ("det", "poss") for child in parsed.children(complement))
    is_named = parsed.tokens[complement].dep == "dobj" and parsed.tokens[complement].tag.startswith("NN")
    return is_named and is_bare and content(parsed.tokens[head].lower) in _LIKES


def is_own_and_meant(utterance: Utterance) -> bool:
    """Return whether the words of an utterance are likely its speaker's own, and meant."""
    if utterance.parsed is None or utterance.part is None or utterance.of_others or utterance.orders:
        return False
    if utterance.turn.source != "chat" or _NO_AGE.search(utterance.spelt.plain):
        return False
    judgement = judged(utterance)
    return judgement.whose not in _OF_ANOTHER and not _is_joke(utterance, judgement)


def passes_with_the_moment(parsed: Parsed, *, admired: bool = False) -> bool:
    """Return whether somebody says how they are just now, or what they think of what lies before them: "I'm hungry", "I
    love this song"; where something was `admired` just before, "I love the colours" too."""
    tokens = parsed.tokens
    tops = main_clauses(parsed)
    if len(tops) != 1 or not is_of_speaker(parsed, tops[0].subject) or tops[0].tense is not Tense.PRESENT:
        return False
    below = parsed.children(tops[0].head)
    state = next((tokens[c].lower for c in below if tokens[c].dep == "acomp" and tokens[c].tag == "JJ"), None)
    if state is not None and state not in _LASTING_STATES:
        return not any(
            token.tag == "CD" or (token.tag.startswith("NN") and token.lower not in ("rn", "today", "tonight"))
            for token in tokens
        )
    things = [c for c in below if tokens[c].dep == "dobj"]
    if any(tokens[c].dep == "relcl" for thing in things for c in parsed.children(thing)):
        return False
    return any(
        (tokens[c].lower in ("this", "that", "your") and tokens[c].dep in ("det", "poss"))
        or (admired and tokens[c].lower == "the" and tokens[tops[0].head].lower in _ENJOYS)
        for thing in things
        for c in parsed.children(thing)
    )


def admires_what_is_shown(before: Utterance, then: Parsed) -> bool:
    """Return whether one says of what lies before the two how it looks, and then what one loves of it: "That photo's
    amazing! I love the colours"."""
    named = any(not _calls(name, before.other) for name in then.names)
    return not named and passes_with_the_moment(then, admired=True) and _admires(before)


def _admires(utterance: Utterance) -> bool:
    part = utterance.part
    if part is None or not part.tokens or speaks_of_self(part):
        return False
    return part.tokens[0].lower in _SHOWN and not is_worth_keeping(utterance)


def is_remark(utterance: Utterance) -> bool:
    """Return whether an utterance only reacts to the other side."""
    return bool(({*_REMARKS, *_IDLE} - {"exclamation"}) & set(relevance_of(utterance.spelt.plain).reasons))


def _tells_of_speaker(parsed: Parsed) -> bool:
    """Return whether a clause says plainly what the speaker or somebody of theirs is, has or does: "I have diabetes",
    "my son is 4", "we moved the shop"; what they think, ask for or have to say in this conversation is nothing of the
    kind."""
    if any(token.lower in ("you", "your", "u") for token in parsed.tokens):
        return False
    for clause in main_clauses(parsed):
        if clause.mood is not Mood.TELLING or clause.finite is None or not _is_theirs(parsed, clause.subject):
            continue
        core = {clause.head, *parsed.children(clause.head)}
        if any(parsed.tokens[index].lower in _OF_THE_TALK for index in core):
            continue
        if any(_is_content(parsed, index) for index in parsed.subtree(clause.head) if index != clause.subject):
            return True
    return False


def _is_theirs(parsed: Parsed, subject: int | None) -> bool:
    """Return whether a subject is the speaker, or something or somebody of theirs."""
    if subject is None:
        return False
    return is_of_speaker(parsed, subject) or any(
        parsed.tokens[child].lower in ("my", "our") for child in parsed.children(subject)
    )


def _is_content(parsed: Parsed, index: int) -> bool:
    token = parsed.tokens[index]
    return token.tag.startswith("NN") or token.tag == "CD"


def _is_of_life(utterance: Utterance) -> bool:
    """Return whether it tells of a day that is named, or says something of one of the user's people."""
    parsed = utterance.part
    if parsed is None:
        return False
    tops = main_clauses(parsed)
    if tops and (tops[0].mood is not Mood.TELLING or parsed.tokens[tops[0].head].lower in _THOUGHT):
        return False
    if any(token.lower in ("you", "your") for token in parsed.tokens):
        return False
    if any(note.when is not None for note in utterance.notes):
        return True
    people = [who for who in people_in(parsed) if who.is_subject and (who.of_speaker or who.name)]
    return bool(people) and bool(tops) and (len(parsed.tokens) > 4 or speaks_of_self(parsed))
