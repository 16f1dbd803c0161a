"""Patterns of facts that take a form of their own: what has ended, favourites, families, budgets, pets."""

from __future__ import annotations

import re
from typing import Final

from worker.extract.slots import ORG, PLACE

MARITAL: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
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
        (
            r"\bI (?:have|got|'ve got) an? (?:new )?(?:boyfriend|girlfriend)\b|"
            r"\bI(?:'m| am) (?:now )?in a relationship\b",
            "in a relationship",
        ),
        (r"\bI(?:'m| am) (?:an? |now )?(?:widow|widower|widowed)\b", "widowed"),
        (r"\b[Mm]y (?:wife|husband) and I\b|\b[Mm]y (?:wife|husband)\b(?! passed| died)", "married"),
    )
)
FAVORITE = re.compile(
    r"\b[Mm]y (?:new |all[- ]time |absolute |current )*(?:favou?rite|fav) (?P<n>[a-z]+(?: "
    r"(?!now\b)[a-z]+)?)(?: now)? (?:is|are|was|has to be|would be|is probably|has always been) (?:now |probably |"
    r"definitely |the |a )*(?P<o>[^,.;!?]{1,60}?)(?=[,.;!?]|$| because\b| and (?:I|my)\b| but\b)"
)
FAVORITE_BACK = re.compile(
    r"^(?P<o>[A-Z][\w' -]{1,40}?) (?:is|are) (?:still |now |probably |definitely )*my (?:all[- ]time "
    r"|absolute |new |current )*(?:favou?rite|fav) (?P<n>[a-z]+)"
)
FAVORITE_BEST = re.compile(
    r"\bI (?:like|love) (?P<o>[\w' -]{1,40}?) (?:best|most|the most) of all (?:the )?(?P<n>[a-z]+)"
)
BUDGET = re.compile(
    r"\b[Mm]y (?:(?P<n>[a-z]+) )?budget (?:for (?:the |my |a |this )?(?P<n2>[a-z]+) )?is (?:now |"
    r"about |around )*(?P<o>[$€£]? ?\d[\d,.]*k?(?: (?:dollars|euros|pounds))?(?: (?:a|per) \w+)?)"
)
PET = re.compile(
    r"\b[Mm]y (?P<n>dog|cat|puppy|kitten|parrot|hamster|rabbit|horse|turtle|bird)(?:'s name is|'s "
    r"called| is (?:named|called)|,)? (?P<o>[A-Z][\w-]+)\b(?!')"
)
ENDED: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = tuple(
    (re.compile(pattern), attribute, verb)
    for pattern, attribute, verb in (
        (rf"\bI (?:no longer|don't|do not) work (?:at|for) {ORG}(?: any ?more)?", "employer", "no longer works at"),
        (
            rf"\bI(?:'ve| have)?{' '}?(?:just |recently |finally )?(?:quit|left|resigned from|got fired "
            rf"from|was fired from|was laid off (?:from|by)|got laid off (?:from|by)) (?:my job at |"
            rf"working (?:at|for) )?{ORG}",
            "employer",
            "no longer works at",
        ),
        (
            rf"\b(?:I|[Ww]e) (?:no longer|don't|do not) live in {PLACE}(?: any ?more)?",
            "home_city",
            "no longer lives in",
        ),
        (
            rf"\b(?:I|[Ww]e)(?:'ve| have)?(?: just| recently| finally)? moved (?:out of|away from|from) "
            rf"{PLACE}(?! to\b)",
            "home_city",
            "no longer lives in",
        ),
        (
            r"\bI(?:'ve| have)? ?(?:just |recently |finally )?(?:broke up with|split up with|divorced|"
            r"separated from|left) my "
            r"(?:wife|husband|partner|girlfriend|boyfriend),? (?P<o>[A-Z][\w'-]+)\b",
            "partner",
            "is no longer with",
        ),
        (
            r"^(?P<o>[A-Z][\w'-]+) and I (?:(?:have|just|recently|finally) )*(?:broke up|broken up|split up|separated|"
            r"(?:got |are )?divorced|are (?:no longer|not) together)\b",
            "partner",
            "is no longer with",
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
