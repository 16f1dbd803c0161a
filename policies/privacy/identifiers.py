"""Personal identifiers in a text, to be masked with a typed placeholder."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

from policies.privacy import addresses
from policies.privacy.finding import Finding

_CONTEXT_CHARS: Final = 40
_DIGIT: Final = re.compile(r"\d")
_SHORTEST_ID: Final = 5
_DATE: Final = re.compile(r"(?:19|20)\d\d(?:$|\W)|\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d$")
_WITHOUT_DIGITS: Final = frozenset({"email", "ip", "mac", "phone"})


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


def _is_id(_: str, match: re.Match[str]) -> bool:
    value = match["value"]
    return sum(c.isalnum() for c in value) >= _SHORTEST_ID and any(map(str.isdigit, value)) and not _DATE.match(value)


def _has_digit(_: str, match: re.Match[str]) -> bool:
    return any(c.isdigit() for c in match["value"])


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PHONE_WORDS: Final = _compile(
    r"phone|mobile|\bcell|\btel\b|telephone|\bfax|whatsapp|\bsms\b|\bcall|\btext(?:ed|ing)?\s|\bdial|\breach\b|"
    r"messages?\s+(?:to|at|on)|registered|\bcontact|\boffice|\bring\b|"
    r"(?:\b(?:my|her|his|our|their)|['’]s)\s(?:(?:new|old|home|work|direct)\s)?number\s?(?:is|was|:|=|to)|"
    r"\bhandy|tel[eé]?fon|nummer\b|num[ée]ro\b|celular|m[óo]vil|t[ée]l[ée]phone|номер|телефон|手机|電話|电话|휴대폰"
)
_DIGIT_WORD: Final = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_AT: Final = r"(?:\s?[(\[{<]\s?at\s?[)\]}>]\s?|\s@\s)"
_DOT: Final = r"(?:\s?[(\[{<]\s?dot\s?[)\]}>]\s?|\sdot\s|\s?\.\s?)"
_NUMBERED: Final = r"\s+(?:id|number|no\.?|num|nr\.?|#)"
_NOT_PHONE: Final = re.compile(
    r"(?:19|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d\d|(?:19|"
    r"20)\d\d\s?[-/]\s?(?:19|20)\d\d"
)
_LETTERED: Final = r"[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d|\d{4} [A-Z]{2}(?=[.,;!]|$| [A-Z][a-z])"
"""British, Canadian and Dutch postcodes."""
_RULES: Final[tuple[tuple[str, re.Pattern[str], Callable[[str, re.Match[str]], bool] | None], ...]] = (
    ("email", re.compile(r"(?<![\w.+%-])(?P<value>[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"), None),
    ("email", re.compile(r"(?P<value>\"[^\"\n@]{1,64}\"@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"), None),
    ("email", re.compile(r"(?<![\w.+%-])(?P<value>[\w.+%-]{1,64}@localhost)\b"), None),
    (
        "email",
        _compile(rf"(?<![\w.+%-])(?P<value>[\w.+%-]{{1,64}}{_AT}[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,4}})"),
        None,
    ),
    (
        "email",
        _compile(
            r"(?<![\w.+%-])(?P<value>[\w.+%-]{1,64}\sat\s[\w-]{1,63}(?:\sdot\s[\w-]{1,63}){0,3}\sdot\s"
            r"(?:com|net|org|edu|gov|io|co|me|ai|dev|app|uk|us|ca|de|fr|es|it|nl|in|au|ch|at|eu|info))\b"
        ),
        None,
    ),
    ("ssn", re.compile(r"(?<![\w-])(?P<value>\d{3}-\d{2}-\d{4})(?![\w-])"), None),
    (
        "ssn",
        _compile(
            r"\b(?:ssn|social security|(?:my|his|her|their|user['’]s) social(?: is| number|:))\b"
            r"[^\n\d]{0,24}(?P<value>\d[\d .-]{6,12}\d)(?!\d)"
        ),
        None,
    ),
    ("ip", re.compile(r"(?<![\w.])(?P<value>\d{1,3}(?:\.\d{1,3}){3})(?![\w]|\.\d)"), _is_ip),
    ("ip", _compile(r"(?<![\w:])(?P<value>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w:])"), _is_ip),
    ("mac", _compile(r"(?<![\w:-])(?P<value>[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5})(?![\w:-])"), None),
    ("mac", _compile(r"\bmac\b[^\n]{0,16}?(?P<value>[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})(?!\w)"), None),
    (
        "id_number",
        _compile(
            r"\b(?:passport|driver'?s?’?s? licen[cs]e|driving licen[cs]e|licen[cs]e (?:number|no)|national id|"
            r"identity card|id (?:card|number)|nhs|tax (?:id|number)|vat|nino|ni number|national insurance|aadhaar|"
            r"personal number|medicare|insurance (?:id|number)|member id|visa number|license plate|number plate|"
            r"(?:has|with) the plates?|(?<!license )plates? (?:is|are|number)|"
            r"(?:car|vehicle|van|truck)(?:'s|’s)? registration|vin|"
            r"green card|alien number|a-number|reisepass\w{0,8}|personalausweis\w{0,8}|ausweis\w{0,8}|steuer\w{0,8}|"
            r"sozialversicherungs\w{0,8}|kennzeichen|passeport|carte d'identité|sécurité sociale|insee|pasaporte|"
            r"dni|nif|(?-i:NIE|SIN|FIN|TIN|EIN|RUT|DL|RFC|CPR|ABN)|"
            r"c[ée]dula|curp|cpf|cnpj|passaporto|codice fiscale|partita iva|paspoort|bsn|personnummer|"
            r"fødselsnummer|pesel|dowód|tfn|nric|hkid|tc kimlik|resident id|"
            r"身份证\w{0,4}|マイナンバー|паспорт|инн|снилс)"
            rf"(?:{_NUMBERED})?(?![\w])"
            r"[^\n\d\[\].!?]{0,28}?(?<!\w)(?P<value>(?:(?-i:[A-Z]{1,4})[ -]|[A-Z]{1,3}-)?[A-Z]{0,4}\d"
            r"[A-Z0-9./()-]{0,22}(?: (?:(?=[A-Z./()-]{0,6}\d)[A-Z0-9./()-]{1,16}|(?-i:[A-Z]{1,3})\b)){0,8})(?!\w)"
        ),
        _is_id,
    ),
    (
        "id_number",
        _compile(
            r"\b(?:employee|staff|student|patient|medical record|member|membership|customer|client|policy|claim|badge|"
            rf"case|insurance|voter|military|service|pension|matriculation|mrn){_NUMBERED}"
            r"(?:\s+(?:for|at|with)\s+[\w' ]{1,30}?)?\s{0,2}(?:is|was|:|=)?\s{0,3}(?:mrn\s)?"
            r"(?P<value>(?=[A-Z-]{0,8}\d)[A-Z0-9][A-Z0-9-]{3,22}[A-Z0-9])(?!\w)"
        ),
        _has_digit,
    ),
    (
        # Any other number of one's own that is long, and no amount: "my residence permit number is L01X00T47".
        "id_number",
        _compile(
            r"\b(?:my|our|his|her|their|[\w-]{2,24}['’]s)\s(?!(?:[\w-]{2,16}\s){0,2}(?:order|invoice|tracking|parcel|"
            r"booking|reference|ref|ticket|flight|model|part|serial|lucky)\s)(?:[\w-]{2,16}\s){1,3}(?:number|no\.?|id)\s?"
            r"(?:is|was|:)\s{0,2}"
            r"(?P<value>(?=[A-Z]{0,6}\d)[A-Z0-9](?:-?[A-Z0-9]){5,22})(?!\w|[.,]\d)"
        ),
        _has_digit,
    ),
    (
        # Numbers that their shape tells: PAN (India), national insurance (United Kingdom), codice fiscale (Italy),
        # CURP (Mexico), identity cards of Spain, of Singapore, of Brazil.
        "id_number",
        re.compile(
            r"(?<![\w-])(?P<value>[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z]|[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?"
            r"\d{2} ?\d{2} ?[A-D]|[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]|[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d|"
            r"\d{8}-?[A-HJ-NP-TV-Z]|[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]|[STFGM]\d{7}[A-Z]|\d{3}\.\d{3}\.\d{3}-\d{2})(?![\w-])"
        ),
        None,
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
        "phone",
        _compile(
            r"(?:phone|mobile|cell|whatsapp|\b(?:my|her|his|our|their)\snumber)(?:\snumber)?\s?(?:is|:|=)\s{0,3}"
            r"(?P<value>\d(?:\s{0,2}[.-]?\s{0,2}\d){6,14})(?!\w)"
        ),
        None,
    ),
    (
        "phone",
        _compile(
            rf"(?:phone|mobile|\bcell|\breach|\bcall|\btext|\bnumber)\b[^\n.!?\d]{{0,32}}?\b"
            rf"(?P<value>{_DIGIT_WORD}(?:[ ,-]{{1,2}}{_DIGIT_WORD}){{6,13}})\b"
        ),
        None,
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
            r"(?:\b(?:Apt|Apartment|Suite|Ste|Unit|Flat|Street|St|Avenue|Ave|Road|Rd|Lane|(?-i:Drive)|Boulevard|Blvd)\b|"
            r"\[address\])"
            r"[^\[\]]{0,80}?(?<![\w$€£.,])(?P<value>(?!(?:19|20)\d\d\b)\d{4,6}(?:-\d{4})?|"
            rf"{_LETTERED})(?![\w%]|[.,]\d|"
            r"\s+(?:miles|km|kilomet|dollars|euros|pounds|people|steps|users|views|words|years|times|met(?:er|re)s|feet))",
            re.IGNORECASE,
        ),
        None,
    ),
)
