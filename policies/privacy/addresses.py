"""The table of postal addresses: streets with a house number, boxes, units, postcodes, as many countries order them."""

from __future__ import annotations

import re
from typing import Final

from policies.language.lexicon import word_set
from policies.privacy import checks
from policies.privacy.rules import Rule, shape

_CARD_CHARS: Final = 300
_DIGITS_OF_MOST: Final = 5
"""Of postcodes, as most countries have them."""
_NO_PART: Final = word_set(
    """am pm a.m p.m. o'clock ago week weeks day days hour hours minute minutes month months year years since until
    till from for with by down up along the because when while after before during every each times people
    percent dollars euros pounds
    km kilometers miles meters kg january february march april june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
    mon tue tues wed thu thur thurs fri sat today
    tomorrow yesterday tonight noon midnight is was are were has have had will would can i he she we they it my"""
)
"""Words that no address has: times, dates and measures are none."""
_AMOUNT: Final = re.compile(r"[A-Z]{1,3}\d{1,3}(?: \d{3})+")
"""An amount of money with the letters of its currency: "R5 500"."""
_NO_STREET: Final = word_set(
    """room level floor gate terminal platform chapter page part windows playstation xbox iphone channel route highway
    section season episode number day week grade class year phase stage step top formula world euro area pier track line
    bus tram train flight group team version camp studio exit unit zone table booth lot building block ward wing bay
    bed desk march may"""
)
_GOES_ON: Final = word_set(
    """and or in near since for with last next this after before from until on at to by which where but when because if
    so is was street st today tomorrow yesterday tonight please now then again across opposite behind between close apt
    suite flat floor"""
)
"""Words that may follow a house number; "moved to Berlin 2 years ago" names no house."""
_STREET: Final = (
    r"(?:Streets?|St|Str|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place|Pl|Squares?|Sq|"
    r"Terrace|Close|"
    r"Highway|Hwy|Parkway|Pkwy|Crescent|Cres|Gardens|Grove|Row|Walk|Quay|Mews|Hill|Circle|Cir|Trail|Alley|Rise|View|"
    r"Green)"
)
_ENDING: Final = (
    r"(?:stra(?:ß|ss)e|str\.|gasse|weg|platz|allee|ufer|damm|katu|kuja|gatan|gata|vägen|vegen|vej|gade|laan|straat|"
    r"stræti|"
    r"stræde|utca|holmen|plein|gracht|veien|braut|dreef)"
)
_BEFORE: Final = (
    r"(?:rue|via|viale|corso|calle|c/|carrer|rua|avenida|avda\.?|av\.?|paseo|piazza|plaza|praça|ulica|ul\.|al\.|"
    r"ulicy|ulicą|ulicę|aleja|alei|os\.|osiedlu|pl\.|placu|boulevard|bd|trg|"
    r"avenue|allée|chemin|impasse|quai|place(?!\s(?:in|on|at|near|for|to|with|where|called)\b)|kapu|via della|largo|"
    r"travessa)"
)
_PARTICLES: Final = r"(?:(?:de|del|della|delle|di|du|des|da|do|dos|la|le|les|los|las|y|e|et|van|von|der|den)\s|l['’])"
_CAP: Final = r"(?:[^\W\d_a-z][\w.'’-]{0,24})"
_INNER: Final = r"(?:(?!(?:is|on|in|at|and|for|since|with|to|by|until|from|are|was)\b)[\w.'’-]{2,24})"
_UNIT: Final = r"(?:Apt|Apartment|Suite|Ste|Unit|Flat|Whg|App|Lok)\b\.?\s{0,2}#?\s?"
_COUNTED: Final = (
    r"\s+(?i:miles|km|kilomet|dollars|euros|pounds|people|steps|users|views|words|years|times|met(?:er|re)s|feet|kgs?|"
    r"kilos?|lbs?|tonn?e?s|lit(?:er|re)s|gallons?|acres|hectares|followers|subscribers|rupees|naira|pesos|yen|won|"
    r"calories|kcal|units|pieces|boxes|bags|copies|hours|a month|a year|a week)\b"
)
"""The unit of a number that is no postcode: " miles"."""
_HOUSE: Final = r"(?:House|Court|Towers?|Mansions?|Buildings?|Lodge|Heights|Residences?|Apartments?)"
"""Nouns of a house with a name of its own."""
_PREP: Final = (
    "(?:"
    + "|".join(
        rf"(?<=\b{w}\s)"
        for w in ("at", "on", "to", "of", "is", "are", "with", "and", "now", "in", "auf", "à", "w", "en")
    )
    + r"|(?<=:\s))"
)
_LEADS: Final = (
    "live",
    "lives",
    "lived",
    "living",
    "reside",
    "resides",
    "resided",
    "located",
    "stay",
    "stays",
    "stayed",
    "staying",
    "sent",
    "send",
    "deliver",
    "delivers",
    "delivered",
    "mail",
    "mailed",
    "ship",
    "shipped",
    "arrived",
    "enter",
    "moved",
    "moving",
    "side",
    "change",
    "corner",
    "address",
    "addresses",
    "restaurant",
    "shop",
    "office",
    "hotel",
    "house",
    "flat",
    "apartment",
    "station",
    "bank",
    "school",
    "library",
    "clinic",
    "meet",
    "meets",
    "meeting",
    "taxi",
    "cab",
    "wohne",
    "wohnt",
    "wohnen",
    "adresse",
    "dirección",
    "direccion",
    "vivo",
    "vive",
    "habite",
    "mieszkam",
    "adres",
    "woon",
    "woont",
    "indirizzo",
    "abito",
    "anschrift",
)


