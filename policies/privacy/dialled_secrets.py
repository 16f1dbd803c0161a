"""The table of secrets that are told as a hand does them: turned on a lock, drawn on a screen, spelled by the letter;
and of what stands beside a login or a name of codes."""

from __future__ import annotations

from typing import Final

from policies.privacy import checks
from policies.privacy.rules import Rule, shape
from policies.privacy.secret_names import CODES, DIGIT_WORD, LOCKED, LOGINS, PASSWORDS, PINS

_WAY: Final = r"(?:left|right|(?:counter-?|anti-?)?clockwise|ccw|cw)"
_TURN: Final = (
    rf"(?:(?:(?:turn|spin|then|and|once|twice)\s){{0,3}}(?:{_WAY}\s(?:to\s)?(?:\d{{1,3}}|{DIGIT_WORD})|"
    rf"(?:\d{{1,3}}|{DIGIT_WORD})\s(?:to\sthe\s)?{_WAY}))"
)
_NODE: Final = (
    r"(?:(?:top|bottom|upper|lower|middle|mid|cent(?:re|er))(?:[ -](?:left|right|middle|cent(?:re|er)|row))?)"
)
_STROKE: Final = (
    rf"(?:(?:(?:start|starts|go|goes|then|and|to|at|the|from|end|ends|in)\s){{0,4}}(?:{_NODE}|up|down|left|right|"
    r"diagonal(?:ly)?)(?:\s(?:corner|dot))?)"
)
_PATTERNS: Final = (
    *(f"{which} pattern" for which in ("unlock", "unlocking", "lock", "swipe", "screen", "lockscreen", "android",
                                       "phone", "tablet", "pin")),
    *(f"pattern {where}" for where in ("lock", "to unlock", "on my phone", "of my phone", "for my phone",
                                       "on my tablet", "of my tablet", "for the screen")),
)  # fmt: skip
_SIGN: Final = (
    r"(?:dash|hyphen|minus|underscore|dot|point|hash|star|asterisk|dollar|ampersand|slash|plus|space|"
    r"at(?: sign)?|(?:exclamation|question)(?: mark)?)"
)
_ITEM: Final = (
    rf"(?:(?:then|and|capital|cap|small|big|upper ?case|lower ?case|letter|number)\s){{0,2}}"
    rf"(?:[a-z0-9]\b(?:\s(?:as in|for|like|as)\s[\w-]{{2,16}})?|{DIGIT_WORD}\b|niner\b|{_SIGN}\b)"
)
_SPELLED: Final = rf"{_ITEM}(?:(?:,\s?|\s)(?:{_ITEM})){{2,40}}"
_RECOVERIES: Final = tuple(
    f"{which} {what}" for which in ("2fa", "mfa", "two-factor", "authenticator", "account", "login")
    for what in ("recovery", "backup", "backups", "rescue", "emergency")
)  # fmt: skip
_WORD_OF_ACCESS: Final = r"(?:secret|code|magic|memorable|security|safe|challenge|access)\s(?:word|phrase|name)"

RULES: Final = (
    Rule("code", shape(rf"\b(?P<value>{_TURN}(?:[,;]?\s(?:{_TURN})){{2,7}})\b"),
        ("my locker combination, left 14 right 32 left 7", "The safe turns 20 right, 5 left, then 33 right"),
        "The combination of colours is teal on the left 14 times.", reach=60, point=True,
        labels=("combination", "combo", "dial", *LOCKED)),
    Rule("code", shape(r"\b(?P<value>[1-9](?:\s?(?:[->→,]|to)?\s?[1-9]){3,8})\b(?!\s(?:rows?|times|stitches|points))"),
        ("Unlock pattern on my phone is an L from the top left: 1-4-7-8-9", "my swipe pattern: 1 2 3 6 9"),
        "The unlock pattern of levels is 1-2-3.", reach=64, point=True, labels=_PATTERNS),
    Rule("code", shape(rf"\b(?P<value>{_STROKE}(?:,?\s(?:{_STROKE})){{2,8}})\b"),
        ("unlock pattern: start top left, down, right, up", "My lock pattern goes down, right, up and left"),
        "The screen pattern on the left is nice.", reach=40, point=True, labels=_PATTERNS),
    Rule("password", shape(rf"\b(?P<value>{_SPELLED})"),
        ("My voicemail password spelled out is B as in bravo, 9, X as in x-ray, 4",
         "wifi key in letters: K as in kilo, 7, R as in romeo, 2"),
        "My password is spelled with a T as in Tom.", reach=60, point=True, check=checks.is_spelled,
        labels=(*PASSWORDS, *PINS, *CODES, "wifi key", "wi-fi key", "network key", "security word", "code word")),
    Rule("login", shape(
        rf"[^\n.!?]{{0,60}}?(?:\b(?:with|and|using|by|plus|is)\s|,\s?)(?:\w{{1,12}}\s){{0,3}}?{_WORD_OF_ACCESS}"
        r"(?!\s?(?:puzzles?|games?|page|list|search|challenge|of the)\b)(?:\s(?:is|was|of)|\s?[:=])?\s[\"'“‘]?"
        r"(?P<value>[\w-]{3,40})"),
        ("I log in to the bank with user 88214 and secret word marmalade",
         "I sign in as maya with the code word thunder"),
        "I logged in and they asked for a secret word again.", labels=(*LOGINS, "sign in as", "online banking"),
        gap=shape(""), check=checks.is_password, point=True),
    Rule("code", shape(
        r"(?P<value>(?=[a-z-]{0,11}\d)[a-z0-9]{3,12}(?:-[a-z0-9]{3,12}){0,5}(?:(?:,|;|\s)\s?(?:(?:and|or)\s)?"
        r"(?=[a-z-]{0,11}\d)[a-z0-9]{3,12}(?:-[a-z0-9]{3,12}){0,5}){0,15})(?![\w-])"),
        ("My 2FA recovery is 8f3k-92jd, 7dk2-0s8m and 1l4p-ww93", "two-factor backups are a1b2c3d4 e5f6g7h8"),
        "My account recovery is 100percent done.", labels=_RECOVERIES, point=True,
        gap=shape(r"(?:\s(?:is|are|reads|being))?\s?[:=]?\s{1,2}"), check=checks.is_well_mixed),
    Rule("password", shape(r"(?P<value>[^\s\"“”`<>]{6,64})(?=\s*(?:\n|\Z))"),
        ("Here comes my wifi password.\nPelican_55_dusk", "my new passphrase\nVq7zebra4"),
        "I forgot my password.\nCan you help me?", labels=PASSWORDS, gap=shape(r"\s?[.:!]?[ \t]*\n\s{0,4}"),
        check=checks.is_mixed, point=True),
)  # fmt: skip
