"""Single-valued facts about the user, by the ways in which people state them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from memory.schema import Fact

USER: Final = "user"
"""The entity of facts about the user, whatever their name."""

_PLACE = r"(?P<o>[A-Z][\w.'-]*(?:,? (?:de |of |la |the )?[A-Z][\w.'-]*){0,3})"
_ORG = r"(?P<o>(?:the )?[A-Z0-9][\w.&'-]*(?: (?:of |and |& )?[A-Z0-9][\w.&'-]*){0,4})"
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
_HYPOTHETICAL = re.compile(
    r"\b(?:if|would|'d|could|might|wish|want to|used to|hope|hoping|dream|plan|planning|going to|"
    r"will|'ll|never|before|when I was|as a (?:kid|child)|should|may|thinking)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Slot:
    attribute: str
    verb: str
    pattern: re.Pattern[str]
    tentative: bool = False


def _slot(attribute: str, verb: str, pattern: str, *, tentative: bool = False) -> _Slot:
    return _Slot(attribute, verb, re.compile(pattern), tentative)


_SLOTS: Final[tuple[_Slot, ...]] = (
    _slot("name", "is named", r"\b[Mm]y (?:full |first )?name(?:'s| is) (?P<o>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})"),
    _slot(
        "preferred_name",
        "wants to be called",
        r"\b(?:[Cc]all me|I go by|[Pp]eople call me|to be called) (?P<o>[A-Z][\w'-]+(?: "
        r"[A-Z][\w'-]+)?)",
    ),
    _slot(
        "home_city",
        "lives in",
        rf"{_WHO}{_ADV}(?:live|'m living|am living|'m based|am based|'re based|reside|'m staying|stay|"
        rf"settled(?: down)?) (?:{_ADV})(?:in|out of) (?:downtown |central |north |south |the city of "
        rf")?{_PLACE}",
    ),
    _slot(
        "home_city",
        "lives in",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:moved|relocated)(?: (?:back|over|down|up|out|here|away))?(?: "
        rf"from [A-Z][\w .'-]{{0,40}}?)? to {_PLACE}",
    ),
    _slot(
        "home_city",
        "lives in",
        rf"\b(?:[Mm]y home is|[Mm]y home(?: ?town| city)? is now|[Mm]y (?:current )?city is|[Mm]y "
        rf"(?:new )?(?:flat|apartment|house|place) is) (?:in )?{_PLACE}",
    ),
    _slot("hometown", "is from", rf"{_WHO}(?:'m|am|'re|are|come|came) {_ADV}(?:originally )?from {_PLACE}"),
    _slot("birthplace", "was born in", rf"{_WHO}(?:was|were) born (?:and raised )?in {_PLACE}"),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:work|'m working|am working|worked|been working) {_ADV}(?:at|"
        rf"for|with) {_ORG}",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'ve |have |'m |am )?{_ADV}(?:started|starting|joined|joining|signed)(?: (?:work|"
        rf"working|a (?:new )?job|a (?:new )?position|a role|my new job))?(?: (?:at|with|for))? "
        rf"{_ORG}(?! (?:class|course|club|gym))",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:left|quit) .{{1,40}}? (?:for|to join|to work (?:at|for)) "
        rf"{_ORG}",
    ),
    _slot(
        "employer",
        "works at",
        rf"{_WHO}(?:just |recently |finally )?(?:got|have|landed|accepted|took)(?: an?| the)? (?:new "
        rf")?(?:job|position|role|offer)(?: offer)? (?:at|with|from) {_ORG}",
    ),
    _slot(
        "employer", "works at", rf"\b[Mm]y (?:new |current )?(?:employer|company|job|workplace) is (?:at |now )?{_ORG}"
    ),
    _slot(
        "job_title",
        "works as",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:work|worked|'m working|am working|been working) (?:full[- ]time "
        rf"|part[- ]time )?as (?:an?|the) {_NOUNS}{_END}",
    ),
    _slot(
        "job_title", "works as", rf"\b[Mm]y (?:job title|title|profession|occupation) is (?:an? |now )*{_NOUNS}{_END}"
    ),
    _slot(
        "job_title",
        "works as",
        rf"{_WHO}(?:'m|am) {_ADV}(?:an?|the|working as an?) (?P<o>(?:[\w-]+ ){{0,3}}?(?:engineer|"
        rf"developer|nurse|teacher|doctor|lawyer|designer|manager|accountant|chef|cook|writer|author|"
        rf"artist|photographer|musician|programmer|scientist|researcher|student|professor|electrician|"
        rf"plumber|carpenter|mechanic|driver|pilot|analyst|consultant|architect|dentist|pharmacist|"
        rf"therapist|psychologist|veterinarian|vet|journalist|editor|librarian|firefighter|police "
        rf"officer|paramedic|barista|bartender|waiter|waitress|cashier|realtor|salesperson|secretary|"
        rf"assistant|director|producer|actor|actress|dancer|singer|farmer|baker|hairdresser|translator|"
        rf"tutor|coach|trainer|lecturer|surgeon|technician|data scientist|product manager|freelancer|"
        rf"entrepreneur|stay[- ]at[- ]home (?:mom|mum|dad)|homemaker|security guard|janitor|principal|"
        rf"banker|broker|auditor|model|lifeguard|zookeeper|counselor|social worker))\b",
    ),
    _slot("job_title", "was promoted to", rf"{_WHO}(?:got|was|'ve been|have been|just got) promoted to {_NOUNS}{_END}"),
    _slot(
        "age",
        "is aged",
        rf"{_WHO}(?:'m|am|just turned|turned) {_ADV}{_NUM}(?: years?(?: |-)old| yrs? old|(?=[,.!;]|$| "
        rf"and\b| but\b| now\b| today\b))",
    ),
    _slot("age", "is aged", rf"\b[Mm]y age is {_NUM}\b"),
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
        r"\b[Mm]y (?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]+)(?:'s name is|,| is "
        r"named| is called)? (?P<o>[A-Z][\w'-]+)\b(?!')",
    ),
    _slot(
        "diet",
        "is",
        rf"{_WHO}(?:'m|am|'ve been|have been|went|'ve gone|became|turned|'ve become|have become|have "
        rf"gone) {_ADV}(?:an? )?(?:strict(?:ly)? )?(?P<o>vegan|vegetarian|pescatarian|pescetarian|"
        rf"gluten[- ]free|keto|omnivore|flexitarian|kosher|halal)\b",
    ),
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
        rf"enrolled|got into|was accepted (?:to|at|into)|am a student|'m a student)(?: [\w ]{{1,40}}?)?(?: "
        rf"at| in)? (?P<o>(?:the )?(?:[A-Z][\w.'-]+ )*(?:University|College|School|Institute|MIT|"
        rf"Academy|UCLA|NYU|Stanford|Harvard|Oxford|Cambridge|Yale|Berkeley)(?: of [A-Z]\w+)?)",
    ),
    _slot(
        "field_of_study",
        "studies",
        rf"{_WHO}{_ADV}(?:'m majoring in|am majoring in|major in|majored in|'m studying|am studying|"
        rf"study) {_NOUNS}{_END}",
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
        rf"a used|an old|a brand new) (?P<o>(?:\d{{4}} )?(?:Tesla|Toyota|Honda|Ford|BMW|Audi|Volvo|"
        rf"Mazda|Subaru|Kia|Hyundai|Nissan|Chevy|Chevrolet|Jeep|Volkswagen|VW|Mercedes|Porsche|Lexus|"
        rf"Fiat|Renault|Peugeot|Skoda|Prius|Mustang|Camaro|Civic|Corolla|Camry|Mini|Jaguar|Ferrari|"
        rf"Lamborghini|Dodge|Rivian)(?: [A-Z0-9][\w-]*){{0,2}})",
    ),
    _slot("car", "drives", r"\b[Mm]y (?:new )?car is (?:now )?an? (?P<o>[\w-]+(?: [A-Z0-9][\w-]*){0,3})"),
    _slot(
        "phone",
        "uses",
        rf"{_WHO}(?:'ve |have )?{_ADV}(?:use|have|bought|got|switched to|upgraded to|own|switched from "
        rf"\w+ to) (?:an? |the |my |a new |an old )*(?P<o>iPhone(?: \w+)?|Android(?: phone)?|Pixel(?: "
        rf"\w+)?|Samsung Galaxy(?: \w+)?|Galaxy \w+)\b",
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
_MARITAL: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), value)
    for pattern, value in (
        (
            r"\b(?:I|[Ww]e)(?:'m|'re| am| are|'ve been| have been| got| just got|'ve just got)? (?:now |"
            r"newly |happily |already |just |finally )?(?:got )?married\b(?! (?:\w+ ){0,2}(?:next|on the|"
            r"in (?:\w+ )?20))",
            "married",
        ),
        (
            r"\b(?:I|[Ww]e)(?:'m|'re| am| are| got| just got|'ve just got) (?:now |just |recently "
            r")?engaged\b(?! in| with)",
            "engaged",
        ),
        (
            r"\b(?:I|[Ww]e)(?:'m|'re| am| are| got| just got|'ve)? (?:now |recently |just |got "
            r")*(?:divorced|separated)\b",
            "divorced",
        ),
        (r"\bI(?:'m| am) (?:now |still |currently |newly )?single\b", "single"),
        (r"\bI(?:'m| am) (?:an? |now )?(?:widow|widower|widowed)\b", "widowed"),
        (r"\b[Mm]y (?:wife|husband) and I\b|\b[Mm]y (?:wife|husband)\b(?! passed| died)", "married"),
    )
)
_FAVORITE = re.compile(
    r"\b[Mm]y (?:new |all[- ]time |absolute |current )*(?:favou?rite|fav) (?P<n>[a-z]+(?: "
    r"[a-z]+)?) (?:is|are|was|has to be|would be|is probably|has always been) (?:now |probably |"
    r"definitely |the |a )*(?P<o>[^,.;!?]{1,60}?)(?=[,.;!?]|$| because\b| and (?:I|my)\b| but\b)"
)
_FAVORITE_BACK = re.compile(
    r"^(?P<o>[A-Z][\w' -]{1,40}?) (?:is|are) (?:still |now |probably |definitely )*my (?:all[- ]time "
    r"|absolute )*(?:favou?rite|fav) (?P<n>[a-z]+)"
)
_BUDGET = re.compile(
    r"\b[Mm]y (?:(?P<n>[a-z]+) )?budget (?:for (?:the |my |a |this )?(?P<n2>[a-z]+) )?is (?:now |"
    r"about |around )*(?P<o>[$€£]? ?\d[\d,.]*k?(?: (?:dollars|euros|pounds))?(?: (?:a|per) \w+)?)"
)
_PET = re.compile(
    r"\b[Mm]y (?P<n>dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|turtle|bird)(?:'s name is|'s "
    r"called| is (?:named|called)|,)? (?P<o>[A-Z][\w-]+)\b(?!')"
)
_ENDED: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = tuple(
    (re.compile(pattern), attribute, verb)
    for pattern, attribute, verb in (
        (rf"\bI (?:no longer|don't|do not) work (?:at|for) {_ORG}(?: any ?more)?", "employer", "no longer works at"),
        (
            rf"\bI(?:'ve| have)?{' '}?(?:just |recently |finally )?(?:quit|left|resigned from|got fired "
            rf"from|was fired from|was laid off (?:from|by)|got laid off (?:from|by)) (?:my job at |"
            rf"working (?:at|for) )?{_ORG}",
            "employer",
            "no longer works at",
        ),
        (
            rf"\b(?:I|[Ww]e) (?:no longer|don't|do not) live in {_PLACE}(?: any ?more)?",
            "home_city",
            "no longer lives in",
        ),
        (
            rf"\b(?:I|[Ww]e)(?:'ve| have)?(?: just| recently| finally)? moved (?:out of|away from|from) "
            rf"{_PLACE}(?! to\b)",
            "home_city",
            "no longer lives in",
        ),
        (
            r"\bI(?:'m| am) (?:no longer|not) (?:an? )?(?P<o>vegan|vegetarian|pescatarian|keto)(?: any "
            r"?more)?",
            "diet",
            "is no longer",
        ),
        (r"\bI (?:no longer|don't) eat (?P<o>meat)\b(?: any ?more)?", "diet", "does not eat"),
        (
            r"\b(?:I|[Ww]e)(?:'ve| have)? ?(?:just |recently |finally )?(?:sold|traded in|got rid of|"
            r"totaled|crashed) (?:my|our) (?:old )?(?P<o>car|truck|van|(?:Tesla|Toyota|Honda|Ford|BMW|"
            r"Audi|Volvo|Mazda|Subaru|Kia|Jeep|Prius|Mini)(?: \w+)?)",
            "car",
            "no longer has",
        ),
    )
)


def _clean(text: str) -> str:
    return text.strip(" ,.'\"").removesuffix(" now").strip()


def _marital(text: str) -> Fact | None:
    for pattern, value in _MARITAL:
        if pattern.search(text) and not re.search(
            r"\b(?:not|n't|never|no longer|isn't|used to|ex|hope|hopefully|if|someday|one day|future|"
            r"would|when I get|want to) ",
            text,
            re.IGNORECASE,
        ):
            return Fact(entity=USER, verb="is", object=value, attribute="marital_status")
    return None


def attribute_facts(text: str) -> tuple[Fact, ...]:
    """What a first-person sentence says about the user that can have only one value at a time.

    "I moved to Berlin", "I live in Berlin" and "we're based in Berlin now" all give `home_city` Berlin. What is
    wished, planned or long past gives none. What has ended gives a verb that says so ("no longer works at").
    """
    facts: dict[str, Fact] = {}

    def add(attribute: str, verb: str, value: str) -> None:
        value = _clean(value)
        if value and attribute not in facts:
            facts[attribute] = Fact(entity=USER, verb=verb[:100], object=value[:300], attribute=attribute[:60])

    for slot in _SLOTS:
        match = slot.pattern.search(text)
        if match and not _HYPOTHETICAL.search(text[: match.end("o")]):
            add(slot.attribute, slot.verb, match.group("o"))
    for pattern, attribute, verb in _ENDED:
        if (match := pattern.search(text)) and not re.search(r"\b(?:if|would|when) ", text[: match.start()]):
            add(attribute, verb, match.group("o"))
    for pattern in (_FAVORITE, _FAVORITE_BACK):
        if match := pattern.search(text):
            add(
                f"favorite_{match.group('n').replace(' ', '_')}",
                "has as favorite " + match.group("n"),
                match.group("o"),
            )
    if match := _BUDGET.search(text):
        noun = match.group("n") or match.group("n2")
        add(f"budget_{noun}" if noun else "budget", "has a budget of", match.group("o"))
    if match := _PET.search(text):
        add(f"{match.group('n')}_name", f"has a {match.group('n')} named", match.group("o"))
    if (marital := _marital(text)) and "marital_status" not in facts:
        facts["marital_status"] = marital
    return tuple(facts.values())
