"""Sensitive data about a person: the special categories of personal data, as people speak of them.

The categories are those of the General Data Protection Regulation, articles 9 and 10 (health, sex life and orientation,
religion, politics, origin, crime); money is no such category, and is here because people ask for it to be left out.
"""

from __future__ import annotations

import re
from typing import Final

SPECIAL: Final = ("health", "health_elsewhere", "sexuality", "religion", "politics", "origin", "crime")
"""The categories of other people's sensitive data."""


def _words(stems: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{stems})\b", re.IGNORECASE)


_KINDS: Final[dict[str, re.Pattern[str]]] = {
    "health": _words(
        r"health|ill|illness(?:es)?|sick|sickness|disease|diagnos\w+|symptoms?|cancer|tumou?rs?|chemo\w*|leuk[ae]\w+|"
        r"diabet\w+|insulin|asthma\w*|epilep\w+|seizures?|strokes?|heart attacks?|hiv|aids|hepatitis|covid\w*|"
        r"depress(?:ed|ion)|anxiety|bipolar|schizophren\w+|autis\w+|adhd|dementia|alzheimer\w*|parkinson\w*|ptsd|ocd|"
        r"suicid\w+|self-harm|anorexi\w+|bulimi\w+|eating disorder|addict\w*|alcoholi\w+|rehab|sober|overdos\w+|"
        r"pregnan\w+|miscarr\w+|abortion|ivf|infertil\w+|menopaus\w+|surger\w+|operation|hospital\w*|clinic|doctors?|"
        r"psychiatr\w+|psycholog\w+|therap\w+|medicat\w+|medicines?|antidepressants?|prescri\w+|allerg\w+|intoleran\w+|c(?:o?e)liac|anaphyla\w+|diabetic|asthmatic|migraines?|"
        r"lupus|herpes|hpv|chlamydia|syphilis|gonorrh\w+|panic attacks?|burn-?out|nervous breakdown|multiple sclerosis|"
        r"(?!acad|boh)\w{3,}(?:[ae]?emia|itis|opathy|plegia)|(?!hypn|osm|progn|symbi|metamorph)\w{3,}osis|"
        r"(?:carcin|melan|lymph|sarc|gli|myel|glauc|aden|blast)oma|"
        r"kill(?:s|ed|ing)? (?:him|her|them|my)sel(?:f|ves)|(?:take|took|taken) (?:his|her|their|my) own li(?:fe|ves)|"
        r"alcoholics anonymous|(?:goe?s?|going|went) to AA|dr[iau]nks? too much|drinking problem|heroin|cocaine|"
        r"disab\w+|wheelchair|blind|deaf|paraly\w+|transplant|dialysis|blood pressure|cholesterol|injur\w+|medical"
    ),
    "health_elsewhere": _words(
        r"\w*krebs|kanker|c[aá]ncer|nowotw\w+|raka?|tumore?s?|d[eé]press?i\w+|depresj\w+|schwanger\w*|fehlgeburt|enceinte|"
        r"fausse couche|embarazad\w+|gr[aá]vida|zwanger|w ciąży|poroni\w+|s[eé]ropositi\w+|s[iy]da|diab[eéè]t\w+|"
        r"cukrzyc\w+|epileps\w+|padaczk\w+|demen\w+|d[eé]mence|alko?holi\w+|alcooli\w+|alcohólic\w+|krank\w*|malad\w+|"
        r"enferm\w+|malat[oaie]|malatti\w+|doen[tç]\w+|ziek\w*|chor[ay]|chorob\w+|choruj\w+|schizo\w+|autis\w+|psychiatr\w+|psiquiatr\w+|psichiatr\w+"
    ),
    "sexuality": _words(
        r"gay|lesbian|bisexual|homosexual|heterosexual|queer|asexual|pansexual|trans|transgender|nonbinary|non-binary|"
        r"transition(?:ed|ing)|sexual\w*|sex life|sex|closeted|affair|"
        r"(?:came|coming|come) out (?:as|to (?:his|her|their|my|our|me|us|him|them|every\w+|friends|family|people))|"
        r"cheat(?:ed|ing) on|std|sti"
    ),
    "religion": _words(
        r"religio\w+|faith|catholic\w*|protestant|christian\w*|muslims?|islam\w*|jewish|judaism|jews?|hindu\w*|"
        r"buddhis\w+|sikhs?|mormon|jehovah'?s? witness\w*|atheis\w+|agnostic|church|mosque|synagogue|baptis\w+|"
        r"converted|pray(?:s|er|ing)?|ramadan|bar mitzvah|bat mitzvah"
    ),
    "politics": _words(
        r"politic\w+|vot(?:es?|ed|ing) (?:for|against)|republicans?|democrats?|conservatives?|labou?r party|tory|"
        r"tories|socialis\w+|communis\w+|fascis\w+|party member|trade union|union member|left-wing|right-wing|activist"
    ),
    "origin": _words(
        r"ethnic\w*|racial|undocumented|illegal immigrants?|asylum|refugees?|visa status|deport\w+|skin colou?r"
    ),
    "crime": _words(
        r"crim(?:e|es|inal\w*)|stealing|behind bars|(?:did|served) time|"
        r"arrest\w*|convict\w*|prison|jail\w*|parole|probation|felon\w*|felony|theft|stole|"
        r"shoplift\w*|drunk driving|dui|dwi|assault\w*|domestic violence|restraining order|sued|lawsuit|embezzl\w+|"
        r"tax evasion|drug deal\w*|indict\w*|charged with|police record"
    ),
    "money": _words(
        r"money|financ\w+|salar(?:y|ies)|wages?|income|earns?|earned|debts?|loans?|mortgages?|savings?|bank\w*|"
        r"invest\w+|pension|bankrupt\w*|credit|budget\w*|[$€£]\s?\d[\d,.]*\w?|\d[\d,.]* ?(?:dollars|euros|pounds)"
    ),
}
_PLACES: Final = re.compile(
    r"doctors?|hospitals?|clinic|health|medical|psychiatrists?|psychologists?|therapists?|church|mosque|synagogue|"
    r"operation|activist",
    re.IGNORECASE,
)
"""A word of health or belief that tells nobody's: "hospital"."""
_SUBJECT_MATTER: Final = re.compile(
    r" (?:research\w*|scientists?|specialists?|surgeons?|nurses?|professors?|lecturers?|teachers?|stud(?:y|ies)|"
    r"charit\w+|fundrais\w+|awareness|campaign\w*|novels?|books?|films?|series|podcasts?|documentar\w+|museum|insurance)\b",
    re.IGNORECASE,
)
"""Words that make one before them a word of work or of reading: "cancer researcher"."""
_CALLED: Final = {
    name: kind
    for kind, names in {
        "health": "health medical illness illnesses ailment ailments sickness disease diseases diagnosis wellbeing "
        "medicine medication medications meds",
        "sexuality": "sexuality sex orientation gender",
        "religion": "religion faith beliefs religious",
        "politics": "politics political voting",
        "origin": "ethnicity race origin immigration",
        "crime": "crime crimes criminal arrest",
        "money": "money finance finances financial salary wages earnings income savings debt debts",
    }.items()
    for name in names.split()
}


def kind_called(name: str) -> str | None:
    """Return the kind that a topic names, such as health for "my medical history"; None where it names none."""
    return next((_CALLED[word] for word in re.findall(r"[^\W\d_]+", name.lower()) if word in _CALLED), None)


def is_of(kind: str, text: str) -> bool:
    """Return whether a text speaks of a kind of sensitive data."""
    return _KINDS[kind].search(text) is not None


def special_places(text: str) -> tuple[int, ...]:
    """Return where a text speaks of a special category of personal data. That somebody is in a place for it, or is of a
    profession for it, or reads of it, does not count: who meets Ana at the hospital says nothing of Ana's health."""
    return tuple(
        match.start()
        for kind in SPECIAL
        for match in _KINDS[kind].finditer(text)
        if not _PLACES.fullmatch(match[0]) and not _SUBJECT_MATTER.match(text, match.end())
    )