def _is_address(value: str) -> bool:
    """Tell whether nothing in a span speaks of a time, a measure or a clause."""
    words = [word.strip(".,").lower() for word in value.split()]
    is_year = re.fullmatch(r"(?:19|20)\d\d", words[-1]) is not None
    return not (is_year or _AMOUNT.fullmatch(value) or any(word in _NO_PART for word in words))


def _is_no_year_of(text: str, start: int, end: int) -> bool:
    """Tell whether the number is not the year in which something was so: "in 2019 Penny Lane was closed"."""
    year = re.match(r"(?:19|20)\d\d\b", text[start:end])
    return not (year and re.search(r"(?i)\b(?:in|since|of|until|from)\s\Z", text[max(0, start - 8) : start]))


def _ends_there(text: str, start: int, end: int) -> bool:
    """Tell whether the clause ends behind a house number, or goes on as it may."""
    after = re.match(r"[ \t]+([^\W\d_A-Z][\w'’-]*)", text[end : end + 32])
    words = text[start:end].lower().split()
    return (
        (after is None or after[1] in _GOES_ON)
        and words[0] not in _NO_STREET
        and next(iter(words[-2:-1]), "") not in _NO_STREET
    )


def _is_behind_a_name(text: str, start: int, end: int) -> bool:
    """Tell whether a number stands where a postcode may: behind a name, a comma or a mask; or has five digits."""
    before = text[:start].rstrip()
    last = before.rsplit(maxsplit=1)[-1:]
    return end - start == _DIGITS_OF_MOST or before.endswith((",", "]")) or not "".join(last).islower()


def _is_line_of_a_card(text: str, start: int, end: int) -> bool:
    """Tell whether the text is somebody's card, or a letter's head, and this a line of it."""
    lower = text[max(0, start - _CARD_CHARS) : end + _CARD_CHARS].lower()
    return any(word in lower for word in ("phone", "office", "fax", "mobile", "mail", "address"))


def _address(pattern: str, examples: tuple[str, str], counter: str, *, exact: bool = True, **more: object) -> Rule:
    more.setdefault("check", _is_address)
    more.setdefault("numeric", True)
    return Rule("address", shape(pattern, exact=exact), examples, counter, "[address]", **more)  # type: ignore[arg-type]


