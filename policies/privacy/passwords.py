"""Passwords, PINs and one-time codes, as people speak of them, in the languages that people write most."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.language.lexicon import word_set
from policies.privacy.finding import Finding, Rule, changes, compiled, has_digit

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
_LIKE_STATES: Final = re.compile(r"[a-z-]{4,}(?:ed|ing|ly|able|ible|ful|less|ical)")
_FUNCTION: Final = word_set(
    """a an the this that my your his her our their is are was were be been to of in on at for from with and or but so
    too very not i you we he she it they has have had can could will would do does did if as by than when because"""
)
_SHORTEST_MIXED: Final = 6
_EDGES: Final = "\"'“”‘’`.,;:!?()[]{}<>"


def _is_password(value: str) -> bool:
    plain = value.strip(_EDGES).lower()
    return (
        len(plain) >= 3
        and plain not in _STATES
        and not value.startswith("[")
        and not (value.strip(_EDGES).islower() and _LIKE_STATES.fullmatch(plain))
    )


def _is_password_with_digit(value: str) -> bool:
    return has_digit(value) and _is_password(value)


def _is_odd_password(value: str) -> bool:
    return _is_password(value) and (has_digit(value) or not value.isalpha())


def _is_mixed(value: str) -> bool:
    plain = value.strip(_EDGES)
    return len(plain) >= _SHORTEST_MIXED and changes(plain) >= 1 and "[" not in value and "pass" not in plain.lower()


def _is_well_mixed(value: str) -> bool:
    """Digits between letters, as in no name of a thing or place."""
    plain = value.strip(_EDGES)
    return len(plain) >= _SHORTEST_MIXED and changes(plain) >= 2 and "[" not in value and "://" not in value


def _is_phrase(value: str) -> bool:
    """Words that make no sentence: no small word among them."""
    words = value.split()
    return not any(word in _FUNCTION for word in words) and not all(
        word in _STATES or _LIKE_STATES.fullmatch(word) for word in words
    )


def _not_all_digits(value: str) -> bool:
    return has_digit(value.rstrip(_EDGES)) and not value.isdigit() and not value.startswith("[")


_START: Final = r"(?<![^\W_])"
_TOKEN: Final = r"(?P<value>[^\s\"“”`<>]{2,128})"
_SHORT_TOKEN: Final = r"(?P<value>[^\s\"“”`<>]{3,64}?)"
_OPEN: Final = r"[\"'“‘`<(]{0,2}"
_LINK: Final = r"(?:\s+(?:for|of|on|to|at|in|used|von|für|de|del|do|da|du|di)\b[^\n.!?:=]{1,48}?|,[^,\n.!?]{1,32},)?"
_IS: Final = (
    r"[\"'’\]>]{0,2}(?:\s{0,3}(?:(?:is|was|are|equals|reads|remains|stays|will be|used to be|has been|"
    r"ist|war|lautet|es|est|è|é|är|er|on|to je|je|это|has (?:not|n't) changed|hasn['’]t changed)\b"
    r"(?:[\s:]{1,2}(?:now|still|always|currently|set to|just|actually|simply)\b){0,2}\s{0,2}:?|[:=-]{1,2}>|→|[=:]{1,2})"
    r"\s{0,3}|\s{1,3}-{1,2}\s{1,3})"
)
_PASSWORD: Final = (
    r"(?:p[a@]ss(?:w[o0]rd|code|phrase|wd|key)s?|pass\s(?:word|phrase|code)|pwd|kennwort|passwort|contrase(?:ñ|n)a|"
    r"mot de passe|senha|wachtwoord|has(?:ł|l)o|l(?:ö|o)senord|adgangskode|passord|salasana|heslo|jelszó|parola|"
    r"şifre\w{0,4}|пароль)"
)
_WEAK: Final = r"(?:pw|pass|wi-?fi(?:\s(?:key|code|network))?|clave|schlüssel|şifrem|(?:db|user|root|admin)_?pass)"
"""Words that also mean other things: what follows must have a digit."""
_EASTERN: Final = r"(?:密码|密碼|暗証番号|パスワード|비밀번호|пароль|סיסמה|كلمة (?:السر|المرور)|पासवर्ड)"
_LOGIN: Final = (
    r"(?:log(?:s|ged|ging)?[ -]?(?:in|on)|sign(?:s|ed|ing)? in|unlock(?:s|ed|ing)?|user ?name|user ?id|credentials?|"
    r"creds|passwords?)"
)
_WHICH: Final = (
    r"(?:one[- ]time|verification|security|confirmation|authentication|auth|2fa|mfa|access|door|gate|alarm|entry|"
    r"unlock|backup|recovery|safe|lock|garage|building|otp|sms|login|sign-?in|entrance|keypad|elevator|house|"
    r"locker|bike|gym|mail ?box|phone|iphone|ipad|card|sim|parking|office|front door|apartment|vault|suitcase)"
)
_CODE: Final = (
    rf"(?:{_WHICH}\s+(?:pass)?codes?|otp|(?:safe|lock|locker|padlock|bike lock)(?:'s)?\s+combination|"
    r"combination\s+(?:to|for|of)\s+(?:the|my|our|his|her)\s+\w{1,20}(?:\s\w{1,20})?)"
)
_CODE_OF: Final = (
    r"(?:(?<!zip )(?<!area )(?<!error )(?<!postal )(?<!country )(?<!status )(?<!dress )(?<!promo )(?<!source )"
    r"code\s+(?:to|for|of)\s+(?:the|my|our|his|her|their)(?:\s+[\w'-]{1,20}){1,3}?)"
)
_DIGIT_WORD: Final = r"(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)"
_POSSIBLY: Final = r"(?P<value>\d(?:[ -]?\d){3,7})(?![\w%])"

_RULES: Final = (
    Rule(
        "password",
        compiled(rf"{_START}{_PASSWORD}(?:'s|’s)?{_LINK}{_IS}{_OPEN}{_TOKEN}"),
        point=True,
        check=_is_password,
    ),
    Rule(
        "password",
        compiled(rf"{_START}{_WEAK}(?:'s|’s)?{_LINK}{_IS}{_OPEN}(?P<value>[^\s\"“”`<>]{{6,64}})"),
        point=True,
        check=_is_mixed,
    ),
    Rule(
        "password",
        compiled(rf"{_START}{_PASSWORD}(?:'s|’s)\s{{1,3}}{_OPEN}{_TOKEN}"),
        point=True,
        check=_is_password_with_digit,
    ),
    Rule(
        "password",
        compiled(
            r"\b(?:chang|set|reset|updat|switch|cambi|änder|geänder)\w{0,5}\b[^\n.!?]{0,40}?"
            rf"{_START}{_PASSWORD}{_LINK}\s+(?:back\s)?(?:to|a|zu|in|auf)\s+{_OPEN}{_TOKEN}"
        ),
        point=True,
        check=_is_password,
    ),
    Rule(
        "password",
        compiled(
            rf"\b(?:use|using|set|with|chose|choose|have|add)\s+[\"'“‘`]?{_SHORT_TOKEN}[\"'”’`]?\s+(?:as|for)\s+"
            rf"(?:my|the|our|your|a|his|her)\s+(?:\w{{1,20}}\s+){{0,3}}{_PASSWORD}\b"
        ),
        point=True,
        check=_is_password,
    ),
    Rule(
        "password",
        compiled(
            rf"{_OPEN}(?<![\w\[]){_SHORT_TOKEN}[\"'”’`]?,?\s+(?:(?:it|that|which|this)(?:'s|’s|\s)\s?)?(?:is|was|"
            rf"as)?\s?(?:(?:also|still|now)\s)?"
            rf"(?:my|the|our|his|her|their)\s+(?:\w{{1,20}}\s+){{0,3}}{_PASSWORD}\b"
        ),
        point=True,
        check=_is_well_mixed,
    ),
    Rule(
        "password",
        compiled(
            rf"{_OPEN}(?<![\w\[]){_SHORT_TOKEN}[\"'”’`]?\s+(?:is|was)\s+(?:my|the|our|his|her)\s+"
            rf"(?:\w{{1,20}}\s+){{0,3}}{_PASSWORD}\b"
        ),
        point=True,
        check=_is_odd_password,
    ),
    Rule(
        "password",
        compiled(rf"{_START}{_PASSWORD}\s{{1,3}}[\"'“‘`(]?(?P<value>[^\s\"'“”‘’`()]{{4,64}})"),
        point=True,
        check=_not_all_digits,
    ),
    # Further off, what has digits among its letters; what stands after "for" or "of" is what the password is of.
    Rule(
        "password",
        compiled(
            rf"{_START}(?:{_PASSWORD}|(?<!\d )pw)\b[^\n.!]{{1,60}}?(?<![\w@/.-])(?<!\bfor )(?<!\bof )(?<!\bon )"
            r"(?<!\bin )(?<!\bto )"
            r"(?<!\bat )(?<!\bmy )(?<!\bthe )(?P<value>(?=[^\s\d]{0,40}\d)(?=[^A-Za-z\s]{0,40}[A-Za-z])"
            r"[^\s\"“”`<>,;]{6,64})"
        ),
        point=True,
        check=_is_mixed,
    ),
    Rule(
        "password",
        compiled(
            rf"{_START}{_PASSWORD}\s+(?:starts?|begins?|ends?|contains?|includes?)\b[^\n.!?]{{1,24}}?"
            r"(?P<value>(?=[^\s\d]{0,40}\d)[^\s\"“”`<>]{3,64})"
        ),
        point=True,
        check=_is_password_with_digit,
    ),
    Rule(
        "password",
        re.compile(
            rf"(?i:{_START}{_PASSWORD}{_LINK}{_IS}){_OPEN}(?P<value>[a-z]{{2,16}}(?:[ -][a-z]{{2,16}}){{2,7}})"
            r"(?=[\"'”’`.,;!?)\n]|$)"
        ),
        point=True,
        check=_is_phrase,
    ),
    Rule(
        "password",
        compiled(rf"{_EASTERN}[\s:：是为為は은는=]{{0,4}}{_OPEN}(?P<value>[A-Za-z0-9!#$%&*@^_.-]{{4,64}})"),
        point=True,
    ),
    Rule("password", compiled(rf"{_START}has(?:ł|l)o\s+to\s+{_OPEN}{_TOKEN}"), point=True, check=_is_password),
    Rule("password", compiled(r"(?<!\w)(?:pass(?:word|code))\s(?P<value>\d{4,16})(?!\w)"), point=True),
    Rule(
        "login",
        compiled(
            rf"\b{_LOGIN}(?:\s+(?:is|are|for\s+[\w .'-]{{1,30}}?))?\s{{0,2}}[:=]\s{{0,2}}"
            r"\S{1,64}?\s{0,3}(?:/|,|;|\||\band\b|\n)\s{0,3}(?:pass(?:word|wd|code)?|pwd|pw)?\s{0,2}[:=]?\s{0,2}"
            r"(?P<value>[^\s\"<>]{3,64})"
        ),
        point=True,
        check=_is_password,
    ),
    Rule(
        "login",
        compiled(
            rf"\b{_LOGIN}\b[^\n.!?]{{1,60}}?(?<![\w@/.-])(?P<value>(?=[A-Za-z!#$%&*^_-]{{0,40}}\d)[A-Za-z0-9!#$%&*^_-]{{6,64}})(?![\w@.])"
        ),
        point=True,
        check=_is_well_mixed,
    ),
    Rule(
        "command_line",
        compiled(
            r"(?:\bcurl\b[^\n]{0,200}?\s(?:-u|--user)\s{1,3}[\"']?[^\s:]{1,64}:|\bsshpass\s{1,3}-p\s{0,3}|"
            r"\b(?:mysql|mysqldump|mariadb|psql|mongo|redis-cli|sqlcmd)\b[^\n]{0,120}?\s(?:-p|-a|--password[= ])\s?)"
            r"(?P<value>[^\s\"']{3,128})"
        ),
    ),
    Rule(
        "pin",
        compiled(
            rf"\b(?:PIN|PUK|passcode)(?:\s?(?:code|number|no\.?))?\b(?:'s|’s)?[^\n.!?\d]{{0,48}}?(?<![\w$€£]){_POSSIBLY}"
        ),
        point=True,
    ),
    Rule(
        "pin",
        compiled(
            rf"\b(?:PIN|passcode|{_WHICH} code|otp|password)\b[^\n.!?\d]{{0,32}}?\b"
            rf"(?P<value>{_DIGIT_WORD}(?:[ ,-]{{1,2}}{_DIGIT_WORD}){{3,9}})\b"
        ),
        point=True,
    ),
    Rule(
        "code",
        compiled(
            rf"\b{_CODE}(?:'s|’s)?{_LINK}(?:{_IS}|\s+){_OPEN}"
            r"(?P<value>(?=[A-Z]{0,8}[ -]?\d)[A-Z0-9][A-Z0-9 -]{2,14}[A-Z0-9])(?!\w)"
        ),
        point=True,
        check=has_digit,
    ),
    Rule("code", compiled(rf"\b{_CODE},\s(?P<value>\d{{1,4}}(?:[ -]?\d{{1,4}}){{1,5}})(?=[,.;!)]|$)"), point=True),
    Rule("code", compiled(rf"\b{_CODE_OF}{_IS}{_OPEN}(?P<value>\d{{4,8}})(?![\w%]|\s+[a-z]{{3,16}}s\b)"), point=True),
    Rule(
        "code",
        re.compile(
            r"(?i:\b(?:backup|recovery|2fa|mfa|scratch)\s+(?:codes?|keys?))\b[^\n.!?]{0,24}?"
            r"(?P<value>(?=[A-Z0-9]{0,8}[A-Z0-9])[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){1,7}(?:[\s,]{1,2}[A-Z0-9]{4,8}-[A-Z0-9-]{4,40}){0,15})"
        ),
        point=True,
    ),
    Rule(
        "code",
        compiled(
            r"(?<![\w-])(?P<value>(?:[A-Z]-)?\d{4,8})\s+is\s+(?:my|our|his|her|their|your|the)\s+(?:[\w-]{1,16}\s+){0,3}"
            r"(?:pin|code|otp|passcode)\b"
        ),
        point=True,
    ),
    Rule(
        "code",
        compiled(
            r"(?<!zip )(?<!area )(?<!error )(?<!postal )(?<!country )(?<!status )(?<!promo )(?<!discount )"
            r"\b(?:the|my|our|a|this|passcode)\s+(?:(?:\d-digit|login|"
            r"new)\s+)?code\s+(?:is\s+)?(?P<value>\d{4,8})(?![\w%])"
        ),
        point=True,
    ),
    Rule(
        "code",
        compiled(
            r"\b(?:(?:phone|laptop|tablet|ipad|iphone|screen|door|safe|computer)\s+(?:is\s+)?unlock(?:s|ed)?|"
            r"unlock\s+(?:my|the|our|his|her)\s+(?:phone|laptop|tablet|ipad|iphone|screen|door|safe|computer))\b"
            r"[^\n.!?\d]{0,24}?(?<![\w$€£])(?P<value>\d{4,8})(?![\w%])"
        ),
        point=True,
    ),
    Rule(
        "code",
        compiled(
            r"\b(?:my|our|the)\s+(?:\w{1,12}\s)?(?:lock|padlock|locker|safe|alarm|keypad|gate|garage|door|vault)\s+"
            r"(?:is|opens with|code)\s+"
            r"(?P<value>\d(?:[ -]?\d){3,7})(?=\s*(?:[.,;!?\n]|$))"
        ),
        point=True,
    ),
    Rule(
        "code",
        re.compile(r"(?i:\b(?:2fa|mfa|totp|otp|authenticator)\b)[^\n]{0,40}?\b(?P<value>[A-Z2-7]{16,64})\b"),
        point=True,
    ),
    Rule(
        "card_code",
        compiled(
            r"\b(?:CVV2?|CVC2?|CSC|security code|digits on the back)\b[^\n\w]{0,3}"
            r"(?:(?:is|are|was|number|code|of|my|the|card)\W{1,3}){0,4}(?P<value>\d{3,4})(?!\d)"
        ),
        point=True,
    ),
    Rule(
        "security_answer",
        compiled(
            r"\bsecurity\s+(?:questions?|answers?)\b[^\n.!?]{0,80}?(?:\?\s{0,2}|\bis\b|:|=)\s{0,3}"
            r"(?P<value>(?!\s|\b(?:a|an|the|not|too|what|about|how|who|where|when|why|same|asked|used|if|which|wrong|"
            r"so|required|needed|hard|easy)\b)[^\n.!?]{3,80})"
        ),
        point=True,
    ),
)

_HINT: Final = compiled(
    r"p[a@]ss|pwd|\bpw\b|kennwort|contrase|mot de|senha|wachtw|has[łl]o|senord|adgangsk|salasana|heslo|jelsz|parola|"
    r"şifre|wi-?fi|clave|schlüssel|\blog|\bsign|unlock|\buser ?|\bcred|\bpin\b|\bpuk\b|otp|code|2fa|mfa|authenticator|"
    r"combination|lock|safe|alarm|keypad|gate|garage|vault|\bdoor|\bcv[vc]|\bcsc\b|digits|security|recovery|backup|curl|mysql|mariadb|psql|"
    r"mongo|redis|"
    r"sqlcmd|密|暗証|パスワ|비밀|пароль|סיסמה|كلمة|पासवर्ड"
)
"""One of these is in every text in which a rule can find something; most texts have none."""


def find(text: str) -> Iterator[Finding]:
    """All passwords, PINs and codes in a text; spans may overlap. Linear in the length of the text."""
    if not _HINT.search(text):
        return
    for rule in _RULES:
        yield from rule.find(text)
