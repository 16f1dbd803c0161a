"""The forms in which people type dates in English, each with its name and examples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SHORT_DAY = (
    r"(?:tues?|weds?|thurs?|thu|fri|(?<=on )sat|(?<=this )sat|(?<=next )sat|(?<=on )sun|(?<=this )sun|(?<=on )mon|"
    r"(?:mon|sat|sun)(?= (?:the )?\d\d?(?:st|nd|rd|th)\b))"
)
_N = (
    r"(?:about |around |like |just |exactly |almost |over |roughly )?(?:a |the )?(?P<n>\d{1,3}|an?|one|two|three|four|"
    r"five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|hundred|couple|few|several)"
    r"(?: of)?"
)
_HALF = r"(?P<half> and a half)?"
_PART = r"(?: (?P<part>morning|afternoon|evening|night|arvo))?"
_DOM = r"(?:3[01]|[12]\d|0?[1-9])"
_TH = r"(?:st|nd|rd|th)"
SPELLED: Final = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
    "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh",
    "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
"""The days of a month in words, from the first on."""
_IN_WORDS: Final = "|".join(word.replace("-", "[- ]") for word in reversed(SPELLED))
_FROM_FOURTH: Final = "|".join(word.replace("-", "[- ]") for word in reversed(SPELLED[3:]))
_Y = r"(?P<y>(?:19|20)\d\d)"
_THAT_YEAR = r"(?:of )?(?P<that>this|next|last) year\b"
_TO = rf"(?: ?(?:-|–|to|until|till|and|&) ?(?:the )?(?P<d2>{_DOM}){_TH}?)?"
_UNITS = r"(?P<unit>days?|weeks?|fortnights?|months?|years?)"
_ANY_UNIT = r"(?P<unit>minutes?|mins?|hours?|hrs?|days?|weeks?|fortnights?|months?|years?|decades?)"
_SEASON = r"spring|summer|autumn|fall|winter"

HOLIDAY: Final = (
    r"(?:valentine['’]?s day|st\.? patrick['’]?s day|st\.? george['’]?s day|may day|juneteenth|canada day|bastille day|"
    r"bonfire night|guy fawkes night|remembrance day|veterans day|anzac day|australia day|burns night|hogmanay|"
    r"christmas eve|christmas day|boxing day|new year['’]?s eve|new year['’]?s day|halloween|"
    r"good friday|easter sunday|easter monday|epiphany|thanksgiving(?: day)?|black friday|pentecost|"
    r"whit monday|ash wednesday|palm sunday|"
    r"(?:(?<=after )|(?<=before )|(?<=until )|(?<=till )|(?<=since )|(?<=by ))new year(?!['’ ]))"
)
OFFSET: Final = re.compile(
    rf"(?<!\w)(?:{_N} (?P<unit>days?|weeks?)|the (?P<unit_>day|weekend)|"
    rf"(?:the )?(?:(?P<nth>first|second|third|next|last) )?(?P<wd>{DAY})) (?P<side>before|after) (?:the )?\Z",
    re.IGNORECASE,
)
"""Words right before a date that mean another one, so far from it: "the day after " Christmas, "the first Monday after
" 1 May."""
LONGEST_OFFSET: Final = 40
"""Characters of the longest of them."""

HINT: Final = re.compile(
    r"\d|yesterday|today|tonight|tomorrow|morning|afternoon|evening|night|week|month|year|days?\b|spring|summer|autumn|"
    r"fall|winter|fortnight|ago\b|valentine|christmas|easter|good friday|boxing|new year|hogmanay|juneteenth|"
    rf"halloween|epiphany|pentecost|thanksgiving|\bon the [a-z-]+th\b|\b(?:{MONTH}|{DAY}|{_SHORT_DAY})\b",
    re.IGNORECASE,
)
"""A hint that every text with a date has: "3", "next week"."""


@dataclass(frozen=True)
class Form:
    """A form of date: its name, its pattern and texts in which it stands."""

    name: str
    pattern: re.Pattern[str]
    examples: tuple[str, ...]


def _form(name: str, pattern: str, *examples: str) -> Form:
    return Form(name, re.compile(r"(?<!\w)" + pattern, re.IGNORECASE), examples)


