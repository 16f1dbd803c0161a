"""Checks that tell a card, an account, a key or a password from other numbers and words."""

from __future__ import annotations

import ipaddress
import math
import re
from collections import Counter
from functools import lru_cache
from typing import Final

import phonenumbers
from stdnum import iban, isbn, luhn

from policies.language.lexicon import word_set

_RUN: Final = re.compile(r"[A-Za-z]+|\d+")
"""Letters or digits without a change between them: "abc"."""
_MOST_SLASHES: Final = 3
_AS_IN: Final = re.compile(r"\b[a-z0-9] (?:as in|for|like|as) [\w-]{2}", re.IGNORECASE)
"""A letter told by a word that begins with it: "B as in bravo"."""
_SPELLED_ITEM: Final = re.compile(r"[\w-]+")
"""A thing that is read out between commas or spaces: "niner"."""
_MANY_SPELLED: Final = 5
_CLOCK_DIGITS: Final = 4
_HOURS, _MINUTES = 24, 60
_EDGES: Final = "\"'“”‘’`.,;:!?()[]{}<>"
_ISSUERS: Final = ("4", "50", "51", "52", "53", "54", "55", "56", "57", "58", "22", "23", "24", "25", "26", "27", "3",
                   "6", "81", "82", "9792")  # fmt: skip
"""How the numbers of payment cards begin (Visa, Mastercard, Mir, American Express, Diners, JCB, Discover, UnionPay,
Maestro, RuPay, Troy)."""
_REGIONS: Final = ("US", "GB", "DE", "FR", "ES", "IT", "PL", "NL", "IN", "AU", "BR", "MX", "PT", "SE", "CH")
_STATES: Final = word_set(
    """a about again already also always an and any anything are as asked at bad be because been being best
    better between blank broken but case changed compromised correct created different difficult easy empty
    encrypted enough everything expired expiring for forgotten from given going gone good great hacked hard hashed
    her here hidden his how if important in incorrect insecure invalid it its just kept known leaked like
    locked long lost manager managers mandatory missing my needed never new no not nothing now of okay old on
    only optional or our out outdated over policy posted private protected protection public quite really
    recorded rejected required required. reset right safe same saved secret secure sensitive sent set shared
    short shown simple so something somewhere still stolen stored strong stuck supposed terrible that the their
    there they this to too unchanged under unique unknown unsafe up up-to-date updated used using valid very visible
    was weak weird what when where which why with working written wrong yet you your"""
)
UNITS: Final = word_set("one two three four five six seven eight nine")
TEENS: Final = word_set("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
TENS: Final = word_set("twenty thirty forty fourty fifty sixty seventy eighty ninety")
SCALES: Final = word_set("hundred thousand and")
_REPEATS: Final = {"double": 2, "triple": 3}
_LIKE_STATES: Final = ("ed", "ing", "ly", "able", "ible", "ful", "less", "ical")
_FUNCTION: Final = word_set(
    """a an the this that my your his her our their is are was were be been to of in on at for from with and or but so
    too very not i you we he she it they has have had can could will would do does did if as by than when because"""
)


def is_card(value: str) -> bool:
    """Tell whether digits pass the checksum of payment cards, and in an odd layout begin like a card's."""
    digits = "".join(filter(str.isdigit, value))
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1 or not luhn.is_valid(digits):
        return False
    groups = [len(group) for group in re.split(r"[ -]", value)]
    usual = groups in ([len(digits)], [4, 4, 4, 4], [4, 6, 5], [4, 6, 4])
    return usual or (14 <= len(digits) <= 16 and digits.startswith(_ISSUERS))


def is_card_length(value: str) -> bool:
    """Tell whether there are as many digits as on a card."""
    return 12 <= sum(map(str.isdigit, value)) <= 19


def is_iban(value: str) -> bool:
    """Tell whether a text is an international bank account number (ISO 13616)."""
    compact = re.sub(r"[\s.-]", "", value).upper()
    return compact.isascii() and iban.is_valid(compact, check_country=False)


def entropy(token: str) -> float:
    """Return the Shannon entropy of a token in bits a character."""
    return -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())


def has_digit(value: str) -> bool:
    """Tell whether there is a digit in it."""
    return any(map(str.isdigit, value))


def changes(value: str) -> int:
    """Count how often letters and digits take turns: none in "office365" beyond the first, many in a key."""
    return len(_RUN.findall(value)) - 1


def is_random(value: str) -> bool:
    """Tell whether a token is long, mixed and uneven enough to be a key (3.5 bits a character part it from words)."""
    hexadecimal = set(value.lower()) <= set("0123456789abcdef-")
    return has_digit(value) and any(map(str.isalpha, value)) and entropy(value) >= (3.0 if hexadecimal else 3.5)


def is_key(value: str) -> bool:
    """Tell whether a token is a key without any context: digits, capitals and small letters take turns in it."""
    mixed = value.lower() != value and value.upper() != value
    return mixed and changes(value) >= 4 and entropy(value) >= 3.5


