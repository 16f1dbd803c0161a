"""Postal addresses in a text: streets with a house number, boxes, apartments, military post offices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

_LEAD_CHARS: Final = 100
"""How far before a street that only its surroundings tell from a name these are looked at."""


def find(text: str) -> Iterator[tuple[int, int]]:
    """Where addresses begin and end; they may overlap. Linear in the length of the text."""
    for pattern, check in _RULES:
        for match in pattern.finditer(text):
            if check is None or check(text, match):
                yield match.span("value")


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _is_no_year(_: str, match: re.Match[str]) -> bool:
    return not _YEAR.match(match["value"])


def _is_no_year_of(text: str, match: re.Match[str]) -> bool:
    """Whether the number is not the year in which something was so of a street: "in 2019 Penny Lane was closed"."""
    return _is_no_year(text, match) or not _IN.search(text, max(0, match.start() - 8), match.start())


def _is_led_to(text: str, match: re.Match[str]) -> bool:
    """Whether what stands before speaks of a place to live at, to meet at, to send to; or the text is somebody's card
    and this a line of it."""
    at = match.start("value")
    if _LEAD.search(text, max(0, at - _LEAD_CHARS), at):
        return True
    if text[max(0, at - 4) : at].endswith("and "):
        return _LIST.search(text) is not None
    is_line = text[max(0, at - 1) : at] == "\n" and text[match.end() : match.end() + 1] == "\n"
    return is_line and _CARD.search(text) is not None


_YEAR: Final = re.compile(r"(?:19|20)\d\d\b")
_IN: Final = _compile(r"\b(?:in|since|of|until|from)\s\Z")
_LIST: Final = _compile(r"\baddresses\b")
_CARD: Final = _compile(r"\b(?:phone|office|fax|mobile|e-?mail)\b")
_STREET: Final = (
    r"(?:Street|St|Str|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Square|Sq|"
    r"Terrace|Close|"
    r"Highway|Hwy|Parkway|Pkwy|Crescent|Cres|Gardens|Grove|Row|Walk|Quay|Mews|Hill|Circle|Cir|Trail|Alley|Squares)"
)
_LOWER_STREET: Final = r"(?:street|avenue|road|lane|boulevard|drive|ave|blvd|st)\b"
_ENDING: Final = (
    r"(?:stra(?:ß|ss)e|str\.|gasse|weg|platz|allee|katu|gatan|vägen|vegen|vej|laan|straat|stræti|stræde|"
    r"utca|holmen|plein|gracht|veien|braut)"
)
_MONTHS: Final = (
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
)
_NAMES: Final = rf"(?:(?!{_MONTHS})[^\W\d_a-z][\w.'’-]{{1,24}}\s+)"
_LEAD: Final = _compile(
    r"(?:\b(?:live[sd]?|living|reside[sd]?|located|stay(?:s|ed|ing)?|sent|send|deliver(?:ed|s)?|mail(?:ed)?|"
    r"ship(?:ped)?|arrived|enter|moved|moving|side|change|corner|address|restaurant|shop|office|hotel|house|flat|"
    r"apartment|station|bank|school|library|clinic|meets?|meeting|taxi|cab)\s+"
    r"(?:(?!(?:and|with|who|plays?|on|at)\b)\w{1,12}\s+){0,4}?(?:at|on|to|of|is)|"
    r"\baddress(?:es)?\b[^\n]{0,70}?(?:\b(?:at|on|to|of|is|are|with|and)|:))(?:\s+now)?\s+\Z"
)
_NO_STREET: Final = (
    r"(?:Room|Level|Floor|Gate|Terminal|Platform|Chapter|Page|Part|Windows|PlayStation|Xbox|iPhone|Channel|Route|Highway|"
    r"Section|Season|Episode|Number|Day|Week|Grade|Class|Year|Phase|Stage|Step|Top|Formula|World|Euro|Area|Pier|Track|"
    r"Line|Bus|Tram|Train|Flight|Group|Team|Version|Camp|Studio|Exit|Unit|Zone|Table|Booth|Lot|Building|Block)\b"
)
_BETWEEN: Final = rf"(?:(?!(?:on|in|at|and|for|since|with|to|by|until|from)\b|{_MONTHS})[\w.'’-]{{2,24}}[ \t]+)"
_CLAUSE_GOES_ON: Final = (
    r"(?!\s+(?!(?:and|or|in|near|since|for|with|last|next|this|after|before|from|until|on|at|to|by|which|where|but|when|"
    r"because|if|so|is|was|street|st|today|tomorrow|yesterday|tonight|please|now|then|again|across|opposite|behind|"
    r"between|close|apt|suite|flat|floor)\b)[a-z])"
)
"""What follows a house number, and never a number of something: "moved to Berlin 2 years ago" names no house."""
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str]], bool] | None], ...]] = (
    (
        re.compile(
            r"(?<![\w.$€£])(?P<value>(?:\d{1,6}[A-Za-z]?,?\s+){1,2}"
            rf"(?:(?!{_MONTHS})[^\W\d_a-z][\w.'’-]{{0,24}}\s+){{1,4}}{_STREET}"
            r"\b\.?(?:,?\s+(?:Apt|Apartment|Suite|Ste|Unit|Flat)\b\.?\s*#?\w{1,6})?)"
        ),
        _is_no_year_of,
    ),
    (
        _compile(
            r"\b(?:at|to|address is|on)\s+(?P<value>\d{1,5}\s+"
            rf"(?:[a-z'’-]{{2,20}}\s+(?:[a-z'’-]{{2,20}}\s+)?|(?-i:[^\W\d_a-z][\w.'’-]{{1,24}}\s+){{3,4}}){_LOWER_STREET})"
        ),
        None,
    ),
    (
        _compile(
            r"(?<!\w)(?P<value>(?:\d{1,6}\s+)?[^\W\d_]\w{1,30}(?:\s(?:út|tér|u\.|põik|utca|stra(?:ß|ss)e|str\.|allee|"
            rf"platz|gasse|vej|gatan)|{_ENDING})\s+\d{{1,4}}\w?)\b"
        ),
        None,
    ),
    (
        re.compile(
            r"(?<!\w)(?P<value>(?:\d{1,6},?\s+(?:\d{1,4}\s+)?)?(?:[Rr]ue|[Vv]ia|[Cc]alle|[Rr][uú]a|[Aa]venida|"
            r"[Pp]aseo|[Pp]iazza|[Uu]lica|ul\.)\s+"
            r"(?:[\w'’.-]{1,24}\s+){0,3}[\w'’.-]{1,24},?\s+\d{1,4})\b"
        ),
        None,
    ),
    (
        _compile(
            r"\b(?P<value>(?:P\.?\s?O\.?\s?Box\s+\d{1,6}|(?:PSC|Unit|CMR)\s+\d{1,6},?\s+Box\s+\d{1,6})"
            r"(?:\s+(?:APO|FPO|DPO)\s+(?:AA|AE|AP)\s+\d{5})?)"
        ),
        None,
    ),
    (_compile(r"\b(?P<value>(?:Apt|Apartment|Suite|Ste)\b\.?\s{0,2}#?\d{1,5}[a-z]?)\b"), None),
    (
        _compile(
            r"\b(?:(?:lives?|living|resides?|located|stay(?:s|ing)?) at|"
            r"address(?:\s+of\s+[\w ,.&'’-]{1,60}?)?\s+is(?:\s+at)?|address:)\s{1,8}"
            r"(?P<value>(?-i:[A-Z\d])[^\n;,!?\[\]]{3,80}?\d[\w-]{0,8}|\d{1,6}[^\n;,!?.\[\]]{4,60})(?=$|[\n;!?.,]|\s)"
        ),
        None,
    ),
    (
        # A military post office.
        _compile(
            r"(?<!\w)(?P<value>(?:(?:us[a-z]{1,4}|psc|unit|cmr|uss)\s+[\w.'’-]{1,24}"
            r"(?:\s+[\w.'’-]{1,24}){0,2}?[\s,]{1,3})?"
            r"(?:apo|fpo|dpo)[\s,]{1,3}a[aep]\s{1,3}\d{5}(?:-\d{4})?)(?!\w)"
        ),
        None,
    ),
    (
        # Number, names, number: a house number before or after the street, and one of a flat or a box.
        re.compile(
            rf"(?<![\w.$€£])(?P<value>\d{{2,6}},?\s{{1,3}}{_NAMES}{{1,4}}"
            r"(?:[^\W\d_]{2,14}\s+)?\d{1,5}[A-Za-z]?)(?![\w%.,:]\d|\w)"
        ),
        _is_no_year,
    ),
    (
        re.compile(
            rf"(?<![\w.$€£])(?P<value>\d{{3,6}}\s{{1,3}}\d{{1,5}}\s{{1,3}}{_NAMES}{{0,3}}[^\W\d_a-z][\w'’-]{{2,24}})"
        ),
        _is_no_year,
    ),
    (
        # Where a street has no such word in its name, what is said of it has.
        re.compile(
            rf"(?<![\w.$€£'’-])(?P<value>(?:\d{{1,6}},?\s{{1,3}})?(?:[^\W\d_a-z][\w'’-]{{1,24}}\sand\s)?"
            rf"(?:(?!{_MONTHS}|{_NO_STREET})[^\W\d_a-z][\w.'’-]{{2,24}}[ \t]+){_BETWEEN}{{0,3}}"
            rf"\d{{1,5}}[A-Za-z]?)(?![\w%:]|[.,]\d){_CLAUSE_GOES_ON}"
        ),
        _is_led_to,
    ),
    (
        # The house number first.
        re.compile(
            rf"(?<![\w.$€£'’-])(?P<value>\d{{1,6}}\s{{1,3}}(?:(?!{_MONTHS}|[AP]M\b)[^\W\d_a-z][\w'’-]{{1,24}}\s){{1,3}}"
            rf"[^\W\d_a-z][\w'’-]{{1,24}})(?!\w)"
        ),
        _is_led_to,
    ),
    (
        # All in small letters, with a second number to tell it from so and so many of something.
        re.compile(
            r"(?<![\w.$€£'’-])(?P<value>\d{3,6}\s{1,3}(?:\d{1,5}\s{1,3}[^\W\d_][\w'’-]{2,24}(?:\s[^\W\d_][\w'’-]{2,24})?|"
            rf"[^\W\d_][\w'’-]{{2,24}}\s(?:[^\W\d_][\w'’-]{{2,24}}\s)?\d{{1,4}}))(?![\w%]|[.,:]\d){_CLAUSE_GOES_ON}"
        ),
        lambda text, match: _is_no_year(text, match) and _is_led_to(text, match),
    ),
    (
        _compile(
            r"\b(?P<value>(?:the\s+)?corner\s+of\s+[^\n.!?;\[\]]{3,60}?\s+and\s+[\w'’.-]{2,24}"
            r"(?:[ \t](?-i:[A-Z])[\w'’-]{1,24})"
            r"{0,2})(?!\w)"
        ),
        None,
    ),
    (
        re.compile(
            r"(?<!\w)(?P<value>\d{1,6}[A-Za-z]?,?\s+(?:\d{1,5}\s+)?(?:[Rr]ue|[Vv]ia|[Cc]alle|[Rr][uú]a|[Aa]venida|"
            r"[Pp]aseo|"
            r"[Pp]iazza|[Uu]lica|[Bb]oulevard|[Pp]laza|[Tt]rg|[Aa]venue|[Aa]v|[Aa]llée|[Cc]hemin|[Kk]apu)\s+"
            r"(?:(?:de|del|della|delle|di|du|des|da|do|dos|la|le|les|l'|y|e)\s+){0,3}[^\W\d_][\w'’-]{1,24})"
        ),
        None,
    ),
)