FORMS: Final = (
    _form("iso", rf"{_Y}-(?P<mn>\d\d)-(?P<d>\d\d)\b", "2027-01-14"),
    _form(
        "digits",
        r"(?<![./])(?P<a>\d{1,2})(?P<sep>[./])(?P<b>\d{1,2})"
        r"(?:(?P=sep)(?P<y>(?:20)?\d\d)\b(?![./]\d)|(?:(?<=\.\d)|(?<=\.\d\d))\.(?!\d)|(?=[\s,;!?)]|\.(?!\d)|$))"
        r"(?! ?(?:am|pm|km|kg|%|eur|x|cm|of|tbsp|cup))",
        "14/7",
        "4.1.",
        "31/12/2026",
    ),
    _form(
        "nth_of_month",
        r"(?:the )?(?P<nth>first|second|third|fourth|last) "
        rf"(?P<unit>weekend|week|{DAY}) (?:in|of) (?:(?P<m>{MONTH})\b(?! \d)|(?P<which>this|next|last) month\b)",
        "the last weekend in October",
        "the last Friday of this month",
        "the first Monday of June",
        "the last week of July",
    ),
    _form(
        "day_month",
        rf"(?:the )?(?P<d>{_DOM}|{_IN_WORDS})(?:{_TH}|\.)?{_TO}(?: of)? (?P<m>{MONTH})\b"
        rf"(?:\.?,? (?:{_Y}|{_THAT_YEAR}))?(?!\d)",
        "the 20th of Feb",
        "12 May next year",
        "7th to 11th November",
        "first of May",
        "24. september",
        "the twenty-third of August",
    ),
    _form(
        "day_of_month",
        rf"(?:the (?P<d>{_DOM}{_TH}?|(?:{_IN_WORDS})(?= of))|(?P<d_>{_DOM}{_TH}|{_DOM}(?= ?(?:-|–|to|until|and|&))))"
        rf"{_TO} (?:of )?(?P<which>this|next|last|the same|the) month\b(?!['’]s)",
        "the 19th of next month",
        "14 to 16 this month",
        "the twenty-third of this month",
    ),
    _form(
        "month_day",
        rf"(?P<m>{MONTH})\.? (?:the )?(?P<d>{_DOM}|{_IN_WORDS}){_TH}?{_TO}\b(?:,? (?:{_Y}|{_THAT_YEAR}))?"
        r"(?![\d:]|\.\d| ?(?:am|pm|miles|km|people)\b)",
        "June 5",
        "June sixth",
        "aug 11-12",
        "Jan 4th, 2027",
    ),
    _form(
        "month_year",
        rf"(?P<m>{MONTH}),? (?:(?:of )?{_Y}|"
        r"(?:of ['’]?|['’])(?P<y_>\d\d)(?=\s*(?:[,.;!?)]|$|(?:and|but|when|so)\b)))\b",
        "June 2019",
        "March of 22",
        "June '98",
    ),
    _form(
        "holiday",
        rf"(?:(?P<which>this past|last|this coming|this|next) )?(?P<holiday>{HOLIDAY})\b"
        rf"(?:,? (?:(?:of |in )?{_Y}|{_THAT_YEAR}))?",
        "Valentine's Day",
        "last Christmas Eve",
        "Easter Monday",
        "new years eve",
        "Boxing Day 2019",
    ),
    _form(
        "beyond",
        rf"(?:the )?(?P<unit>weekend|week|month|year|{DAY}) (?P<which>before last|after next)\b",
        "the weekend before last",
        "monday after next",
    ),
    _form(
        "how_many_away",
        rf"{_N} (?:(?P<wd>{DAY})s (?P<which>ago|back|from now|from today)|(?P<season>{_SEASON})s (?:ago|back))\b",
        "two Sundays from now",
        "three Fridays ago",
        "two summers ago",
    ),
    _form(
        "from_day",
        rf"(?:(?:{_N} |(?=(?:week|fortnight) from ))(?:(?!(?:month|year)s? \w+ (?:this |next )?{DAY}){_UNITS} "
        r"(?:from|on|after) (?:this coming |this |next )?"
        rf"(?P<anchor>today|now|tomorrow|{DAY})|(?P<unit_>weeks?|fortnights?) (?P<anchor_>today|tomorrow|{DAY}))|"
        rf"(?P<short>today|tomorrow|{DAY}) (?P<unit2>week|fortnight))\b(?!s| of\b|end)",
        "a week from today",
        "week from this coming Wednesday",
        "two weeks on Thursday",
        "a fortnight tomorrow",
        "a week Sunday",
        "Saturday week",
        "tomorrow fortnight",
    ),
    _form(
        "ago",
        rf"{_N}{_HALF} {_ANY_UNIT}(?P<half_> and a half)? (?:ago|back)(?:,? (?:this |last |in |come )?"
        rf"(?P<anchor>today|yesterday|tomorrow|week|month|{MONTH})|"
        rf"(?<=week ago) (?:on )?(?P<wd>{DAY})|(?<=weeks ago) (?:on )?(?P<wd_>{DAY}))?\b",
        "three years ago",
        "five years ago today",
        "three years ago yesterday",
        "a couple of months back",
        "two and a half weeks ago",
        "three weeks ago Tuesday",
    ),
    _form(
        "deictic",
        r"(?:the )?(?P<word>day before yesterday|day after tomorrow|yesterday|tomorrow|today|tonight|last night|"
        r"(?:night|evening|morning) before last|"
        rf"this (?:morning|afternoon|evening)){_PART}\b(?! and age)",
        "tomorrow morning",
        "the day after tomorrow",
    ),
    _form(
        "off_before",
        rf"(?:{_N} (?P<unit>days?|weeks?) (?P<side>earlier|before|later|after)\b|"
        r"(?:the )?(?P<unit_>day|weekend) (?P<side_>before|after)\b)(?! (?:my|the|that|i|we|last|next)\b)",
        "two days earlier",
        "the day after",
        "the weekend before",
    ),
    _form(
        "within",
        rf"(?<=in ){_N}{_HALF} {_UNITS}(?P<half_> and a half)?(?:'? time)?\b"
        r"(?! of| for the first| flat| and \w+ (?:days?|weeks?|months?)\b)",
        "in two weeks",
        "in a month's time",
        "in a month and a half",
    ),
    _form(
        "countdown",
        rf"(?<!for ){_N} (?P<unit>days?|weeks?|months?)"
        r"(?= (?:to go )?(?:till|until) (?:my|our|the|his|her|their|i|we)\b)",
        "ten days till my thesis defense",
        "two weeks until the exam",
    ),
    _form(
        "weekday",
        rf"(?:(?P<which>this past|last|past|next|this coming|this|coming) )?(?P<wd>{DAY}|{_SHORT_DAY}){_PART}"
        rf"(?:,? (?:the )?(?P<dom>{_DOM}){_TH}| next(?=[.,;!?]|$))?\b"
        r"(?!s\b| (?:mornings|afternoons|evenings|nights)\b| (?:is|are) (?:my|our) (?!last|first)|ay)",
        "on Friday",
        "next wednesday the 8th",
        "mon 23rd",
        "Thursday next",
    ),
    _form(
        "edge",
        r"(?:the )?(?P<edge>(?:first|last) day|end|(?:start|beginning|middle)(?= of (?:this|next|last|the year)\b)) "
        r"(?:of|o['’]?) (?:(?P<which>this|next|last) |the )?(?P<unit>month|year|week)\b",
        "by end of month",
        "the end of next year",
        "the start of the year",
        "the last day of the month",
    ),
    _form(
        "unit",
        r"(?P<which>this past|the coming|this coming|coming|last|past|next|this) "
        rf"(?P<unit>weekend|week|month|year|{_SEASON})\b(?! of the)",
        "next month",
        "last summer",
    ),
    _form("the_weekend", r"(?:(?<=over )|(?<=on )|(?<=at ))the (?P<unit>weekend)\b(?! of\b)", "over the weekend"),
    _form(
        "month",
        r"(?:(?P<edge>early|late|mid|(?:the )?end of)[ -])?(?P<which>last |next |this coming |coming |this )?"
        rf"(?P<m>{MONTH})\b(?!\.\w|'[a-z]|-(?:(?P=m)\b|(?!{MONTH}\b)[a-z]))",
        "in March",
        "this coming May",
        "late October",
    ),
    _form(
        "day_alone",
        rf"(?:(?<=\bon the )(?P<d__>{_FROM_FOURTH})(?= at\b| and\b|[.,;!?]|$)|"
        rf"(?:(?<=\bthe )(?P<d>{_DOM})|(?<=\bto )(?P<d_>{_DOM})){_TH})\b(?! (?:floor|time|century|grade|place|birthday|"
        r"anniversary|street|avenue|edition|of|year|one|day|in)\b)",
        "on the 3rd",
        "from Friday to 3rd",
        "on the twentieth",
    ),
)
