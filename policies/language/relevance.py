"""How much a sentence says about the person who said it, by rules that add up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import policies.language.life_words as life
from policies.language.dropped_subject import DEED, GOING_ON
from policies.language.first_person import first_person_clauses

WORTH_KEEPING = 1.0
"""Points from which a sentence is worth a memory. Checked with `POINTS` on two sets of which nothing ships here:
Multi-Session Chat (Xu et al. 2022: did a person write down a fact from it) and LoCoMo (Maharana et al. 2024: is a
question asked about it)."""
SURELY = 2.0
"""Points from which a sentence needs no second opinion."""

_WORD = re.compile(r"[a-z0-9$€£'%:]+")
"""A word, a number or an amount, in small letters: "it's", "$40"."""

_REACTION = re.compile(
    r"\b(?:i(?:'m| am|m) (?:so |really |very |just )?(?:glad|sure|sorry|happy (?:to hear|for you|"
    r"you|that you)|here for you|proud of "
    r"you|impressed|jealous|curious|rooting|with you|excited for you|happy to help|always here|inspired by you)|"
    r"i (?:totally |completely |really |just |also |do |can |could |would |will |certainly |definitely |bet |"
    r"always |might |only |still |don't |can't |didn't )*"
    r"(?:hope (?:you|it|that|your|they|he|she|everything|all|to (?:hear|see you))|agree|guess|bet|"
    r"understand|appreciate|"
    r"imagine|suppose|wish you|see(?: what| that| why| how|[.,!]|$)|know (?:what|how|that|right|the|you|it|,)|"
    r"hear (?:you|that|ya)|think (?:you|that|it|so|of|about|your|they|he|she|we)|believe (?:you|in you|it|that)|"
    r"admire|get (?:it|that|you|what)|say|mean|thank|relate|wonder|doubt|feel (?:you|ya)|wait (?:to see|to hear)|"
    r"tell you|ask|suggest|recommend|promise|remember (?:you|that you))\b|"
    r"can(?:no|')?t wait (?:to|for)|let me know|let's|lets|thank(?:s| you)|"
    r"(?:good|best of) luck|congrat\w*|you're welcome|no (?:worries|problem|prob)|sounds? (?:like|"
    r"good|great|fun|amazing|"
    r"awesome|delicious|interesting|cool|nice|lovely)|well done|keep (?:it )?(?:up|going)|take care|"
    r"i'?d love to (?:hear|see|know|try|come|join|help|check)|wish i could|means? (?:a lot|so much|the world)|"
    r"yeah,? right\b|as if i\b|like i(?:'d| would) ever\b|"
    r"talk (?:to you )?(?:soon|later)|oh my|way to go|sorry (?:i|to|for|about|that)|i(?:'ve| "
    r"have)? (?:heard|thought)|i(?:'ve| have) seen|i(?:'ll| will) (?:definitely|have to|be sure|"
    r"check|look)|i(?: also)? need (?:to hear|one|some of)|see you|have (?:an? (?:great|good|nice|safe|lovely|"
    r"wonderful|amazing|awesome|fantastic)|fun|you)|how about "
    r"you|what about you)"
)
"""Reactions to what the other said, not of oneself: "i hope you feel better", "sounds great"."""
_EXCLAIM = re.compile(
    r"^(?:oh |ah |aw+ |hey |well |haha\w* |yeah,? |yes,? |no,? )?(?:wow|awesome|that(?:'s| is| "
    r"was| sounds| must| would|s)|this (?:is|looks)|it(?:'s| is|s)|sounds|what an?|how "
    r"(?:cool|nice|great|fun|exciting|sweet|awesome|interesting)|great|nice|cool|good|amazing|"
    r"congrat\w*|thanks|thank|hi|hello|hey|"
    r"those|these|you|your|there|the)\b"
)
"""How an exclamation begins: "wow, that was fast"."""
_ELLIPTICAL = re.compile(
    r"^(?:(?:just|recently|also|always|usually|mostly|sometimes|currently|still|really|never|already|even|finally|"
    r"not) )*"
    r"(?:been|got|went|had|made|took|moved|bought|sold|started|finished|adopted|joined|graduated|signed|booked|applied|"
    r"decided|quit|built|wrote|passed|celebrated|played|watched|tried|loved?|hate|enjoy|like|prefer|want|need|saw|met|"
    rf"won|lost|failed|hurt|broke|switched|used to|mine|gonna|born|grew|visited|spent|{GOING_ON}|(?P<deed>{DEED}))\b"
    r"(?! (?:luck|fun|you|a (?:great|good|nice|safe)))"
)
"""A telling that left out its "I": "just moved to Berlin", of which "just moved" shows it."""
_NUMBER = re.compile(
    r"\b\d[\d,.]*\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|"
    r"forty|fifty|hundred|thousand|couple)\b"
)
"""A number, in digits or in words: "three"."""
_NAME = re.compile(r"(?<![.!?])(?<!^) (?!I\b|I'|OK\b|LOL\b|Oh\b|TV\b|Hi\b)[A-Z][a-zA-Z]+")
"""A capital that begins no sentence: "with Anna"."""
_MY = re.compile(r"\b(?:my|our) (?:[a-z]+ ){0,2}?([a-z]+)")
"""Things that are the speaker's own, by their last word: "my old car"."""


