"""The ways in which people state what they have one of at a time, as patterns over first-person sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PLACE_WORD = r"(?:(?:St|Mt|Ft)\. )?(?!I\b)[A-Z][\w'-]*(?:\.[A-Z])*"
PLACE = rf"(?P<o>{_PLACE_WORD}(?:,? (?:de |of |la |the )?{_PLACE_WORD}){{0,3}})"
NAME_WORD = r"(?:(?:Dr|Prof|Mr|Mrs|Ms|St)\.? )?(?!I\b)[A-Z0-9][\w&'-]*(?:\.[\w&'-]+)*"
"""A word of a name: a full stop at its end, or "I", is the next sentence's beginning."""
ORG = rf"(?P<o>(?:the )?{NAME_WORD}(?: (?:of |and (?!I\b)|& )?{NAME_WORD}){{0,4}})"
_NOUNS = r"(?P<o>[\w'’-]+(?: [\w'’-]+){0,4}?)"
_END = (
    r"(?=[,.;:!?]|$|\s\(| (?:and|but|with|at|for|in|on|near|because|who|which|that|now|since|so|by|from|these|this|"
    r"again|though|too|as|when|where)\b)"
)
_ADV = r"(?:(?:now|currently|just|recently|finally|still|actually|also|already|really|both|mostly) )*"
_WHO = r"\b(?:I|[Ww]e)(?: |(?='))"
_NUM = (
    r"(?P<o>\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:[- ](?:one|two|three|four|five|six|seven|"
    r"eight|nine))?|nineteen|eighteen|seventeen|sixteen)"
)
_DIET = r"(?P<o>vegan|vegetarian|pescatarian|pescetarian|gluten[- ]free|keto|omnivore|flexitarian|kosher|halal)"
_CAR = (
    r"(?P<o>(?:\d{4} )?(?:Tesla|Toyota|Honda|Ford|BMW|Audi|Volvo|Mazda|Subaru|Kia|Hyundai|Nissan|Chevy|Chevrolet|Jeep|"
    r"Volkswagen|VW|Mercedes|Porsche|Lexus|Fiat|Renault|Peugeot|Citroen|Opel|Seat|Skoda|Prius|Mustang|"
    r"Camaro|Civic|Corolla|Camry|"
    r"Mini|Jaguar|Ferrari|Lamborghini|Dodge|Rivian)(?: [A-Z0-9][\w-]*){0,2})"
)
_PHONES = r"(?:iPhone|Pixel|Galaxy|Nokia|Fairphone|Xiaomi|Redmi|Huawei|OnePlus|Motorola|Moto|Xperia|Oppo|BlackBerry)"
_NAMED = rf"{NAME_WORD}(?: {NAME_WORD}){{0,3}}"
_PHONE_MADE = rf"{_PHONES}(?: [A-Z0-9]\w*){{0,2}}"


@dataclass(frozen=True)
class Slot:
    """A pattern whose group `o` is the value of an attribute."""

    attribute: str
    verb: str
    pattern: re.Pattern[str]
    tentative: bool = False


def _slot(attribute: str, verb: str, pattern: str, *, tentative: bool = False) -> Slot:
    return Slot(attribute, verb, re.compile(pattern), tentative)


