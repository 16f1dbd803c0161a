"""Personal identifiers in a text, to be masked with a typed placeholder."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

from policies import addresses
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
    if has_digit:
        for start, end in addresses.find(text):
            yield Finding("address", start, end, "[address]")


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
