"""What a sentence is about, and what sort of memory it makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from schema import Kind, MemoryType


def _topic(stems: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{stems})\b", re.IGNORECASE)


_TOPICS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "budget",
        _topic(r"budget\w*|spend\w*|overspen\w+|afford\w*|groceries|expens\w+|per month|a month on"),
    ),
    (
        "finance",
        _topic(
            r"invest\w*|stocks?|bonds?|crypto|bitcoin|mortgages?|loans?|debts?|salary|income|savings?|bank|"
            r"pension|401k|ira|taxes|credit cards?|rent|paycheck|insurance|portfolio|[$€£] ?\d[\d,.]*k?"
        ),
    ),
    (
        "goals",
        _topic(
            r"goals?|plan(?:s|ning|ned)? (?:to|on)|dream(?:s|ing)? (?:of|about|is|to)|want(?:s)? to|hop(?:e|"
            r"es|ing) to|aim(?:s|ing)? to|saving (?:up )?for|working towards?|resolution|bucket list|"
            r"training for"
        ),
    ),
    (
        "education",
        _topic(
            r"school|college|university|degree|stud(?:y|ies|ied|ying)|exams?|class(?:es)?|courses?|"
            r"major(?:ing)?|phd|thesis|teachers?|teach(?:es|ing)?|semester|homework|graduat\w+|learning|"
            r"professor|certification"
        ),
    ),
    (
        "family",
        _topic(
            r"mom|mum|mother|dad|father|parents?|sisters?|brothers?|siblings?|sons?|daughters?|kids?|"
            r"child(?:ren)?|wife|husband|grand\w+|aunt|uncle|cousins?|nieces?|nephews?|family|baby|twins"
        ),
    ),
    (
        "relationship",
        _topic(
            r"girlfriend|boyfriend|partner|fianc\w+|married|marriage|wedding|divorc\w+|dating|engaged|ex|"
            r"single"
        ),
    ),
    (
        "friends",
        _topic(r"friends?|roommates?|buddy|buddies|neighbou?rs?"),
    ),
    (
        "pets",
        _topic(r"dogs?|cats?|pets?|pupp(?:y|ies)|kittens?|rabbits?|hamsters?|parrots?|horses?|turtles?|fish tank"),
    ),
    (
        "work",
        _topic(
            r"work(?:s|ed|ing)?|jobs?|boss|career|office|colleagues?|coworkers?|company|business|manager|"
            r"engineer|promot\w+|interview|hired|fired|retired|clients?|project|startup|employer"
        ),
    ),
    (
        "health",
        _topic(
            r"allerg\w+|doctor|hospital|surgery|diabet\w+|asthma|anxiety|depress\w+|therap\w+|medication|"
            r"pregnant|diet|injur\w+|sick|illness|cancer|vegan|vegetarian|gluten|lactose\W?\w*|weight|sleep|"
            r"dentist|migraines?"
        ),
    ),
    (
        "home",
        _topic(
            r"house|home|apartment|flat|condo|farm|garden(?:ing)?|moved?|moving|liv(?:e|es|ed|ing) (?:in|with|"
            r"near|on)|neighbou?rhood|landlord"
        ),
    ),
    (
        "travel",
        _topic(
            r"travel\w*|trips?|flights?|vacations?|holidays?|visit(?:s|ed|ing)?|flew|fly(?:ing)?|hotel|"
            r"road ?trip|passport|abroad|cruise"
        ),
    ),
    (
        "food",
        _topic(
            r"cook(?:s|ed|ing)?|bak(?:e|es|ed|ing)|food|eat(?:s|ing)?|restaurants?|recipes?|pizza|coffee|tea|"
            r"wine|beer|meat|cake|dinner|lunch|breakfast"
        ),
    ),
    (
        "sports",
        _topic(
            r"run(?:s|ning)?|gym|football|soccer|basketball|baseball|tennis|swim\w*|yoga|marathon|hik(?:e|es|"
            r"ed|ing)|cycling|biking|ski\w*|surf\w*|workout|dance\w*|dancing|hockey|golf"
        ),
    ),
    (
        "music",
        _topic(r"music|guitar|piano|violin|drums|band|concerts?|sing(?:s|ing)?|songs?|albums?|jazz"),
    ),
    (
        "reading",
        _topic(r"books?|read(?:s|ing)?|novels?|author|writ(?:e|es|ing)|poet\w*"),
    ),
    (
        "film",
        _topic(r"movies?|films?|tv|shows?|series|netflix|anime"),
    ),
    (
        "games",
        _topic(r"games?|gaming|chess|video ?games?|xbox|playstation|nintendo"),
    ),
    (
        "art",
        _topic(r"art|paint\w*|draw(?:s|ing)?|photograph\w*|pottery|sculpt\w*|craft\w*|knit\w*"),
    ),
    (
        "possessions",
        _topic(r"cars?|truck|bike|motorcycle|phone|laptop|computer|iphone|drives? an?"),
    ),
    (
        "faith",
        _topic(r"church|god|religio\w+|christian|muslim|jewish|buddhis\w+|pray\w*"),
    ),
    (
        "hobby",
        _topic(r"hobb(?:y|ies)|in (?:my|our) (?:free|spare) time|collect(?:s|ing)|woodwork\w*|birdwatching|pottery"),
    ),
    (
        "entertainment",
        _topic(
            r"movies?|cinema|concerts?|festivals?|theat(?:re|er)|musicals?|tv shows?|netflix|museums?|video ?games?"
        ),
    ),
    (
        "legal",
        _topic(
            r"lawyers?|attorneys?|solicitor|lawsuit|in court|court (?:case|hearing)|custody|visa|citizenship|sued|suing"
        ),
    ),
    (
        "security",
        _topic(r"burglar\w*|break-in|broken into|stolen|scam\w*|phishing|hacked|fraud\w*|alarm system|identity theft"),
    ),
    (
        "celebration",
        _topic(r"birthdays?|anniversary|party|christmas|thanksgiving|celebrat\w+"),
    ),
)
_CATEGORY_OF: Final = {"budget": "Budget", "finance": "Finance", "education": "Education"}
_PERSONAL: Final = frozenset(name for name, _ in _TOPICS) - {"budget", "finance", "goals", "education"}
_PREFERENCE: Final = re.compile(
    r"\b(?:love[sd]?|lik(?:e|es|ed)|hate[sd]?|prefer(?:s|red)?|enjoy(?:s|ed|ing)?|favou?rite|"
    r"dislike[sd]?|can't stand|cannot stand|"
    r"adore[sd]?|(?:big |huge )?fan of|rather|fond of|into|don't (?:eat|drink|like)|do not (?:eat|"
    r"drink|like)|allergic|vegan|vegetarian|call me)\b",
    re.IGNORECASE,
)
"""What somebody likes or cannot bear: "I can't stand coriander", "fan of"."""
_ROUTINE: Final = re.compile(
    r"\b(?:every (?:\w+ )?(?:day|week|month|year|morning|evening|night|weekend|(?:mon|tues|wednes|"
    r"thurs|fri|satur|sun)day|summer|winter)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|weekly|monthly|once a|twice a|\w+ times a|on weekends)\b",
    re.IGNORECASE,
)
"""What comes back: "every Monday", "twice a week"."""
_COMING: Final = re.compile(
    r"\b(?:I(?:'m| am) (?:going to|about to|planning|moving|leaving|starting|getting|expecting|hoping)|I(?:'ll| will)|"
    r"we(?:'re| are) (?:going to|planning)|we(?:'ll| will)|my \w+ is (?:on|in) (?:the |\d))",
    re.IGNORECASE,
)
"""What is still to come: "I'm going to move"."""
_FRESH: Final = re.compile(r"\b(?:just|recently|finally)\b", re.IGNORECASE)
"""What has just been so: "recently"."""
_STATE: Final = re.compile(
    r"\b(?:used to|(?:quit|stopped) [a-z]+ing|gave up|born|grew up|raised|always|never|usually|often|lived|"
    r"loved|liked|enjoyed|wanted|studied|majored|retired|"
    r"married|divorced|interested|allergic|have (?:an?|two|three|four|five|\d+|no|some)|i've "
    r"(?:an?|two|three|four|five|\d+|got|always|never|been))\b",
    re.IGNORECASE,
)
"""A deed that tells what lasts: "grew up in Rome", "used to smoke"."""
_HEDGE: Final = re.compile(
    r"\b(?:maybe|perhaps|might|probably|possibly|i think|i guess|i suppose|not sure|kind of|sort "
    r"of|i believe|could be|may)\b",
    re.IGNORECASE,
)
"""What somebody is not sure of: "maybe", "I think"."""


def topics_of(text: str) -> tuple[str, ...]:
    """Return the topics of a sentence, at most five."""
    return tuple(name for name, pattern in _TOPICS if pattern.search(text))[:5]


def category_of(topics: Sequence[str], categories: Sequence[str]) -> str:
    """Return the category that topics belong to; the last of `categories` where none is known."""
    wanted = "Other"
    for topic in topics:
        if topic in _CATEGORY_OF:
            wanted = _CATEGORY_OF[topic]
            break
        if topic == "goals":
            wanted = "Goals"
            break
        if topic in _PERSONAL:
            wanted = "Personal"
    return wanted if wanted in categories else categories[-1]


def kind_of(text: str) -> Kind:
    """Return what sort of statement a sentence is."""
    if _ROUTINE.search(text):
        return Kind.EVENT_PATTERN
    return Kind.USER_PREFERENCE if _PREFERENCE.search(text) else Kind.USER_FACT


def type_of(text: str, *, dated: bool, past: bool) -> MemoryType:
    """Return episodic for what happened or will happen at a time, semantic for what lasts.

    `text` is in the first person, `dated` says that it names a moment, `past` that its main verb is in the past.
    """
    if _ROUTINE.search(text):
        return MemoryType.SEMANTIC
    if dated or _COMING.search(text):
        return MemoryType.EPISODIC
    if _STATE.search(text):
        return MemoryType.SEMANTIC
    return MemoryType.EPISODIC if past or _FRESH.search(text) else MemoryType.SEMANTIC


def is_hedged(text: str) -> bool:
    """Return whether the user is not sure of it themselves."""
    return _HEDGE.search(text) is not None