SLOTS: Final[tuple[Slot, ...]] = (
    _slot("name", "is named", r"\b[Mm]y (?:full |first )?name(?:'s| is) (?P<o>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})"),
    _slot(
        "preferred_name",
        "wants to be called",
        r"(?:(?:^|[.!?;,] |\b(?:[Pp]lease|just|can|may|to|and|so|on) )[Cc]all me|\bI go by|"
        r"(?:^|[.!?;,] |\b(?:but|and|so|because) )(?:[Mm]ost )?"
        r"(?:[Pp]eople|[Ff]riends|[Ee]verybody|[Ee]veryone|[Tt]hey)(?: all)? calls? me|\bto be called) "
        r"(?P<o>[A-Z][\w'-]+(?: [A-Z][\w'-]+)?)",
    ),
    _slot(
        "home_city",
        "lives in",
        rf"{_WHO}(?:(?:'ve|have|has) )?{_ADV}(?:live|been living|'m living|am living|'m based|am based|"
        rf"'re based|reside|'m staying|stay|"
        rf"settled(?: down)?) (?:{_ADV})(?:in|out of) (?:downtown |central |north |south |the city of "
        rf")?{PLACE}",
    ),
    _slot(
        "home_city",
        "lives in",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:moved|relocated)(?: (?:back|over|down|up|out|here|away))?(?: "
        rf"from [A-Z][\w .'-]{{0,40}}?)? to {PLACE}",
    ),
    _slot(
        "home_city",
        "lives in",
        rf"\b(?:[Mm]y (?:new |current )?home is(?: now)?|[Mm]y home(?: ?town| city)? is now|"
        rf"[Mm]y (?:current )?city is|[Mm]y "
        rf"(?:new )?(?:flat|apartment|house|place) is) (?:in )?{PLACE}",
    ),
    _slot("hometown", "is from", rf"{_WHO}(?:'m|am|'re|are|come|came) {_ADV}(?:originally )?from {PLACE}"),
    _slot("birthplace", "was born in", rf"{_WHO}(?:was|were) born (?:and raised )?in {PLACE}"),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:work|'m working|am working|worked|been working) {_ADV}(?:at|"
        rf"for|with) {ORG}",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'m|am|was|were|got|have been|'ve been) {_ADV}(?:employed|hired|recruited) (?:by|at|with) {ORG}",
    ),
    _slot("employer", "works at", rf"^{ORG} (?:has )?(?:just )?hired me\b"),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:quit|left|resigned from) [^.;]{{1,60}}? and (?:(?:I|we) )?(?:now |then )?"
        rf"(?:joined|started at|work at|work for) {ORG}",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'ve |have |'m |am )?{_ADV}(?:started|starting|joined|joining|signed)(?: (?:work|"
        rf"working|a (?:new )?job|a (?:new )?position|a role|my new job))?(?: (?:at|with|for))? "
        rf"{ORG}(?! (?:class|course|club|gym))",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:left|quit) .{{1,40}}? (?:for|to join|to work (?:at|for)) "
        rf"{ORG}",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:just |recently |finally )?(?:got|have|landed|accepted|took)(?: an?| the)? (?:new "
        rf")?(?:job|position|role|offer)(?: offer)? (?:at|with|from) {ORG}",
    ),
    _slot(
        "employer",
        "works at",
        rf"\b[Mm]y (?:new |current )?(?:employer|company|job|workplace)(?: is|,) (?:at |now )?{ORG}",
    ),
    _slot(
        "job_title",
        "works as",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:work|worked|'m working|am working|been working) (?:full[- ]time "
        rf"|part[- ]time )?as (?:an?|the) {_NOUNS}{_END}",
    ),
    _slot(
        "job_title",
        "works as",
        rf"{_WHO}{_ADV}(?:work|'m working|am working) (?:at|for|with) (?:the )?[A-Z0-9][\w.&' -]{{0,60}}? as "
        rf"(?:an?|the) {_NOUNS}{_END}",
    ),
    _slot(
        "job_title", "works as", rf"\b[Mm]y (?:job title|title|profession|occupation) is (?:an? |now )*{_NOUNS}{_END}"
    ),
    _slot(
        "job_title",
        "works as",
        rf"{_WHO}(?:'m|am) {_ADV}(?:an?|the|working as an?) (?P<o>(?:[\w-]+ ){{0,3}}?(?:engineer|"
        rf"developer|nurse|teacher|doctor|lawyer|designer|manager|accountant|chef|cook|writer|author|"
        rf"artist|photographer|musician|programmer|scientist|researcher|professor|electrician|"
        rf"plumber|carpenter|mechanic|driver|pilot|analyst|consultant|architect|dentist|pharmacist|"
        rf"therapist|psychologist|veterinarian|vet|journalist|editor|librarian|firefighter|police "
        rf"officer|paramedic|barista|bartender|waiter|waitress|cashier|realtor|salesperson|secretary|"
        rf"assistant|director|producer|actor|actress|dancer|singer|farmer|baker|hairdresser|translator|"
        rf"tutor|coach|trainer|lecturer|surgeon|technician|data scientist|product manager|freelancer|"
        rf"entrepreneur|stay[- ]at[- ]home (?:mom|mum|dad)|homemaker|security guard|janitor|principal|"
        rf"banker|broker|auditor|model|lifeguard|zookeeper|counselor|social worker))\b",
    ),
    _slot("job_title", "works as", rf"{_WHO}(?:'m|am) {_ADV}(?:an?|the) {_NOUNS} by (?:profession|trade|training)\b"),
    _slot("job_title", "works as", rf"\b[Mm]y job (?:is|as) (?:(?:that of )?an? |now )*{_NOUNS}{_END}"),
    _slot("job_title", "was promoted to", rf"{_WHO}(?:got|was|'ve been|have been|just got) promoted to {_NOUNS}{_END}"),
    _slot(
        "age",
        "is aged",
        rf"\bI(?: |(?='))(?:'m|am|just turned|turned) {_ADV}{_NUM}(?: years?(?: |-)old| yrs? old|(?=[,.!;]|$| "
        rf"and\b| but\b| now\b| today\b| yesterday\b| last\b| this\b))",
    ),
    _slot("age", "is aged", rf"\bI (?:just )?turned {_NUM}(?= (?:on|in) )"),
    _slot("age", "is aged", rf"\b[Mm]y age is {_NUM}\b"),
    _slot("age", "is aged", rf"^At {_NUM},? I (?:feel|am|still|have)\b"),
    _slot(
        "birthday",
        "has their birthday on",
        r"\b[Mm]y (?:birthday|bday|b-day)(?:'s| is)(?: on)? (?P<o>(?:the )?[\w ,]{3,30}?)(?=[.!;,]|$| "
        r"and\b| but\b)",
    ),
    _slot(
        "birthday",
        "has their birthday on",
        r"\bI was born on (?P<o>(?:the )?[\w ,]{3,30}?)(?=[.!;]|$| in [A-Z]| and\b)",
    ),
    _slot(
        "partner",
        "is with",
        r"\b[Mm]y (?:new |current )?(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]+)(?:'s name is|,| is "
        r"named| is called| is)? (?P<o>[A-Z][\w'-]+)\b(?!')",
    ),
    _slot(
        "partner",
        "is with",
        rf"{_WHO}(?:'m|am|'ve been|have been|got) {_ADV}(?:married to|engaged to|dating|together with|in a "
        rf"relationship with) (?P<o>[A-Z][\w'-]+)\b(?!')",
    ),
    _slot(
        "partner",
        "is with",
        rf"^(?=.{{0,300}}\b(?:broke|split|left|divorced|dat(?:ed|ing)|ex|boyfriend|girlfriend|partner|husband|wife)\b)"
        rf".{{0,300}}?{_WHO}(?:'m|am) (?:now )?with (?P<o>[A-Z][\w'-]+) (?:now|these days)\b",
    ),
    _slot("partner", "is with", rf"^(?P<o>[A-Z][\w'-]+) and I (?:are|have been) (?:{_ADV})(?:together|married)\b"),
    _slot(
        "diet",
        "is",
        rf"{_WHO}(?:'m|am|'ve been|have been|went|'ve gone|became|turned|'ve become|have become|have "
        rf"gone|'m going|am going|'m turning) {_ADV}(?:an? )?(?:strict(?:ly)? )?"
        rf"{_DIET}\b",
    ),
    _slot(
        "diet",
        "is",
        rf"{_WHO}{_ADV}(?:eat|follow|keep to|'m on|am on|switched to|changed to|went on) (?:an? |"
        rf"the )?(?:strict(?:ly)? )?"
        rf"{_DIET}(?: diet)?\b",
    ),
    _slot(
        "diet",
        "is",
        rf"{_WHO}(?:'m|am) (?:no longer|not) [a-z -]{{3,20}}?,? (?:but|I(?:'m| am)(?: now)?|now) {_DIET}\b",
    ),
    _slot("diet", "is", rf"\b[Mm]y diet is (?:now )?{_DIET}\b"),
    _slot(
        "diet",
        "eats",
        rf"{_WHO}(?:'ve started |started |have started )?{_ADV}(?:eat|eating) (?P<o>meat) (?:again|"
        rf"now)\b",
    ),
    _slot(
        "school",
        "studies at",
        rf"{_WHO}{_ADV}(?:study|'m studying|am studying|go to school|attend|'m attending|am attending|"
        rf"transferred to|changed to|switched to|"
        rf"enrolled|got into|was accepted (?:to|at|into)|am a student|'m a student)(?: [\w ]{{1,40}}?)??(?: "
        rf"at| in)? (?P<o>(?:the )?(?:[A-Z][\w.'-]+ )*(?:University|College|School|Institute|MIT|"
        rf"Academy|UCLA|NYU|Stanford|Harvard|Oxford|Cambridge|Yale|Berkeley)(?: of [A-Z]\w+)?)",
    ),
    _slot(
        "field_of_study",
        "studies",
        rf"{_WHO}{_ADV}(?:'m majoring in|am majoring in|major in|majored in|'m studying|am studying|"
        rf"study) (?!(?:at|in|for|with|by|on|to|hard) ){_NOUNS}{_END}",
    ),
    _slot(
        "salary",
        "earns",
        r"\b(?:I (?:make|earn|get paid|'m earning|am making)|[Mm]y salary (?:is|was raised to|went up "
        r"to)|I'm (?:making|earning)) (?:now |about |around |roughly )*(?P<o>[$€£]? ?\d[\d,.]*k?(?: "
        r"(?:dollars|euros|pounds|usd|eur))?(?: (?:a|per) (?:year|month|hour|week)| annually)?)",
    ),
    _slot(
        "car",
        "drives",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:drive|own|bought|got|have|leased)(?: myself)? (?:an?|my|a new|"
        rf"a used|an old|a brand new) "
        rf"{_CAR}",
    ),
    _slot(
        "car",
        "drives",
        rf"{_WHO}{_ADV}(?:drive|'m driving|am driving) (?:an?|my|the) (?:new |old |used |red |blue |black |"
        rf"white |grey )*"
        rf"(?P<o>[A-Z][\w-]*(?: [A-Z0-9][\w-]*){{0,2}})",
    ),
    _slot(
        "car",
        "drives",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:sold|traded in|replaced|swapped) (?:my|the|"
        rf"an?) (?:old )?[A-Z][\w -]{{1,30}}? (?:and "
        rf"(?:I )?(?:bought|got|leased)|for|with) (?:an?|the) (?:new |used )?{_CAR}",
    ),
    _slot("car", "drives", r"\b[Mm]y (?:new )?car is (?:now )?an? (?P<o>[\w-]+(?: [A-Z0-9][\w-]*){0,3})"),
    _slot(
        "phone",
        "uses",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:use|have|bought|got|switched to|upgraded to|own|switched from "
        rf"\w+ to) (?:an? |the |my |a new |an old )*(?P<o>iPhone(?: \w+)?|Android(?: phone)?|Pixel(?: "
        rf"\w+)?|Samsung Galaxy(?: \w+)?|Galaxy \w+|{_PHONES}(?: [A-Z0-9]\w*)?)\b",
    ),
    _slot(
        "phone",
        "uses",
        rf"\b[Mm]y (?:new |current |own )*(?:smart)?phone is (?:now )?(?:an? |the )?(?P<o>{_PHONE_MADE}|{_NAMED})",
    ),
    _slot(
        "phone",
        "uses",
        rf"{_WHO}(?:have|use|own|carry) (?:an? |the )?(?P<o>{_PHONE_MADE}|{_NAMED}) as (?:an?|my) (?:smart)?phone\b",
    ),
    _slot(
        "phone",
        "uses",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:replaced|swapped|traded(?: in)?|switched from) (?:my|the|an?) (?:old )?"
        rf"{_PHONE_MADE} (?:with|for|to) (?:an?|the) (?:new )?(?P<o>{_PHONE_MADE})",
    ),
    _slot(
        "blood_type",
        "has blood type",
        r"\b[Mm]y blood (?:type|group) is (?P<o>(?:A|B|AB|O)[ ]?(?:[+-]|positive|negative)?)",
    ),
    _slot("timezone", "is in time zone", r"\b[Mm]y time ?zone is (?P<o>[\w/+-]+(?: [\w/+-]+){0,2})"),
    _slot(
        "height",
        "is tall",
        r"\bI(?:'m| am) (?P<o>\d[\d.]* ?(?:cm|m|feet|ft|foot)(?: ?\d{1,2}(?: inches)?)?)(?: tall)?\b",
    ),
    _slot("weight", "weighs", r"\bI (?:now )?weigh (?:about |around |now )?(?P<o>\d[\d.]* ?(?:kg|kilos|lbs?|pounds))"),
    _slot(
        "rent",
        "pays in rent",
        r"\b(?:I|[Ww]e|[Mm]y (?:flat|apartment|house|room|place)) (?:now |only )?(?:pay|cost)s?(?: me|"
        r" us)? (?:now |about "
        r"|around )?(?P<o>[$€£]? ?\d[\d,.]*)(?: (?:euros?|dollars?|pounds?|[A-Z]{3}))?(?: (?:a|"
        r"per) month)?,? (?:of|in|for|as) "
        r"(?:the |my )?rent\b",
    ),
    _slot(
        "rent",
        "pays in rent",
        r"\b[Mm]y rent (?:is|went up to|was raised to|increased to) (?:now |about )?(?P<o>[$€£]? "
        r"?\d[\d,.]*)",
    ),
    _slot(
        "religion",
        "is",
        r"\bI(?:'m| am) (?:an? )?(?P<o>Christian|Muslim|Jewish|Catholic|Buddhist|Hindu|atheist|"
        r"agnostic|Mormon|Sikh)\b",
    ),
    _slot(
        "nationality",
        "is",
        r"\bI(?:'m| am) (?:an? )?(?P<o>American|British|English|Irish|Scottish|Canadian|Australian|"
        r"German|French|Italian|Spanish|Portuguese|Dutch|Swedish|Norwegian|Danish|Finnish|Polish|"
        r"Indian|Chinese|Japanese|Korean|Mexican|Brazilian|Greek|Turkish|Russian|Ukrainian|Nigerian|"
        r"Egyptian)\b(?! \w+(?:er|or|ist|ian) )",
    ),
)
