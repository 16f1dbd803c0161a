"""The named things in a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from policies.language.parse import Parsed
from schema import Entity, EntityType
from worker.extract.dates import Moment

_TYPES: Final[dict[str, EntityType]] = {
    "PERSON": "PERSON",
    "ORG": "ORG",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "PRODUCT": "PRODUCT",
    "WORK_OF_ART": "PRODUCT",
    "MONEY": "MONEY",
}
_PRODUCT = re.compile(
    r"\b(?:iPhone|iPad|MacBook|iMac|AirPods|Apple Watch|Pixel|Galaxy|Kindle|PlayStation|PS[45]|"
    r"Xbox|Nintendo Switch|Switch|Tesla|"
    r"Toyota|Honda|Ford|BMW|Audi|Volvo|Prius|Mustang|Civic|Corolla|Netflix|Spotify|YouTube|"
    r"Instagram|TikTok|Facebook|Twitter|"
    r"Fitbit|Garmin|Duolingo|Photoshop|Excel|Notion|Slack|Minecraft|Fortnite|Zelda|Python|"
    r"JavaScript|Rust|Linux|Windows|Android|"
    r"ChatGPT|Bitcoin|Ethereum)\b(?: (?:Pro|Max|Air|Mini|Ultra|Plus|Model [A-Z0-9]|[A-Z]?\d{1,3}[A-Za-z]?)\b){0,2}"
)
_MONEY = re.compile(
    r"[$€£]\s?\d[\d,.]*\d?(?:\s?(?:k|m|million|thousand|billion))?\b|"
    r"\b\d[\d,.]*\s?(?:k\s)?(?:dollars|bucks|euros|pounds|USD|EUR|GBP)\b"
)
_RELATIVE = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?:\w+ )?(?:sister|brother|mom|mum|mother|dad|father|wife|husband|"
    r"partner|girlfriend|boyfriend|fianc[ée]+|son|"
    r"daughter|friend|best friend|cousin|aunt|uncle|niece|nephew|boss|manager|colleague|coworker|"
    r"roommate|neighbou?r|therapist|"
    r"doctor|teacher|coach|mentor|grandmother|grandma|grandfather|grandpa|dog|cat|puppy|kitten|"
    r"horse|ex)(?:'s name is|,| is named| is called|'s called| named| called)? ([A-Z][a-z]+)\b"
)
_EMPLOYER = re.compile(
    r"\b(?:work(?:s|ed|ing)?|job|position|intern(?:ed|ing|ship)?|started|interview(?:ed|ing)?) "
    r"(?:at|for|with) ((?:[A-Z][\w&.-]*)(?: [A-Z][\w&.-]*){0,3})"
)
_RESIDENCE = re.compile(
    r"\b(?:live[sd]?|living|moved|moving|move|based|relocated|grew up|born|fly(?:ing)?|flew|"
    r"travel(?:l?ed|l?ing)?|trip|been|going|went) (?:back )?(?:in|to|from) ((?:[A-Z][\w.-]*)(?: "
    r"[A-Z][\w.-]*){0,2})"
)
_JUNK: Final = frozenset(
    (
        "i",
        "lol",
        "haha",
        "wow",
        "yeah",
        "yes",
        "thanks",
        "ok",
        "okay",
        "hey",
        "hi",
        "omg",
        "congrats",
        "christmas",
        "the user",
        "mom",
        "dad",
        "tv",
        "diy",
        "monday",
    )
)


def entities_of(text: str, parsed: Parsed, moments: Sequence[Moment]) -> tuple[Entity, ...]:
    """People, organisations, places, products, sums of money and dates of a sentence, first come first.

    Rules for money, products, employers, places and named relations go before spaCy's recogniser, which is weak
    on all of these in chat (measured on WNUT17).
    """
    found: dict[str, EntityType] = {}

    def add(name: str, kind: EntityType) -> None:
        name = name.strip(" ,.'\"!?").removesuffix("'s").removeprefix("the ")
        if 1 < len(name) <= 200 and name.lower() not in _JUNK:
            found.setdefault(name, kind)

    for match in _RELATIVE.finditer(text):
        add(match.group(1), "PERSON")
    for match in _MONEY.finditer(text):
        add(match.group(), "MONEY")
    if any(char.isupper() for char in text[1:]):
        for match in _PRODUCT.finditer(text):
            add(match.group(), "PRODUCT")
        for match in _EMPLOYER.finditer(text):
            add(match.group(1), "ORG")
        for match in _RESIDENCE.finditer(text):
            add(match.group(1), "LOCATION")
    for name in parsed.names:
        kind = _TYPES.get(name.label)
        known = any(name.text in other or other in name.text for other in found)
        if kind is not None and not known and any(char.isupper() or char.isdigit() for char in name.text):
            add(name.text, kind)
    for moment in moments:
        add(moment.text, "DATE")
    return tuple(Entity(text=name, type=kind) for name, kind in list(found.items())[:12])
