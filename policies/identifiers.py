"""Personal identifiers in a text, to be masked with a typed placeholder."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

from policies.credentials import Finding

_CONTEXT_CHARS: Final = 40
_DIGIT: Final = re.compile(r"\d")
_WITHOUT_DIGITS: Final = frozenset({"email", "ip", "mac"})


def find(text: str) -> Iterator[Finding]:
    """All personal identifiers in a text; spans may overlap. Linear in the length of the text."""
    has_digit = _DIGIT.search(text) is not None
    for rule, pattern, check in _RULES:
        if not has_digit and rule not in _WITHOUT_DIGITS:
            continue
        for match in pattern.finditer(text):
            if check is None or check(text, match):
                yield Finding(rule, *match.span("value"), f"[{rule}]")


def _is_phone(text: str, match: re.Match[str]) -> bool:
    value = match["value"]
    digits = sum(c.isdigit() for c in value)
    if not 7 <= digits <= 15 or _NOT_PHONE.fullmatch(value):
        return False
    if value.startswith(("+", "00", "(0")):
        return True
    around = text[max(0, match.start() - _CONTEXT_CHARS) : match.start()] + " " + text[match.end() : match.end() + 12]
    if _PHONE_WORDS.search(around):
        return True
    groups = re.findall(r"\d+", value)
    if len(groups) < 3 or digits < 9:
        return False
    spaced_thousands = " " in value and all(len(g) == 3 for g in groups[1:]) and not value.startswith("0")
    return not spaced_thousands and len(groups) <= 5 and max(map(len, groups)) <= 5


def _is_ip(text: str, match: re.Match[str]) -> bool:
    if re.search(r"(?:version|release|\bv)\s?$", text[max(0, match.start() - 10) : match.start()], re.IGNORECASE):
        return False
    try:
        ipaddress.ip_address(match["value"])
    except ValueError:
        return False
    return True


def _has_digit(_: str, match: re.Match[str]) -> bool:
    return any(c.isdigit() for c in match["value"])


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PHONE_WORDS: Final = _compile(
    r"phone|mobile|\bcell|\btel\b|telephone|\bfax|whatsapp|\bsms\b|\bcall|\btext(?:ed|ing)?\s|\bdial|\breach\b|"
    r"messages?\s+(?:to|at|on)|registered|\bcontact|\boffice|\bring\b"
)
_NOT_PHONE: Final = re.compile(
    r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d\d|(?:19|"
    r"20)\d\d\s?[-/]\s?(?:19|20)\d\d"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d\b")
_STREET: Final = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Square|Sq|"
    r"Terrace|Close|"
    r"Highway|Hwy|Parkway|Pkwy|Crescent|Cres|Gardens|Grove|Row|Walk|Quay|Mews|Hill|Circle|Cir|Trail|Alley|Squares)"
)
_ENDING: Final = (
    r"(?:stra(?:ß|ss)e|str\.|gasse|weg|platz|allee|katu|tie|gatan|vägen|vegen|vej|gade|laan|straat|stræti|stræde|"
    r"stræti|gata|utca|holmen|katu|plein|gracht|veien|braut)"
)
_MONTHS: Final = (
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
)
_NAMES: Final = rf"(?:(?!{_MONTHS})[^\W\d_a-z][\w.'’-]{{1,24}}\s+)"
_WHERE: Final = (
    r"\b(?:(?:live[sd]?|living|reside[sd]?|located|stay(?:s|ed|ing)?|sent|send|deliver(?:ed|s)?|mail(?:ed)?|"
    r"ship(?:ped)?|"
    r"arrived|enter|moved|moving|side|change|corner|address|restaurant|shop|office|hotel|house|flat|apartment)\s+"
    r"(?:(?!(?:and|with|who|plays?|on|at)\b)\w{1,12}\s+){0,4}?)(?:at|on|to|of|is)\s+"
)
_NO_STREET: Final = (
    r"(?:Room|Level|Floor|Gate|Terminal|Platform|Chapter|Page|Part|Windows|PlayStation|Xbox|iPhone|Channel|Route|Highway|"
    r"Section|Season|Episode|Number|Day|Week|Grade|Class|Year|Phase|Stage|Step|Top|Formula|World|Euro|Area|Pier|Track|"
    r"Line|Bus|Tram|Train|Flight|Group|Team|Version)\b"
)
_BETWEEN: Final = rf"(?:(?!(?:on|in|at|and|for|since|with|to|by|until|from)\b|{_MONTHS})[\w.'’-]{{2,24}}\s+)"
_RULES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str, re.Match[str]], bool] | None], ...]] = (
    ("email", re.compile(r"(?<![\w.+%-])(?P<value>[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"), None),
    ("ssn", re.compile(r"(?<![\w-])(?P<value>\d{3}-\d{2}-\d{4})(?![\w-])"), None),
    ("ssn", _compile(r"\b(?:ssn|social security)\b[^\n\d]{0,24}(?P<value>\d[\d -]{6,12}\d)(?!\d)"), None),
    ("ip", re.compile(r"(?<![\w.])(?P<value>\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)"), _is_ip),
    ("ip", _compile(r"(?<![\w:])(?P<value>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w:])"), _is_ip),
    ("mac", _compile(r"(?<![\w:-])(?P<value>[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5})(?![\w:-])"), None),
    (
        "id_number",
        _compile(
            r"\b(?:passport|driver'?s?’?s? licen[cs]e|driving licen[cs]e|licen[cs]e (?:number|no)|dl|national id|"
            r"identity card|id (?:card|number)|nhs|tax (?:id|number)|tin|ein|vat|nino|national insurance|aadhaar|"
            r"personal number|medicare|insurance (?:id|number)|member id|visa number|license plate|number plate)\b"
            r"[^\n\d\[\].!?]{0,28}?(?<!\w)(?P<value>[A-Z]{0,3}\d[A-Z0-9 -]{3,22}[A-Z0-9])(?!\w)"
        ),
        _has_digit,
    ),
    (
        "phone",
        re.compile(
            r"(?<![\w.$€£/+-])(?<!\d,)(?P<value>(?:\+|00)?\(?\d{1,5}\)?(?:[ .\-/]{0,2}\(?\d{1,5}\)?){1,6})(?![\w%]|"
            r"[.,:]\d|\s?(?:%|\$|€))"
        ),
        _is_phone,
    ),
    (
        "postcode",
        _compile(
            r"\b(?:zip|post(?:al)?\s?code|zip\s?code)\b\W{0,3}(?:(?:code|is)\W{1,3}){0,2}"
            r"(?P<value>[A-Z0-9]{2,5}(?:[ -][A-Z0-9]{1,4})?)\b"
        ),
        _has_digit,
    ),
    (
        "address",
        re.compile(
            r"(?<![\w.$€£])(?P<value>(?:\d{1,6}[A-Za-z]?,?\s+){1,2}(?:[^\W\d_a-z][\w.'’-]{0,24}\s+){1,4}"
            + _STREET
            + r"\b\.?(?:,?\s+(?:Apt|Apartment|Suite|Ste|Unit|Flat)\b\.?\s*#?\w{1,6})?)"
        ),
        None,
    ),
    (
        "address",
        _compile(
            r"\b(?:at|to|address is|on)\s+(?P<value>\d{1,5}\s+[a-z'’-]{2,20}\s+(?:[a-z'’-]{2,20}\s+)?"
            r"(?:street|avenue|road|lane|boulevard|drive|ave|blvd|st)\b)"
        ),
        None,
    ),
    (
        "address",
        _compile(
            rf"(?<!\w)(?P<value>(?:\d{{1,6}}\s+)?[^\W\d_]\w{{1,30}}(?:\s(?:út|tér|u\.|põik|utca)|"
            rf"{_ENDING})\s+\d{{1,4}}\w?)\b"
        ),
        None,
    ),
    (
        "address",
        re.compile(
            r"(?<!\w)(?P<value>(?:\d{1,6},?\s+(?:\d{1,4}\s+)?)?(?:[Rr]ue|[Vv]ia|[Cc]alle|[Rr]ua|[Aa]venida|"
            r"[Pp]aseo|[Pp]iazza|[Uu]lica|ul\.)\s+"
            r"(?:[\w'’.-]{1,24}\s+){0,3}[\w'’.-]{1,24},?\s+\d{1,4})\b"
        ),
        None,
    ),
    (
        "address",
        _compile(
            r"\b(?P<value>(?:P\.?\s?O\.?\s?Box\s+\d{1,6}|(?:PSC|Unit|CMR)\s+\d{1,6},?\s+Box\s+\d{1,6})"
            r"(?:\s+(?:APO|FPO|DPO)\s+(?:AA|AE|AP)\s+\d{5})?)"
        ),
        None,
    ),
    ("address", _compile(r"\b(?P<value>(?:Apt|Apartment|Suite|Ste)\b\.?\s{0,2}#?\d{1,5}[a-z]?)\b"), None),
    (
        "address",
        _compile(
            r"\b(?:(?:lives?|living|resides?|located|stay(?:s|ing)?) at|"
            r"address(?:\s+of\s+[\w ]{1,30}?)?\s+is(?:\s+at)?|address:)\s{1,8}"
            r"(?P<value>(?-i:[A-Z\d])[^\n;,!?\[\]]{3,80}?\d[\w-]{0,8}|\d{1,6}[^\n;,!?.\[\]]{4,60})(?=$|[\n;!?.,]|\s)"
        ),
        None,
    ),
    (
        "address",
        # A military post office.
        _compile(
            r"(?<!\w)(?P<value>(?:(?:us[a-z]{1,4}|psc|unit|cmr|uss)\s+[\w.'’-]{1,24}"
            r"(?:\s+[\w.'’-]{1,24}){0,2}?[\s,]{1,3})?"
            r"(?:apo|fpo|dpo)[\s,]{1,3}a[aep]\s{1,3}\d{5}(?:-\d{4})?)(?!\w)"
        ),
        None,
    ),
    (
        "address",
        # Number, names, number: a house number before or after the street, and one of a flat or a box.
        re.compile(
            rf"(?<![\w.$€£])(?P<value>\d{{2,6}},?\s{{1,3}}{_NAMES}{{1,4}}"
            r"(?:[^\W\d_]{2,14}\s+)?\d{1,5}[A-Za-z]?)(?![\w%.,:]\d|\w)"
        ),
        lambda _, match: not _YEAR.match(match["value"]),
    ),
    (
        "address",
        re.compile(
            rf"(?<![\w.$€£])(?P<value>\d{{3,6}}\s{{1,3}}\d{{1,5}}\s{{1,3}}{_NAMES}{{0,3}}[^\W\d_a-z][\w'’-]{{2,24}})"
        ),
        lambda _, match: not _YEAR.match(match["value"]),
    ),
    (
        "address",
        # Where a street has no such word in its name, what is said of it has.
        re.compile(
            rf"(?i:{_WHERE})(?P<value>(?:\d{{1,6}},?\s{{1,3}})?(?:(?!{_MONTHS}|{_NO_STREET})[^\W\d_a-z][\w.'’-]{{2,24}}\s+)"
            rf"{_BETWEEN}{{0,3}}\d{{1,5}}[A-Za-z]?)(?![\w%:]|[.,]\d)"
        ),
        None,
    ),
    (
        "address",
        _compile(
            r"\b(?P<value>(?:the\s+)?corner\s+of\s+[^\n.!?;\[\]]{3,60}?\s+and\s+[\w'’.-]{2,24}"
            r"(?:[ \t](?-i:[A-Z])[\w'’-]{1,24})"
            r"{0,2})(?!\w)"
        ),
        None,
    ),
    (
        "address",
        re.compile(
            r"(?<!\w)(?P<value>\d{1,6}[A-Za-z]?,?\s+(?:\d{1,5}\s+)?(?:[Rr]ue|[Vv]ia|[Cc]alle|[Rr]ua|[Rr]úa|[Aa]venida|"
            r"[Pp]aseo|"
            r"[Pp]iazza|[Uu]lica|[Bb]oulevard|[Pp]laza|[Tt]rg|[Aa]venue|[Aa]llée|[Cc]hemin|[Kk]apu)\s+"
            r"(?:(?:de|del|della|delle|di|du|des|da|do|dos|la|le|les|l'|y|e)\s+){0,3}[^\W\d_][\w'’-]{1,24})"
        ),
        None,
    ),
    (
        "postcode",
        # What follows an address, or stands behind a country.
        re.compile(
            r"(?:\b(?:Apt|Apartment|Suite|Ste|Unit|Flat|Street|St|Avenue|Ave|Road|Rd|Lane|Drive|Boulevard|Blvd)\b|"
            r"\[address\])"
            r"[^\[\]]{0,80}?(?<![\w$€£.,])(?P<value>(?!(?:19|20)\d\d\b)\d{4,6}(?:-\d{4})?)(?![\w%]|[.,]\d)",
            re.IGNORECASE,
        ),
        None,
    ),
)
