"""Keys and tokens of machines, and the numbers of cards and accounts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from policies.privacy.finding import Finding, Rule, changes, compiled, has_digit


def luhn(number: str) -> bool:
    """Whether the digits of a number pass the checksum of payment cards (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(d for d in reversed(number) if d.isdigit()):
        doubled = int(digit) * (1 + place % 2)
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def iban(text: str) -> bool:
    """Whether a text is an international bank account number (ISO 13616: mod 97 is 1)."""
    compact = re.sub(r"[\s.-]", "", text).upper()
    if not 15 <= len(compact) <= 34 or not compact.isascii() or not compact.isalnum():
        return False
    return int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1


def entropy(token: str) -> float:
    """Shannon entropy in bits a character."""
    return -sum(n / len(token) * math.log2(n / len(token)) for n in Counter(token).values())


def find(text: str) -> Iterator[Finding]:
    """All keys, tokens, card and account numbers in a text; spans may overlap. Linear in the length of the text."""
    for rule in _RULES:
        yield from rule.find(text)


_ISSUERS: Final = re.compile(r"4|5[0-8]|2[2-7]|3[0-9]|6[0-9]|8[12]|9792")
"""How the numbers of payment cards begin (Visa, Mastercard, Mir, American Express, Diners, JCB, Discover, UnionPay,
Maestro, RuPay, Troy)."""


def _is_card(value: str) -> bool:
    digits = [c for c in value if c.isdigit()]
    return 13 <= len(digits) <= 19 and len(set(digits)) > 1 and luhn(value)


def _is_issued_card(value: str) -> bool:
    """Whether digits however parted are a card's: years and prices in a row hardly are."""
    digits = "".join(c for c in value if c.isdigit())
    return 14 <= len(digits) <= 16 and _is_card(digits) and _ISSUERS.match(digits) is not None


def _is_card_in_context(value: str) -> bool:
    return 12 <= sum(c.isdigit() for c in value) <= 19


def _is_random(value: str) -> bool:
    """Long, mixed and uneven enough to be a key (3.5 bits a character parts hex digests from words)."""
    return (
        any(c.isdigit() for c in value)
        and any(c.isalpha() for c in value)
        and entropy(value) >= (3.0 if re.fullmatch(r"[0-9a-fA-F-]+", value) else 3.5)
    )


def _is_key(value: str) -> bool:
    """Whether a token without any context is a key: digits, capitals and small letters take turns in it."""
    small, capital = any(c.islower() for c in value), any(c.isupper() for c in value)
    return small and capital and changes(value) >= _TURNS and entropy(value) >= _KEY_ENTROPY


_TURNS: Final = 4
_KEY_ENTROPY: Final = 3.5
_END: Final = r"(?![A-Za-z0-9])"
_VENDORS: Final = (
    r"sk-[A-Za-z0-9_-]{16,200}",
    r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,200}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{20,255}",
    r"github_pat_[A-Za-z0-9_]{20,255}",
    r"gl[a-z]{2,6}-[A-Za-z0-9_-]{16,64}",
    r"xox[a-z]-[A-Za-z0-9-]{8,255}",
    r"xapp-[A-Za-z0-9-]{16,255}",
    r"AIza[A-Za-z0-9_-]{30,45}",
    r"ya29\.[A-Za-z0-9_-]{20,255}",
    r"GOCSPX-[A-Za-z0-9_-]{16,64}",
    r"hf_[A-Za-z0-9]{20,64}",
    r"npm_[A-Za-z0-9]{30,64}",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}",
    r"pypi-[A-Za-z0-9_-]{16,255}",
    r"do[op]_v1_[a-f0-9]{32,64}",
    r"eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{4,4000}(?:\.[A-Za-z0-9_-]{0,1000})?",
    r"key-[0-9a-f]{32}" + _END,
    r"[0-9a-f]{32}-us\d{1,2}" + _END,
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"dapi[0-9a-f]{32}",
    r"dp\.(?:pt|st|sa|ct|scim|audit)\.[A-Za-z0-9_.-]{16,80}",
    r"hv[sbr]\.[A-Za-z0-9_-]{16,255}",
    r"(?:AC|SK)[0-9a-f]{32}" + _END,
    r"\d{8,10}:AA[A-Za-z0-9_-]{30,40}",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
    r"(?:EAA|IGQ)[A-Za-z0-9]{30,255}",
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    r"NRAK-[A-Z0-9]{27}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,80}",
    # The commonest shape of all: a short name, "_" or "-", and twenty letters and digits or more.
    r"(?:whsec|gsk|lin_(?:api|oauth)|ntn|secret|figd|figo|r8|glsa|glc|sntrys|sntryu|sq0(?:atp|csp|idp)|pplx|xai|tvly|"
    r"nvapi|rnd|sbp|pk|rk|tfp|fw|csk|esecret|live|prod|nfp|vercel|pscale_(?:tkn|pw|oauth)|ATATT3|ATCTT3|ops|"
    r"CFPAT|api)[_-][A-Za-z0-9_=-]{20,255}",
    r"[KL5][1-9A-HJ-NP-Za-km-z]{50,51}" + _END,
    r"xprv[1-9A-HJ-NP-Za-km-z]{100,112}",
)

