"""Secrets in a text: keys, passwords, codes, seed phrases, and the numbers of cards and accounts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from policies.lexicon import word_set


@dataclass(frozen=True, slots=True)
class Finding:
    """A span of a text that must not be kept. `point` says that its sentence is about nothing else."""

    rule: str
    start: int
    end: int
    placeholder: str
    point: bool = False


Check = Callable[[str], bool]


def luhn(number: str) -> bool:
    """Whether the digits of a number pass the checksum of payment cards (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(d for d in reversed(number) if d.isdigit()):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def iban(text: str) -> bool:
    """Whether a text is an international bank account number (ISO 13616: mod 97 is 1)."""
    compact = re.sub(r"\s", "", text).upper()
    if not 15 <= len(compact) <= 34 or not compact.isascii() or not compact.isalnum():
        return False
    return int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1


def entropy(token: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())


def find(text: str) -> Iterator[Finding]:
    """All secrets in a text; spans may overlap. Linear in the length of the text."""
    for rule, pattern, placeholder, point, check in _RULES:
        for match in pattern.finditer(text):
            if check is None or check(match["value"]):
                yield Finding(rule, *match.span("value"), placeholder, point)


def _is_card(value: str) -> bool:
    digits = [c for c in value if c.isdigit()]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn(value)


def _is_card_in_context(value: str) -> bool:
    return 12 <= sum(c.isdigit() for c in value) <= 19


def _is_random(value: str) -> bool:
    """Long, mixed and uneven enough to be a key (3.5 bits a character parts hex digests from words)."""
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and entropy(value) >= (3.0 if re.fullmatch(r"[0-9a-fA-F]+", value) else 3.5)
    )


_STATES: Final = word_set(
    """a about again already also always an and any anything are as asked at bad be because been being best
    better between blank broken but case changed compromised correct created different difficult easy empty
    encrypted enough everything expired expiring for forgotten from given going gone good hacked hard hashed
    her here hidden his how if important in incorrect insecure invalid it its just kept known leaked like
    locked long lost manager managers mandatory missing my needed never new no not nothing now of old on
    only optional or our out outdated over policy posted private protected protection public quite really
    recorded rejected required required. reset right safe same saved secret secure sensitive sent set shared
    short shown simple so something somewhere still stolen stored strong supposed that the their there they
    this to too unchanged under unique unknown unsafe up up-to-date updated used using valid very visible
    was weak what when where which why with working written wrong yet you your"""
)


def _is_password(value: str) -> bool:
    plain = value.strip("\"'“”‘’`.,;:!?()[]").lower()
    return len(plain) >= 3 and plain not in _STATES and not value.startswith("[")


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _is_seed(value: str) -> bool:
    return len(value.split()) >= 4


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_IS: Final = r"(?:\s{0,3}(?:is now|is set to|is|was|are|=|:|to|will be|reads)\s{0,3}|\s{1,3}-\s{1,3})"
_LINK: Final = r"(?:\s+(?:for|of|on|to|at|in|used)\b[^\n.!?:=]{1,48}?)?"
_QUOTE: Final = r"[\"'“‘`<]?"
_TOKEN: Final = r"(?P<value>[^\s\"“”`<>]{2,128})"
_PASSWORD: Final = (
    r"(?:pass(?:word|code|phrase|wd|key)s?|pwd|pass\s(?:word|phrase)|kennwort|passwort|contraseña|mot de passe)"
)
_CODE: Final = (
    r"(?:(?:one[- ]time|verification|security|confirmation|authentication|auth|2fa|mfa|access|door|"
    r"gate|alarm|entry|"
    r"unlock|backup|recovery|safe|lock|garage|building|otp|sms|login)\s+(?:pass)?code|otp|"
    r"(?:safe|lock|locker|padlock|bike lock)(?:'s)?\s+combination|combination\s+(?:to|for|"
    r"of)\s+(?:the|my|our|his|her)\s+\w{1,20})"
)