_SUGGESTION = re.compile(
    r"\b(?:we should|you should|you could|maybe (?:we|you)|we can|we could|why don't|let me|you "
    r"can|i can (?:help|show|send|bring|teach)|i'll (?:send|bring|let|check|give|show|try|have to|"
    r"be sure|keep|look))\b"
)
"""Suggestions of what the other might do, or the two together: "you should try it"."""
_IDENTITY = re.compile(
    r"\b(?:i'm|im|i am|we're|we are|i'm not|i am not) (?:also |only |just |actually |still |now |currently )*"
    r"(?:an?|from|allergic|married|single|born|retired|scared|afraid|\d+)\b"
)
"""Statements of what somebody is: "i'm a nurse", "i am allergic"."""
_TASK = re.compile(
    r"(?:please |can you |could you )?(?:write|tell|give|show|help|make|create|generate|find|list|explain|translate|"
    r"suggest|recommend|draft|rewrite|summari[sz]e|book|plan|calculate|fix|correct|check|define|describe) "
    r"(?:me|us|a|an|the|some|my|this)\b|.{0,80}\blike i(?:'m| am|m) (?:five|5|a)\b|"
    r"i (?:need|want|would like|am looking for)(?= )(?: (?:an?|the|some|another|more|\d+|shorter|longer|better)){1,3} "
    r"(?:synonyms?|words?|lists?|names?|ideas?|recipes?|summary|translations?|examples?|titles?|slogan|caption|"
    r"answers?|details?|sentences?|paragraphs?|explanation)\b|"
    r"i(?:'m looking for|'d like) (?:an?|some|more) (?:shorter |longer )?(?:words?|answers?|synonyms?|examples?)\b|"
    r"(?:what about )?my (?:other |next |first |last )?question\b|"
    r"i prefer the (?:first|second|third|last|other) (?:version|option|one)\b|once upon a time\b|"
    r"\W{0,3}(?:please |now |then |also )?(?:provide|determine|classify|translate|summari[sz]e|paraphrase|rephrase|"
    r"proofread|confirm (?:by|with|that)|pretend|excuse|ensure|output|print|simulate|analy[sz]e|evaluate|elaborate|"
    r"rewrite|convert|extract|identify|assume)\b"
)
"""A task for the assistant: "write me a poem", "i need some ideas"."""
_UNMARKED: Final = re.compile(
    r"(?:(?:how|what|which|where|when|why|who) (?:do|does|did|can|could|should|would|is|are|am|to|much|many|long)|"
    r"(?:is|are|am|do|does|did|can|could|should|would) (?:i|you|it|there|we|this|that|he|she|they|anyone|someone))\b"
)
"""How a question begins that nobody gave its mark: "how do I"."""
_QUESTION: Final = re.compile(r"[^.!?\n]{1,300}\?")
"""A question, from the end of the sentence before it: "How are you?"."""
_SHORTEST_QUESTION: Final = 12
_USER: Final = re.compile(r"\b(?:you|your|yours|you're|you've|u|ur)\b", re.IGNORECASE)
"""A word that means whom one speaks to: "your"."""


def asks_about_user(text: str) -> bool:
    """Return whether the other side's text ends by asking something about the user ("Do you have any pets?")."""
    return any(_USER.search(question) for question in _QUESTION.findall(text[-200:]))


def asks(text: str) -> bool:
    """Return whether the other side's text ends by asking something, whatever it is about ("What do they eat?")."""
    return any(len(question) > _SHORTEST_QUESTION for question in _QUESTION.findall(text[-200:]))


@dataclass(frozen=True)
class Relevance:
    """Points and the rules that gave them."""

    points: float
    reasons: tuple[str, ...]

    @property
    def worth_keeping(self) -> bool:
        return self.points >= WORTH_KEEPING


POINTS: Final[Mapping[str, float]] = {
    "possession": 1.5,
    "relation": 1.25,
    "bare_answer": 1.0,
    "life_event": 1.0,
    "first_person": 0.75,
    "preference": 0.75,
    "answers_question": 0.5,
    "identity": 0.5,
    "owns": 0.5,
    "state": 0.5,
    "my_thing": 0.5,
    "number": 0.5,
    "name": 0.5,
    "time": 0.5,
    "replies": 0.25,
    "deed": 0.5,
    "relation_named": 0.25,
    "long": 0.25,
    "personal_verb": 0.25,
    "ongoing": 0.25,
    "habit": 0.25,
    "about_us": 0.25,
    "elliptical": 0.25,
    "modal": -0.25,
    "suggestion": -0.25,
    "hypothetical": -0.5,
    "short": -0.5,
    "mental_verb": -1.0,
    "polite_state": -1.0,
    "reaction": -1.0,
    "about_you": -1.0,
    "pure_question": -1.0,
    "third_person": -1.0,
    "impersonal": -1.5,
    "task": -2.0,
}
"""The weight of each rule, in quarters: set by hand from what it means, and then checked (see `WORTH_KEEPING`)."""
_BASE = 0.5


