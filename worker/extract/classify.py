"""What a sentence is about, and what sort of memory it makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from memory.schema import Kind, MemoryType


def _topic(*stems: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(stems)})\b", re.IGNORECASE)


_TOPICS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("budget", _topic(r"budget\w*", r"spend\w*", r"overspen\w+", r"afford\w*", "groceries", r"expens\w+", r"per month", r"a month on")),
    ("finance", _topic(r"invest\w*", "stocks?", "bonds?", "crypto", "bitcoin", r"mortgages?", "loans?", "debts?", "salary",
                       "income", "savings?", "bank", "pension", "401k", "ira", "taxes", "credit cards?", "rent", "paycheck",
                       "insurance", "portfolio", r"[$€£] ?\d[\d,.]*k?")),
    ("goals", _topic("goals?", r"plan(?:s|ning|ned)? (?:to|on)", "dream(?:s|ing)? (?:of|about|is|to)", r"want(?:s)? to", r"hop(?:e|es|ing) to",
                     r"aim(?:s|ing)? to", "saving (?:up )?for", "working towards?", "resolution", "bucket list", "training for")),
    ("education", _topic("school", "college", "university", "degree", r"stud(?:y|ies|ied|ying)", "exams?", "class(?:es)?", "courses?", "major(?:ing)?",
                         "phd", "thesis", "teachers?", "teach(?:es|ing)?", "semester", "homework", "graduat\\w+", "learning", "professor", "certification")),
    ("family", _topic("mom", "mum", "mother", "dad", "father", "parents?", "sisters?", "brothers?", "siblings?", "sons?", "daughters?", "kids?",
                      "child(?:ren)?", "wife", "husband", "grand\\w+", "aunt", "uncle", "cousins?", "nieces?", "nephews?", "family", "baby", "twins")),
    ("relationship", _topic("girlfriend", "boyfriend", "partner", r"fianc\w+", "married", "marriage", "wedding", r"divorc\w+", "dating", "engaged", "ex", "single")),
    ("friends", _topic("friends?", "roommates?", "buddy", "buddies", "neighbou?rs?")),
    ("pets", _topic("dogs?", "cats?", "pets?", "pupp(?:y|ies)", "kittens?", "rabbits?", "hamsters?", "parrots?", "horses?", "turtles?", "fish tank")),
    ("work", _topic("work(?:s|ed|ing)?", "jobs?", "boss", "career", "office", "colleagues?", "coworkers?", "company", "business", "manager", "engineer",
                    "promot\\w+", "interview", "hired", "fired", "retired", "clients?", "project", "startup", "employer")),
    ("health", _topic("allerg\\w+", "doctor", "hospital", "surgery", "diabet\\w+", "asthma", "anxiety", "depress\\w+", "therap\\w+", "medication", "pregnant",
                      "diet", "injur\\w+", "sick", "illness", "cancer", "vegan", "vegetarian", "gluten", "lactose\\W?\\w*", "weight", "sleep", "dentist", "migraines?")),
    ("home", _topic("house", "home", "apartment", "flat", "condo", "farm", "garden(?:ing)?", "moved?", "moving", "liv(?:e|es|ed|ing) (?:in|with|near|on)", "neighbou?rhood", "landlord")),
    ("travel", _topic("travel\\w*", "trips?", "flights?", "vacations?", "holidays?", "visit(?:s|ed|ing)?", "flew", "fly(?:ing)?", "hotel", "road ?trip", "passport", "abroad", "cruise")),
    ("food", _topic("cook(?:s|ed|ing)?", "bak(?:e|es|ed|ing)", "food", "eat(?:s|ing)?", "restaurants?", "recipes?", "pizza", "coffee", "tea", "wine", "beer", "meat", "cake", "dinner", "lunch", "breakfast")),
    ("sports", _topic("run(?:s|ning)?", "gym", "football", "soccer", "basketball", "baseball", "tennis", "swim\\w*", "yoga", "marathon", "hik(?:e|es|ed|ing)", "cycling", "biking", "ski\\w*", "surf\\w*", "workout", "dance\\w*", "dancing", "hockey", "golf")),
    ("music", _topic("music", "guitar", "piano", "violin", "drums", "band", "concerts?", "sing(?:s|ing)?", "songs?", "albums?", "jazz")),
    ("reading", _topic("books?", "read(?:s|ing)?", "novels?", "author", "writ(?:e|es|ing)", "poet\\w*")),
    ("film", _topic("movies?", "films?", "tv", "shows?", "series", "netflix", "anime")),
    ("games", _topic("games?", "gaming", "chess", "video ?games?", "xbox", "playstation", "nintendo")),
    ("art", _topic("art", "paint\\w*", "draw(?:s|ing)?", "photograph\\w*", "pottery", "sculpt\\w*", "craft\\w*", "knit\\w*")),
    ("possessions", _topic("cars?", "truck", "bike", "motorcycle", "phone", "laptop", "computer", "iphone", "drives? an?")),
    ("faith", _topic("church", "god", "religio\\w+", "christian", "muslim", "jewish", "buddhis\\w+", "pray\\w*")),
    ("celebration", _topic("birthdays?", "anniversary", "party", "christmas", "thanksgiving", "celebrat\\w+")),
)  # fmt: skip
_CATEGORY_OF: Final = {"budget": "Budget", "finance": "Finance", "education": "Education"}
_PERSONAL: Final = frozenset(
    (
        "family",
        "relationship",
        "friends",
        "pets",
        "work",
        "health",
        "home",
        "travel",
        "food",
        "sports",
        "music",
        "reading",
    )
    + ("film", "games", "art", "possessions", "faith", "celebration")
)
_PREFERENCE: Final = re.compile(
    r"\b(?:love[sd]?|lik(?:e|es|ed)|hate[sd]?|prefer(?:s|red)?|enjoy(?:s|ed|ing)?|favou?rite|dislike[sd]?|can't stand|cannot stand|"
    r"adore[sd]?|(?:big |huge )?fan of|rather|fond of|into|don't (?:eat|drink|like)|do not (?:eat|drink|like)|allergic|vegan|vegetarian|call me)\b",
    re.IGNORECASE,
)
_ROUTINE: Final = re.compile(
    r"\b(?:every (?:\w+ )?(?:day|week|month|year|morning|evening|night|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun)day|summer|winter)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|weekly|monthly|once a|twice a|\w+ times a|on weekends)\b",
    re.IGNORECASE,
)
_COMING: Final = re.compile(
    r"\b(?:I(?:'m| am) (?:going to|about to|planning|hoping|\w+ing .{0,60}\b(?:on|in|around) (?:the |\d|[A-Z]))|I(?:'ll| will)|"
    r"we(?:'re| are) (?:going to|planning)|we(?:'ll| will)|my \w+ is (?:on|in) (?:the |\d))",
    re.IGNORECASE,
)
_HAPPENED: Final = re.compile(
    r"\b(?:just|recently|finally|i've|i have|we've|we have|went|got|saw|met|came|took|made|bought|sold|left|won|lost|"
    r"told|found|ran|ate|drove|flew|gave|spent|broke|had|did|began|started|finished|visited|attended|signed|joined|"
    r"watched|played|adopted|applied|booked|passed|failed|opened|celebrated|launched|[a-z]{3,}ed)\b",
    re.IGNORECASE,
)
_STATE: Final = re.compile(
    r"\b(?:used to|born|grew up|raised|always|never|usually|often|lived|loved|liked|enjoyed|wanted|studied|majored|retired|"
    r"married|divorced|interested|allergic|have (?:an?|two|three|four|five|\d+|no|some)|i've (?:an?|two|three|four|five|\d+|got|always|never|been))\b",
    re.IGNORECASE,
)
_HEDGE: Final = re.compile(
    r"\b(?:maybe|perhaps|might|probably|possibly|i think|i guess|i suppose|not sure|kind of|sort of|i believe|could be|may)\b",
    re.IGNORECASE,
)


def topics_of(text: str) -> tuple[str, ...]:
    """The topics of a sentence, at most five."""
    return tuple(name for name, pattern in _TOPICS if pattern.search(text))[:5]


def category_of(topics: Sequence[str], categories: Sequence[str]) -> str:
    """The category that topics belong to; the last of `categories` where none is known."""
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
    """What sort of statement a sentence is."""
    if _ROUTINE.search(text):
        return Kind.EVENT_PATTERN
    return Kind.USER_PREFERENCE if _PREFERENCE.search(text) else Kind.USER_FACT


def type_of(text: str, *, dated: bool) -> MemoryType:
    """Episodic for what happened or will happen at a time, semantic for what lasts. `text` is in the first person."""
    if _ROUTINE.search(text):
        return MemoryType.SEMANTIC
    if dated or _COMING.search(text):
        return MemoryType.EPISODIC
    if _STATE.search(text):
        return MemoryType.SEMANTIC
    return MemoryType.EPISODIC if _HAPPENED.search(text) else MemoryType.SEMANTIC


def is_hedged(text: str) -> bool:
    """Whether the user is not sure of it themselves."""
    return _HEDGE.search(text) is not None