_RULES: Final[tuple[tuple[str, re.Pattern[str], str, bool, Check | None], ...]] = (
    (
        "private_key",
        re.compile(
            r"(?P<value>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
            r"(?:[A-Za-z0-9+/=\s:,]{0,8000}(?:-----END [A-Z ]{0,40}KEY-----)?)?)"
        ),
        "[secret]",
        True,
        None,
    ),
    (
        "api_key",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<value>sk-[A-Za-z0-9_-]{16,200}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,200}|"
            r"(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|"
            r"glpat-[A-Za-z0-9_-]{16,64}|xox[a-z]-[A-Za-z0-9-]{8,255}|AIza[A-Za-z0-9_-]{30,45}|"
            r"ya29\.[A-Za-z0-9_-]{20,255}|"
            r"hf_[A-Za-z0-9]{20,64}|npm_[A-Za-z0-9]{30,64}|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}|"
            r"pypi-[A-Za-z0-9_-]{16,255}|dop_v1_[a-f0-9]{32,64}|"
            r"eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{4,4000}(?:\.[A-Za-z0-9_-]{0,1000})?)"
        ),
        "[secret]",
        False,
        None,
    ),
    ("bearer_token", _compile(r"\bbearer\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,2000})"), "[secret]", False, _has_digit),
    (
        "connection_string",
        _compile(r"\b[a-z][a-z0-9+]{1,20}://[^\s/:@]{0,64}:(?P<value>[^\s/@]{1,128})@"),
        "[secret]",
        False,
        lambda value: not value.startswith("["),
    ),
    (
        "secret_in_context",
        _compile(
            r"\b(?:key|token|secret|credentials?|password|passphrase|api|auth)\b[^\n]{0,40}?"
            r"(?<![A-Za-z0-9_/+-])(?P<value>[A-Za-z0-9_/+=-]{20,256})(?![A-Za-z0-9_/+-])"
        ),
        "[secret]",
        False,
        _is_random,
    ),
    (
        "password",
        _compile(rf"\b{_PASSWORD}(?:'s|’s)?{_LINK}{_IS}{_QUOTE}{_TOKEN}"),
        "[secret]",
        True,
        _is_password,
    ),
    (
        "password",
        _compile(rf"\b{_PASSWORD}(?:'s|’s)\s{{1,3}}{_QUOTE}{_TOKEN}"),
        "[secret]",
        True,
        lambda value: _is_password(value) and _has_digit(value),
    ),
    (
        "password",
        _compile(
            rf"\b(?:use|using|set|with|chose|choose|have|"
            rf"add)\s+[\"'“‘`]?{_TOKEN.replace('{2,128}', '{3,64}?')}[\"'”’`]?\s+(?:as|for)\s+(?:my|the|our|"
            rf"your|a|his|her)\s+(?:\w{{1,20}}\s+){{0,3}}{_PASSWORD}\b"
        ),
        "[secret]",
        True,
        _is_password,
    ),
    (
        "password",
        _compile(
            rf"{_QUOTE}(?<![\w\[]){_TOKEN.replace('{2,128}', '{3,64}?')}[\"'”’`]?\s+(?:is|was)\s+(?:my|the|our|"
            rf"his|her)\s+(?:\w{{1,20}}\s+){{0,3}}{_PASSWORD}\b"
        ),
        "[secret]",
        True,
        lambda value: _is_password(value) and (_has_digit(value) or not value.isalpha()),
    ),
    (
        "password",
        _compile(rf"\b{_PASSWORD}\s{{1,3}}[\"'“‘`(]?(?P<value>[^\s\"'“”‘’`()]{{4,64}})"),
        "[secret]",
        True,
        lambda value: _has_digit(value.rstrip(".,;!?")) and not value.isdigit() and not value.startswith("["),
    ),
    (
        "login",
        _compile(
            r"\b(?:log-?in|logon|user(?:name|id)?|credentials?|creds)\b(?:\s+(?:is|are|"
            r"for\s+[\w .'-]{1,30}?))?\s{0,2}[:=]\s{0,2}"
            r"\S{1,64}?\s{0,3}(?:/|,|;|\||\band\b|\n)\s{0,3}(?:pass(?:word|wd|code)?|pwd|pw)?\s{0,2}[:=]?\s{0,2}"
            r"(?P<value>[^\s\"<>]{3,64})"
        ),
        "[secret]",
        True,
        _is_password,
    ),
    (
        "pin",
        _compile(
            r"\bPIN(?:\s+(?:code|number|no\.?))?\b(?:'s|’s)?[^\n.!?\d]{0,40}?"
            r"(?<![\w$€£])(?P<value>\d(?:[ -]?\d){3,7})(?![\w%])"
        ),
        "[secret]",
        True,
        None,
    ),
    (
        "code",
        _compile(
            rf"\b{_CODE}(?:'s|’s)?{_LINK}(?:{_IS}|\s+){_QUOTE}"
            r"(?P<value>(?=[A-Z]{0,8}[ -]?\d)[A-Z0-9][A-Z0-9 -]{2,14}[A-Z0-9])(?!\w)"
        ),
        "[secret]",
        True,
        _has_digit,
    ),
    (
        "code",
        _compile(
            r"(?<![\w-])(?P<value>\d{4,8})\s+is\s+(?:my|your|the)\s+(?:\w{1,16}\s+){0,3}(?:pin|code|otp|passcode)\b"
        ),
        "[secret]",
        True,
        None,
    ),
    (
        "card_code",
        _compile(
            r"\b(?:CVV2?|CVC2?|CSC|security code)\b[^\n\w]{0,3}"
            r"(?:(?:is|was|number|code|of|my|the|card)\W{1,3}){0,3}(?P<value>\d{3,4})(?!\d)"
        ),
        "[secret]",
        True,
        None,
    ),
    (
        "seed_phrase",
        _compile(
            r"\b(?:seed|recovery|mnemonic|backup|wallet|secret)\s+(?:phrase|"
            r"words?)\b[^\n.!?:=]{0,40}?(?:\bis\b|\bare\b|:|=)\s{0,3}"
            r"[\"'“]?(?P<value>[a-z]{2,12}(?:[ ,]{1,2}[a-z]{2,12}){3,23})"
        ),
        "[secret]",
        True,
        _is_seed,
    ),
    (
        "private_key",
        _compile(r"\b(?:private|secret)\s+key\b[^\n]{0,30}?(?P<value>(?:0x)?[0-9a-f]{32,128})\b"),
        "[secret]",
        True,
        None,
    ),
    (
        "card",
        re.compile(
            r"(?<![\w.-])(?P<value>\d{13,19}|\d{4}(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}|"
            r"\d{4}[ -]\d{6}[ -]\d{4,5})(?![\w-])"
        ),
        "[card]",
        False,
        _is_card,
    ),
    (
        "card",
        _compile(r"\b(?:cards?|cc|visa|mastercard|amex|maestro)\b[^\n\d]{0,24}(?P<value>\d(?:[ -]?\d){11,18})(?!\d)"),
        "[card]",
        False,
        _is_card_in_context,
    ),
    (
        "iban",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<value>[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?|"
            r"[A-Za-z]{2}\d{2}[A-Za-z0-9]{11,30})(?![A-Za-z0-9])"
        ),
        "[iban]",
        False,
        iban,
    ),
    (
        "iban",
        _compile(
            r"\bIBAN\b[^\n\w]{0,3}(?:(?:is|number|no|my)\W{1,3}){0,3}"
            r"(?P<value>[A-Z]{2}\d{2}(?-i:(?: ?[A-Z0-9]){8,30})|[A-Z]{2}\d{2}[A-Z0-9]{8,30})(?!\w)"
        ),
        "[iban]",
        False,
        _has_digit,
    ),
    (
        "account_number",
        _compile(
            r"\b(?:(?:bank\s+)?(?:account|acct|a/c)|routing|aba|sort\s+code|bsb|swift)\b(?:\s*(?:number|no\.?|"
            r"num|#|code))?"
            r"(?:\s+(?:for|at|with)\s+[\w' ]{1,30}?)?\s{0,2}(?:is|was|=|:|#|ending in)?\s{0,3}"
            r"(?P<value>\d(?:[ -]?\d){5,19})(?![\d,.]*\d|\s*(?:dollars|euros|pounds|usd|eur))"
        ),
        "[account]",
        False,
        None,
    ),
)