_RULES: Final = (
    Rule(
        "private_key",
        re.compile(
            r"(?P<value>-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[A-Za-z0-9+/=\s:,]{0,8000}(?:-----END [A-Z ]{0,40}KEY(?: BLOCK)?-----)?)?)"
        ),
        point=True,
    ),
    Rule("private_key", re.compile(r"\bPrivate-(?:Lines|MAC): ?(?P<value>[A-Za-z0-9+/=\s]{1,8000})"), point=True),
    Rule("api_key", re.compile(rf"(?<![A-Za-z0-9])(?P<value>{'|'.join(_VENDORS)})")),
    Rule("bearer_token", compiled(r"\bbearer\s{1,3}(?P<value>[A-Za-z0-9._~+/=-]{16,2000})"), check=has_digit),
    Rule(
        "basic_auth", compiled(r"\bauthorization[\"']?:\s{0,3}[\"']?basic\s{1,3}(?P<value>[A-Za-z0-9+/]{6,500}={0,2})")
    ),
    Rule(
        "connection_string",
        compiled(r"\b[a-z][a-z0-9+]{1,20}://[^\s/:@]{0,64}:(?P<value>[^\s/@]{1,128})@"),
        check=lambda value: not value.startswith("["),
    ),
    Rule(
        "secret_in_link",
        compiled(
            r"[?&;](?:access_?|refresh_?|id_?|auth_?|api_?|client_?|x-amz-)?(?:token|key|secret|sig|signature|password|pwd|"
            r"passwd|auth|otp|security-token)=(?P<value>[^\s&#\"'<>\[\]]{4,2000})"
        ),
    ),
    Rule(
        "secret_in_link",
        compiled(
            r"\b(?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks|"
            r"[\w.-]{1,80}\.webhook\.office\.com/webhookb2|hooks\.zapier\.com/hooks/catch)/(?P<value>[\w/@-]{16,300})"
        ),
    ),
    Rule(
        "secret_in_context",
        compiled(
            r"(?:key|token|secret|credentials?|password|passphrase|api|auth)(?![A-Za-z])[^\n]{0,40}?"
            r"(?<![A-Za-z0-9_/+-])(?P<value>[A-Za-z0-9_/+=-]{20,256})(?![A-Za-z0-9_/+-])"
        ),
        check=_is_random,
    ),
    Rule(
        "private_key",
        compiled(r"\b(?:private|secret|wallet)\s+key\b[^\n]{0,30}?(?P<value>(?:0x)?[0-9a-f]{32,128})\b"),
        point=True,
    ),
    Rule(
        "card",
        re.compile(
            r"(?<!\d)(?<!\d[.-])(?P<value>\d{13,19}|\d{4}(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}|"
            r"\d{4}[ -]\d{6}[ -]\d{4,5})(?![\w-])"
        ),
        "[card]",
        check=_is_card,
    ),
    Rule(
        "card",
        re.compile(r"(?<![\d.,])(?<!\d[ -])(?P<value>[2-9](?:[ \t\n._/*-]{0,3}\d){13,15})(?!\d|[.,-]\d)"),
        "[card]",
        check=_is_issued_card,
    ),
    Rule(
        "card",
        compiled(r"\b(?:cards?|cc|visa|mastercard|amex|maestro)\b[^\n\d]{0,24}(?P<value>\d(?:[ ._-]?\d){11,18})(?!\d)"),
        "[card]",
        check=_is_card_in_context,
    ),
    Rule(
        "card",
        compiled(
            r"\b(?P<value>(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
            r"(?:[ ,-]{1,2}(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)){11,18})\b"
        ),
        "[card]",
    ),
    Rule(
        "iban",
        re.compile(
            r"(?<![A-Za-z0-9])(?P<value>[A-Z]{2}\d{2}(?:[ .-]?[A-Z0-9]{4}){2,7}(?:[ .-]?[A-Z0-9]{1,3})?|"
            r"[A-Za-z]{2}\d{2}[A-Za-z0-9]{11,30}|[a-z]{2}\d{2}(?: [a-z0-9]{4}){2,7}(?: [a-z0-9]{1,3})?)(?![A-Za-z0-9])"
        ),
        "[iban]",
        check=iban,
    ),
    Rule(
        "iban",
        compiled(
            r"\bIBAN\b[^\n\w]{0,3}(?:(?:is|number|no|my)\W{1,3}){0,3}"
            r"(?P<value>[A-Z]{2}\d{2}(?-i:(?: ?[A-Z0-9]){8,30})|[A-Z]{2}\d{2}[A-Z0-9]{8,30})(?!\w)"
        ),
        "[iban]",
        check=has_digit,
    ),
    Rule(
        "account_number",
        compiled(
            r"\b(?:(?:bank\s+|checking\s+|savings?\s+)?(?:account|acct|a/c)|routing|aba|sort\s+code|bsb|swift|ifsc|clabe|"
            r"konto(?:nummer)?|cuenta|compte|conto|rekening(?:nummer)?)\b(?:\s*(?:number|no\.?|num|#|code))?"
            r"(?:\s+(?:for|at|with)\s+[\w' ]{1,30}?)?,?\s{0,2}(?:number\s)?"
            r"(?:is|was|=|:|#|ending in|ist|es|est)?\s{0,3}"
            r"(?P<value>\d(?:[ -]?\d){5,19})(?![\d,.]*\d|\s*(?:dollars|euros|pounds|usd|eur))"
        ),
        "[account]",
    ),
    Rule(
        "account_number",
        compiled(r"\b(?:upi|gpay|google pay|phonepe|paytm|vpa)\b[^\n.!?@]{0,24}?(?P<value>[\w.-]{2,64}@[a-z]{2,20})\b"),
        "[account]",
    ),
    # Last, so that what one of the rules above knows by name is called by it.
    Rule(
        "secret",
        re.compile(r"(?<![A-Za-z0-9_/.=+-])(?P<value>[A-Za-z0-9_+=-]{24,256})(?![A-Za-z0-9_/.+-])"),
        check=_is_key,
    ),
)