RULES: Final = (
    _address(
        rf"(?<![\w.:$€£])(?P<value>(?:\d{{1,6}}[A-Za-z]?(?:-\d{{1,4}})?,?\s+){{1,2}}(?:{_CAP}\s+){{1,4}}{_STREET}\b\.?"
        rf"(?:,?\s+{_UNIT}\w{{1,6}})?)",
        ("Ana lives at 12 Baker Street, London.", "1600 Pennsylvania Ave Apt 4"), "In 2019 Penny Lane was closed.",
        check_around=_is_no_year_of),
    _address(r"\s(?P<value>\d{1,5}\s+(?:[^\W\d_][\w'’-]{1,19}\s+){1,4}(?:street|avenue|road|lane|boulevard|drive|"
             r"ave|blvd|st)\b)",
        ("i live at 12 sidi hassan street", "meet me on 4 long hill road"), "I walked at 5 down the road.", exact=False,
        labels=("at", "to", "on", "is", "in"), gap=shape(""), check_around=_is_no_year_of),
    _address(rf"(?<![\w:])(?P<value>(?:\d{{1,6}}\s+)?[^\W\d_]\w{{1,30}}(?:\s(?:út|tér|u\.|põik|utca|stra(?:ß|ss)e|"
             rf"str\.|"
        rf"allee|platz|gasse|vej|gatan)|{_ENDING})\s+\d{{1,4}}[a-z]?)\b",
        ("Ana lives on Ziegelgasse 19.", "Salzburger Strasse 14"), "The meeting ring 12 was fun.", exact=False,
        check=lambda value: (_is_address(value) and any(map(str.isupper,
            value))) or (_is_address(value) and len(value.split()) > 2)),
    _address(rf"(?<!\w)(?P<value>\d{{1,6}}[A-Za-z]?,?\s+(?:\d{{1,5}}\s+)?"
             rf"(?i:{_BEFORE})\s+{_PARTICLES}{{0,3}}[^\W\d_][\w'’-]{{1,24}}|"
        rf"(?:\d{{1,6}},?\s+)?(?i:{_BEFORE})(?:(?<=[./])|\b)\s?{_PARTICLES}{{0,3}}"
        rf"(?:[\w'’.-]{{1,24}}\s+){{0,3}}[\w'’.-]{{1,24}},?\s+(?:n[°º.]\s?)?\d{{1,4}}[a-z]?)\b",
        ("Ana's office is at 17 rue des Lilas in Lyon.", "ul. Marszałkowska 12"), "Alejandra's dad is in room 304."),
    _address(r"\bP\.?\s?O\.?\s?Box\s+\d{1,6}|\bPostfach\s\d{1,8}|\bapartado\s\d{1,6}|(?:(?:PSC|Unit|CMR|"
             r"US[A-Z]{1,4})\s+\w{1,24}"
        r"(?:\s\w{1,24})?,?\s+)?(?:Box\s+\d{1,6},?\s+)?(?:APO|FPO|DPO)[\s,]{1,3}A[AEP]\s{1,3}\d{5}(?:-\d{4})?|"
        r"\b(?:PSC|Unit|CMR)\s+\d{1,6},?\s+Box\s+\d{1,6}",
        ("P.O. Box 287", "the USS Marten, FPO AE 09123"), "The APO of the unit sang.", exact=False),
    _address(
        rf"\b(?i:{_UNIT})\d{{1,5}}[A-Za-z]?\b(?:,?\s+(?:{_CAP}\s+){{1,3}}{_HOUSE}\b)?",
        ("Apt. 864", "suite 12b"), "The suite was nice."),
    _address(rf"(?<=[\])\d],\s)(?:{_CAP}\s+){{1,3}}{_HOUSE}\b",
        ("Flat 9, Osborne House", "[address], Kings Court"), "We saw Osborne House.", numeric=False),
    # Number, names, number: a house number before or after the street, and one of a flat, a box or a post office.
    _address(rf"(?<![\w.:$€£])(?P<value>\d{{2,6}},?\s{{1,3}}(?:{_CAP}\s+){{1,4}}"
             rf"(?:[^\W\d_]{{2,14}}\s+)?\d{{1,5}}[A-Za-z]?|"
        rf"\d{{3,6}}\s{{1,3}}\d{{1,5}}\s{{1,3}}(?:{_CAP}\s+){{0,3}}{_CAP}|"
        rf"\d{{5}}\s[^\W\d_a-z][\w'’-]{{2,24}}\s\d{{1,4}})(?![\w%]|[.,:]\d)",
        ("41207 Jarmila Ebbesen 31, Nuuk", "370 3911 Fourth Avenue"), "Back at 7:30 AM since August 15.",
        check_around=lambda text, start, end: _ends_there(text, start, end) and not re.match(r"(?:19|20)\d\d\b",
            text[start:end])),
    # Where no street has such a word in its name, what is said of it has.
    _address(rf"{_PREP}(?P<value>(?:\d{{1,6}},?\s{{1,3}})?(?:{_CAP}\sand\s)?{_CAP}[ \t]+(?:{_INNER}[ "
             rf"\t]+){{0,3}}\d{{1,5}}[A-Za-z]?|"
        rf"\d{{2,6}}\s{{1,3}}(?:{_CAP}\s){{1,3}}{_CAP})(?![\w%:]|[.,]\d)",
        ("Ana's parcel was sent to Hoge Brug 12 on Monday.", "Ana meets the agent at 214 Petrou Lambraki."),
        "I moved to Mississauga two weeks ago in 2024.", labels=_LEADS, reach=90, check_around=_ends_there),
    _address(rf"{_PREP}(?P<value>\d{{3,6}}\s{{1,3}}(?:\d{{1,5}}\s{{1,3}}[^\W\d_][\w'’-]{{2,24}}"
             rf"(?:\s[^\W\d_][\w'’-]{{2,24}})?|"
        r"[^\W\d_][\w'’-]{2,24}\s(?:[^\W\d_][\w'’-]{2,24}\s)?\d{1,4}))(?![\w%]|[.,:]\d)",
        ("Ana sent it to 2207 rantakalla 6, please.", "the shop is at 214 15 harju"), "We drove to 300 towns 4 times.",
        labels=_LEADS, check_around=_ends_there),
    _address(r"\b(?:the\s+)?corner\s+of\s+[^\n.!?;\[\]]{3,60}?\s+and\s+[\w'’.-]{2,24}(?:[ \t]"
             r"(?-i:[A-Z])[\w'’-]{1,24}){0,2}(?!\w)",
        ("the corner of Elm and Castle Bridge", "corner of 5th and Main"), "In the corner of the room stood a lamp.",
            exact=False, check=None, numeric=False),
    _address(rf"(?m:^[\W]{{0,6}})(?P<value>(?:\d{{1,6}}\s+){{0,2}}{_CAP}(?:[ \t]+[\w.'’-]{{2,24}}){{0,3}}[ "
             rf"\t]+\d{{1,5}}[A-Za-z]?|\d{{1,6}}(?:\s\d{{1,5}})?[ \t]+{_CAP}(?:[ \t]+{_CAP}){{0,3}})(?m:[ \t,.]*$)",
        ("Ann Ray\nKaevu 94\nphone: none", "Ann\n> 935 69 Gordon\nmail: none"), "Hi!\nRoom 12\nphone me",
        check_around=lambda text, start, end: "\n" in text and _is_line_of_a_card(text, start,
            end) and _ends_there(text, start, end)),
    Rule("postcode", shape(r"(?P<value>[A-Z]{0,2}\d[A-Z0-9]{1,5}(?:[ -][A-Z0-9]{1,4})?)\b"),
        ("Ana's postal code is 94110.", "ZIP: 7412 SL"), "My zip code is long.", "[postcode]", check=checks.has_digit,
            reach=16, numeric=True,
        labels=("zip", "zip code", "zipcode", "postal code", "post code", "postcode", "plz", "postleitzahl",
            "code postal",
                "código postal", "codigo postal", "cap", "kod pocztowy", "postcode is", "eircode", "pin code of")),
    # Shapes of Britain, Canada and the Netherlands; of America behind a state; of others before or behind a town.
    Rule("postcode", shape(
        r"\b(?P<value>(?-i:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}|[A-Z]\d[A-Z] \d[A-Z]\d|"
        r"(?<!\ba )(?<!\bthe )\d{4} ?[A-Z]{2}(?=[.,;!]|$| [A-Z][a-z]))|"
        r"(?<=,\s(?-i:[A-Z]{2})\s)\d{5}(?:-\d{4})?|(?<=\b[A-Z]-)\d{4,5}(?=\s(?-i:[A-Z]))|"
        r"(?:(?<=,\s)|(?<=\bin\s)|(?<=\]\s))(?:\d{5}|\d{2}-\d{3}|\d{3}\s\d{2})(?=\s(?-i:[^\W\d_a-z][a-zà-ż]{2})))"
        r"(?![\w%]|[.,]\d)"),
        ("I live in Leeds LS6 2AB with Tom", "Hauptplatz, 10115 Berlin"), "We sold 12000 Swiss watches.", "[postcode]",
        numeric=True),
    Rule("postcode", shape(
        r"(?:\s(?-i:[^\W\d_a-z])[\w.'’-]{1,24},?){1,3}\s(?P<value>\d{5}(?:-\d{3,4})?|\d{2}-\d{3}|\d{4}\s(?-i:[A-Z]{2}))"
        rf"(?![\w%]|[.,]\d|{_COUNTED})"),
        ("We live in Beverly Hills 90210 now", "She is from Kraków 30-001"), "They live in Boeing town.", "[postcode]",
        numeric=True,
        labels=("live in", "lives in", "lived in", "living in", "moved to", "moving to", "from", "based in",
            "wohne in", "vivo en", "habite à",
                "mieszkam w", "woon in", "to"), gap=shape("")),
    Rule("postcode", shape(r"\s(?P<value>\d{5}(?:-\d{4})?)(?![\w%]|[.,]\d)(?=[.,;!?\n]|$|\s(?:now|and|with|since))"),
        ("I live in 94110 now", "We moved to 30303-1234."), "Rent went from 900 to 12500.", "[postcode]", numeric=True,
        labels=("live in", "lives in", "lived in", "living in", "moved to", "moving to", "based in"), gap=shape("")),
    # What follows an address, or stands behind a country.
    Rule("postcode", shape(
        r"[^\[\]]{0,80}?(?<![\w$€£.,])(?P<value>(?!(?:19|20)\d\d\b)\d{4,6}(?:-\d{3,4})?|\d{3} \d{2}|\d{2}-\d{3})"
        rf"(?![\w%]|[.,]\d|{_COUNTED})"),
        ("12 Oak Street, Springfield, USA 49007", "[address], Spain 16200"), "We drove down Oak Street 12000 miles.",
            "[postcode]", numeric=True,
        labels=("apt", "apartment", "suite", "street", "st", "avenue", "ave", "road", "rd", "lane", "boulevard",
            "blvd", "[address]"), gap=shape(""), check_around=_is_behind_a_name),
)  # fmt: skip