_SAID_TO_ANYBODY: Final = re.compile(
    r"\b(?:(?:can|would|will) (?:you|u) believe(?: (?:it|this|that))?|believe (?:you )?me|(?:you|u) know what|mind you|"
    r"if (?:you|u) ask me|(?:you|u) guessed it|(?:i )?tell you what)\b"
)
"""A "you" that is nobody: "it's 71 a day now, can you believe it"."""


def _voice(lower: str, bag: set[str]) -> list[str]:
    """Return who the sentence is about."""
    rules: list[str] = []
    if bag & life.SELF_SUBJECT:
        rules.append("first_person")
    elif bag & life.SELF:
        rules.append("about_oneself")
    if bag & life.WE:
        rules.append("about_us")
    if bag & life.YOU:
        rules.append("about_you")
    if not (bag & life.SELF or bag & life.WE):
        if elliptical := _ELLIPTICAL.match(lower):
            rules += ["elliptical", "deed"] if elliptical["deed"] else ["elliptical"]
        elif bag & life.THIRD:
            rules.append("third_person")
        else:
            rules.append("impersonal")
    return rules


def _manner(text: str, lower: str, bag: set[str]) -> list[str]:
    """Return what the sentence does: ask, react, suggest, instruct."""
    rules: list[str] = []
    if _TASK.match(lower):
        rules.append("task")
    if "?" in text[-4:] or (_UNMARKED.match(lower) and text[-1:].isalnum()):
        rules.append("question")
        if not bag & life.SELF_SUBJECT and not lower.startswith(("my ", "our ")):
            rules.append("pure_question")
    if _REACTION.search(lower):
        rules.append("reaction")
    if _EXCLAIM.match(lower):
        rules.append("exclamation")
    if _SUGGESTION.search(lower):
        rules.append("suggestion")
    if bag & {"would", "could", "i'd", "if", "should"}:
        rules.append("hypothetical")
    return rules


def _content(text: str, lower: str, words: Sequence[str], bag: set[str], own: bool) -> list[str]:
    """Return what of a person's life the sentence touches."""
    rules: list[str] = []
    clause_kinds = first_person_clauses(words)
    if clause_kinds & {"personal_verb", "state", "owns", "ongoing"}:
        clause_kinds -= {"mental_verb", "other_verb", "polite_state"}
    elif "other_verb" in clause_kinds:
        clause_kinds -= {"mental_verb"}
    rules += sorted(clause_kinds)
    if _IDENTITY.search(lower):
        rules.append("identity")
    noun = _MY.search(lower)
    if noun:
        rules.append(
            "relation"
            if noun.group(1) in life.RELATION
            else "possession"
            if noun.group(1) in life.POSSESSION
            else "my_thing"
        )
    elif own and bag & life.RELATION:
        rules.append("relation_named")
    if own and bag & life.LIKING:
        rules.append("preference")
    if bag & life.LIFE_EVENT and (own or bag & life.WE):
        rules.append("life_event")
    if bag & life.TIME:
        rules.append("time")
    if bag & life.HABIT:
        rules.append("habit")
    if _NUMBER.search(lower):
        rules.append("number")
    if _NAME.search(text):
        rules.append("name")
    return rules


def features(text: str, *, after_question: bool = False, replying: bool = False) -> tuple[str, ...]:
    """Return the rules that a sentence meets."""
    lower = text.lower()
    words = _WORD.findall(_SAID_TO_ANYBODY.sub(" ", lower))
    bag = set(words)
    rules = _voice(lower, bag)
    rules += _manner(text, lower, bag)
    rules += _content(text, lower, words, bag, bool(bag & life.SELF))
    if after_question:
        rules.append("answers_question")
    elif replying:
        rules.append("replies")
    if (after_question or replying) and "question" not in rules and {"impersonal", "third_person"} & set(rules):
        rules.append("bare_answer")
    if len(words) <= 3:
        rules.append("short")
    elif len(words) >= 9:
        rules.append("long")
    return tuple(rules)


def relevance_of(text: str, *, after_question: bool = False, replying: bool = False) -> Relevance:
    """Return how much one sentence says about the person who said it.

    `after_question` says that it may answer a question that the other side has just asked.
    """
    reasons = features(text, after_question=after_question, replying=replying)
    return Relevance(_BASE + sum(POINTS.get(reason, 0.0) for reason in reasons), reasons)