def is_base64_key(value: str) -> bool:
    """Tell whether a token with slashes in it is a key and no path: it is as uneven as chance makes forty characters of
    base64 (of 20,000 by chance 98%; paths of names have less than 4.5 bits a character, or more slashes)."""
    return is_key(value) and entropy(value) >= 4.5 and value.count("/") <= _MOST_SLASHES


def is_password(value: str) -> bool:
    """Tell whether what follows "my password is" is one: no state of a password, no placeholder."""
    plain = value.strip(_EDGES)
    state = plain.islower() and len(plain) > 5 and plain.isalpha() and plain.endswith(_LIKE_STATES)
    return len(plain) >= 3 and plain.lower() not in _STATES and not value.startswith("[") and not state


def is_told_password(value: str) -> bool:
    """Tell whether what follows "password:" is one: a form may say there that it is required, and no more."""
    plain = value.strip(_EDGES)
    return len(plain) >= 3 and plain.lower() not in _STATES and not value.startswith("[")


def is_odd_password(value: str) -> bool:
    """Tell whether a password has something that words have not."""
    return is_password(value) and (has_digit(value) or not value.strip(_EDGES).isalpha())


def is_mixed(value: str) -> bool:
    """Tell whether letters and digits are mixed in a token of six characters and more."""
    plain = value.strip(_EDGES)
    odd = changes(plain) >= 1 and "[" not in value and "pass" not in plain.lower() and "://" not in value
    return len(plain) >= 6 and odd and has_digit(plain) and any(map(str.isalpha, plain))


def is_well_mixed(value: str) -> bool:
    """Tell whether digits stand between letters, as in no name of a thing or place."""
    return is_mixed(value) and changes(value.strip(_EDGES)) >= 2


def is_phrase(value: str) -> bool:
    """Tell whether words make no sentence: no small word among them."""
    words = value.split()
    states = all(word in _STATES or (len(word) > 5 and word.endswith(_LIKE_STATES)) for word in words)
    return len(re.split(r"[ -]", value)) > 1 and not any(word in _FUNCTION for word in words) and not states


def is_spelled(value: str) -> bool:
    """Tell whether letters, digits and signs are read out one by one: with a word for one of them, or five of them."""
    return bool(_AS_IN.search(value)) or len(_SPELLED_ITEM.findall(value)) >= _MANY_SPELLED


def spoken_digits(value: str) -> int:
    """Count the digits that number words tell when they are read out one after the other: six in "forty-one double
    three, nineteen"."""
    count, times, tens = 0, 1, False
    for word in re.findall(r"[^\W\d_]+", value.lower()):
        if word in _REPEATS:
            times = _REPEATS[word]
            continue
        if word in TENS or word in TEENS:
            count += 2 * times
        elif word not in SCALES and not (tens and word in UNITS):
            count += times
        times, tens = 1, word in TENS
    return count


def is_id(value: str) -> bool:
    """Tell whether a value is long enough for an identifier, and no date."""
    date = re.match(r"(?:19|20)\d\d(?:$|\W)|\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d\W*$", value)
    return sum(map(str.isalnum, value)) >= 5 and has_digit(value) and not date


def is_ip(value: str) -> bool:
    """Tell whether a text is an address of the Internet."""
    try:
        return bool(ipaddress.ip_address(value))
    except ValueError:
        return False


def is_isbn(value: str) -> bool:
    """Tell whether a number of thirteen digits is that of a book; one of ten may as well be that of a telephone."""
    return sum(map(str.isdigit, value)) == 13 and isbn.is_valid(value)


@lru_cache(maxsize=4_096)
def is_phone(value: str) -> bool:
    """Tell whether a number can be rung: by its sign of a foreign country, or by the plan of one of fifteen."""
    digits = sum(map(str.isdigit, value))
    if not 7 <= digits <= 15:
        return False
    if value.startswith(("+", "00", "(0")):
        return True
    groups = re.findall(r"\d+", value)
    if len(groups) < 2 or len(groups) > 6 or digits < 9 or _is_thousands(value, groups):
        return False
    return len(groups) > 2 or any(_rings(value, region) for region in _REGIONS)


def _is_thousands(value: str, groups: list[str]) -> bool:
    return " " in value and all(len(group) == 3 for group in groups[1:]) and not value.startswith("0")


def _rings(value: str, region: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(value, region))
    except phonenumbers.NumberParseException:
        return False


def is_no_time_of_day(text: str, start: int, end: int) -> bool:
    """Return whether what stands there is more than a time of day of four digits: "at 0630" is one."""
    value = text[start:end]
    is_time = len(value) == _CLOCK_DIGITS and value.isdigit() and int(value[:2]) < _HOURS and int(value[2:]) < _MINUTES
    return not (is_time and text[:start].rstrip().lower().endswith(" at"))
