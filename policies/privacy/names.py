"""Names of people in a sentence, whole, with the parse and where it fails: in small letters, with particles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Final

from policies.language.discourse_markers import INTERJECTIONS
from policies.language.languages import ENGLISH, language_of
from policies.language.lexicon import word_set
from policies.language.people import KIN
from policies.privacy.sensitive import SPECIAL, is_of

_PARTICLE: Final = (
    r"(?:van der|van den|van de|van|von der|von|vom|zu|zum|de la|de las|de los|de|del|della|degli|di|da|dos|das|du|bin|"
    r"bint|binti|ibn|abu|al|el|ter|ten|mac|mc|san|st\.?|y|e|af|av|wa|ole)"
)
_CAPITAL: Final = r"[^\W\d_a-zß-öø-ÿ](?:[’'][^\W\d_])?[\w’]{0,24}(?:'(?!s\b)\w{1,24})?"
_PART: Final = rf"(?:{_CAPITAL}(?:-(?:{_PARTICLE}-)?\w{{1,24}})*)"
_NICK: Final = r"(?: [\"“'‘(][^\W\d_]\w{1,24}[\"”'’)])?"
_RUN: Final = re.compile(rf"(?<![\w’'-]){_PART}{_NICK}(?:[ ](?:{_PARTICLE}[ -])?{_PART}){{0,4}}")
"""A name in capitals, with its particles: "Anna van Dijk"."""
_LOWER: Final = r"[^\W\d_]\w{0,24}(?:[’'](?!s\b)\w{1,24})?(?:-\w{1,24}){0,3}"
_HANDLE: Final = re.compile(r"(?<![\w.])@[^\W_][\w.-]{1,38}\w")
"""A handle, by which somebody is called where people write: "@bigjoe92"."""
_LEAD_CHARS: Final = 32
_LED: Final = re.compile(
    r"(?:\b[^\W\d_a-zß-öø-ÿ]\.[ -]?|\b(?!(?:y|e|al|el|de|da|di|du|das|zu|zum|dos)\s)" + _PARTICLE + r"\s)+\Z"
)
"""Initials and particles before the rest of a name: "J.R. "."""
_AFTER_KIN: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(KIN, key=len, reverse=True))}|sister-in-law|brother-in-law|mother-in-law|father-in-law|"
    rf"colleagues?|cousins?|neighbou?rs?)(?:,? (?:is |was )?(?:named|called)|,)? "
    rf"(?P<name>{_LOWER}\.?(?: {_LOWER}){{0,3}})",
    re.IGNORECASE,
)
"""A name behind what somebody is to the speaker: "my cousin, jonas"."""
_PREDICATE: Final = (
    r"(?:(?:has|have|had|is|was|were|are|got|gets|suffers|suffered|tested|came|converted|voted|died|takes|needs|went|can|can['’]?t|cannot|could|must|should|may|will|won['’]t|isn['’]t|hasn['’]t|"
    r"survived|caught|contracted|miscarried|overdosed|did|served|relapsed|attempted|beat|joined|stole|prays|lost|fights|recovered)\b|['’]s\b)"
)
_PREDICATE_ELSEWHERE: Final = (
    r"(?:hat|hatte|ist|war|wird|wurde|bekam|a (?:eu|un|une|le|la|des)|"
    r"est|était|tiene|tuvo|está|es|ha|è|tem|teve|heeft|had|kreeg|ma|miał\w*|"
    r"jest|był\w*)\b"
)
"""The same in German, French, Spanish, Italian, Portuguese, Dutch and Polish: "hat"."""
_DONE_TO: Final = re.compile(
    r"\b(?:dr[io]ves?|driven|takes?|took|brings?|brought|accompan\w+|help(?:s|ed)?|told|tells|call(?:s|ed)|support(?:s|ed)|"
    r"met|meets|walk(?:s|ed)|nurse[sd]|guide[sd]) \Z"
)
"""Before somebody to whom something is done: "drove "."""
_TO: Final = re.compile(r" (?:to|from|through|into|at|after|during|that)\b")
"""Behind them, where, when or what: " to"."""
_SUBJECT: Final = re.compile(
    rf"(?:\A[\"“'\s]*|\b(?:that|because|when|since|and|but|if|while|says?|thinks?|whether|how|of|about)[ :]+|"
    rf"[,:;.][\"“]?\s+)"
    rf"(?P<name>{_LOWER}(?: {_LOWER}){{0,4}}) ?{_PREDICATE}(?P<rest>[^,;.!?]{{0,48}})",
    re.IGNORECASE,
)
"""A name of whom something is said: "jonas has cancer"."""
_OWNER: Final = re.compile(rf"(?<![\w’'-])(?P<name>{_LOWER}(?: {_LOWER}){{0,3}})['’]s (?P<rest>[^,;.!?]{{0,32}})")
"""A name of whose something is: "jonas's diagnosis"."""
_OF_KIN: Final = re.compile(rf",? (?:my|our|[\w]+['’]s) (?:[\w-]+ )?(?:{'|'.join(sorted(KIN))})\b", re.IGNORECASE)
"""The words after a name that say whose somebody is: "Karin, Maya's sister"."""
_TITLED: Final = re.compile(r"(?:mr|mrs|ms|dr|miss|prof|sir|old|young|poor|dear)\.?\Z", re.IGNORECASE)
"""Titles, which stand before a name and are no part of it: "dr", "poor"."""
_THIRD_PERSON: Final = re.compile(r" [a-z]{2,24}(?:s|ed)\b")
"""A verb of somebody else behind their name: " wears"."""
_SOMEWHERE: Final = r"(?:from|at|in|over|down|next) "
_FIRST_PERSON: Final = re.compile(r"\b(?:I|me|my|we|our|us|[Tt]he user)\b")
"""Whoever speaks, or the user: what follows may be theirs: "my"."""
_PREDICATIVE: Final = r"\b(?:is|are|am|was|were|be|been|an?|the|as|to|into|becomes?|became|practi[cs]ing|devout) "
"""Before what somebody is: "is "."""
_ARTICLE: Final = re.compile(r"\b(?:the|an?) \Z", re.IGNORECASE)
"""Before a thing, and no person: "an "."""
_IS_PLACED: Final = re.compile(r"(?:\b(?P<of>[\w'’-]{1,24}) )?\b[Ii]n \Z")
"""Before a place: "I paint in "."""
_IN_SOMEBODY: Final = word_set(
    """believe believes believed faith interest interested trust trusts trusted confide confides confided confidence
    disappointed love found find seen diagnosed detected discovered observed confirmed suspected spread
    caused triggered"""
)
"""Words before "in" with which it may be somebody: "I believe in "."""
_FORMAL: Final = re.compile(r"(?:Mr|Mrs|Ms|Dr|Miss|Prof)\b\.? ")
"""A title of nobody but a person: "Mr Hollis"."""
_CALENDAR: Final = word_set(
    """january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday christmas easter spring summer autumn winter today tomorrow yesterday tonight"""
)
_FUNCTION: Final = word_set(
    """the a an he she it they we i you him them us me this that these those there here who whom whose which what my our
    his her their its your and but or so if when while after before because since last next everyone everybody someone
    somebody anyone nobody person people yes no now then also one two three all both each some any many most few other
    another never always not still just only even very really recently already once again maybe perhaps please
    remember note hello hi in on at to of for from with by about into over under between during through without against
    around near as than like up down out off until till is was are were be been being am has have had do does did will
    would can could may might must shall should got gets get as too dr mr mrs ms prof sir madam how where why both
    either neither whether apparently sadly unfortunately luckily"""
)
_OF_SPEAKER: Final = word_set("im i'm ive i've id i'd")
"""How one speaks of oneself: "im veggie got nut allergy"."""
_VERBS: Final = word_set(
    """called visited moved helped worked lived wanted needed asked started stopped tried used talked looked loved hated
    starts begins began stops ends ended finishes finished
    liked died passed told said says say thinks thought knows knew went goes came comes lost took takes made makes found
    gave gives left works lives wants needs suffers suffered tested converted voted suspects believes hopes worries
    struggles struggled fights fought beat survived recovered relapsed became becomes keeps kept feels felt looks seems
    drinks drank smokes smoked
    runs ran drives drove cares cared turned visits helps owns bought sold cooks plays played stays stayed has'nt
    saw sees met meets brought brings paid pays sent sends wrote writes heard hears spoke speaks married marries
    hit hits fell falls broke breaks ate eats slept sleeps wore wears showed shows hugged fed feeds held holds
    was diagnosed arrested convicted admitted hospitalized hospitalised treated pregnant sick ill"""
)
_NOUNS: Final = word_set(
    """group member members house home place family families job team school class company work office doctor nurse
    therapist boss lawyer car dog cat day week month year morning evening night time life story health person mother
    father mom dad mum baby everything something nothing things god work exercise swimming running yoga coffee sugar
    stress food sleep meditation medicine medication surgery treatment therapy news weather test tests results result
    diagnosis condition disease blood heart back knee insurance country government world society history research study
    science party church hospital clinic physio physiotherapy rehab chemo radiotherapy dialysis scan mri ultrasound
    biopsy checkup cast plaster stitches brace braces splint sling crutches drain pacemaker implant
    dentist dentistry orthodontics cardiology dermatology oncology tv pc lgbt lgbtq cooking writing
    reading painting hiking gaming dancing"""
)
_CONTRACTED: Final = re.compile(r"['’](?:m|ve|d|ll|re|s|t)\Z")
"""A verb grown to the end of a word: "I'm", "Tom's"."""
_NEGATED: Final = re.compile(r"n['’]t\Z", re.IGNORECASE)
"""A verb that is denied: "doesn't"."""
_ADVERBIAL: Final = re.compile(r"\w{3,}ly\Z")
"""An adverb, which no name is: "sadly"."""
NO_NAMES: Final = SimpleNamespace(
    kin=KIN | word_set("colleagues cousins neighbours neighbors"), all=_FUNCTION | _VERBS | _NOUNS | INTERJECTIONS
)


def without_lead(text: str) -> str:
    """Return what stands before the rest of a name without what leads that: initials and particles."""
    tail = text[-_LEAD_CHARS:]
    return text[: len(text) - len(tail)] + _LED.sub("", tail)


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name that tell whose it is: no particle, no initial, no word of every day."""
    words = (part.strip(".'’\"“”()") for part in re.split(r"[\s-]+", name))
    return tuple(part for part in words if len(part) > 2 and not _is_particle(part) and part.lower() not in _FUNCTION)


def names_in(sentence: str, people: Sequence[str], things: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """Return the names of others in a sentence, each whole. `people` and `things` are what a parse took for names of
    people and of anything else; `own` are the user's."""
    mine = {name.lower() for name in own}
    names: dict[str, None] = {}
    for name, run in capitals_in(sentence):
        if _may_be_person(name, sentence, run, people, things):
            names[name] = None
    if language_of(sentence) == ENGLISH:
        named = [match["name"] for match in (*_relatives(sentence), *_subjects(sentence))]
        for words in (*named, *_owners(sentence)):
            if name := _until_no_name(words):
                names[name] = None
    for name in (*map(_without_kin, people), *handles_in(sentence)):
        if name in sentence:
            names[name] = None
    return tuple(
        name
        for name in names
        if not _is_own(name, mine)
        and _tells_somebody(name)
        and not _is_said_of_somebody(name, sentence)
        and not _is_a_place(name, sentence)
    )


def capitals_in(sentence: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield what may be a name by its capital letters, without what stands before it, and the words it stands in;
    nothing where all is in capitals."""
    if sentence.upper() != sentence:
        for run in _RUN.finditer(sentence):
            before = sentence[: run.start()]
            at_start = not before.strip("\"“' ") or before.endswith(('"', "“"))
            for name in _of_run(run[0], at_start=at_start):
                yield name, run


def _is_said_of_somebody(name: str, sentence: str) -> bool:
    """Return whether what looks like a name is what somebody is: "is Sikh", "converted to Islam"."""
    return is_sensitive(name) and re.search(rf"{_PREDICATIVE}{re.escape(name)}(?!\w)", sentence) is not None


def _is_a_place(name: str, sentence: str) -> bool:
    """Return whether something is always said to be "in" what looks like a name, which nobody says of a person."""
    found = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)(?P<owns>['’]s)?", sentence))
    before = [(_IS_PLACED.search(sentence[: at.start()]), at["owns"]) for at in found]
    return bool(found) and all(
        placed and not owns and (placed["of"] or "").lower() not in _IN_SOMEBODY for placed, owns in before
    )


def may_be_subject(after: str) -> bool:
    """Return whether what stands behind a word that begins a sentence may be told of somebody called so: "Karin, my
    cousin", "Yosef stopped", "Bea's gone"."""
    following = after[:_LEAD_CHARS].split(" ")[1:2]
    shape = rf"['’]s\b|,| (?:and|&) {_CAPITAL}| {_PREDICATE}|{_THIRD_PERSON.pattern}| {_SOMEWHERE}"
    return re.match(shape, after) is not None or (bool(following) and following[0].lower() in _VERBS)


def handles_in(sentence: str) -> list[str]:
    """Return what people are called where they write: "@bigjoe92"."""
    return _HANDLE.findall(sentence)


def _without_kin(name: str) -> str:
    """Return a name without what its bearer is to somebody: "roomie Kai" is Kai."""
    words = name.split(" ")
    while len(words) > 1 and words[0].lower() in KIN:
        words = words[1:]
    return " ".join(words)


def _of_run(run: str, *, at_start: bool) -> Iterator[str]:
    """Yield the name in words with capital letters, without what stands before it: "Yesterday Karin", "Dr Lopes"."""
    words = run.split(" ")
    if any(part.lower() in _NOUNS for part in words[1:]):
        return
    while words and (is_no_name(words[0]) or words[0].lower().strip(".") in KIN):
        words = words[1:]
    while words and (is_no_name(words[-1]) or _is_particle(words[-1])):
        words = words[:-1]
    if words and not (at_start and len(words) == 1 and _ADVERBIAL.search(words[0].lower())):
        yield " ".join(words).removesuffix("'s").removesuffix("’s")


def _may_be_person(name: str, sentence: str, run: re.Match[str], people: Sequence[str], things: Sequence[str]) -> bool:
    after = sentence[run.end() :]
    if any(person in name or name in person for person in people) or _is_shown_a_person(sentence, run):
        return True
    if _ARTICLE.search(sentence[: run.start()]) and not name.endswith("s"):
        return False
    if any(name in thing or thing in name for thing in things) or is_sensitive(name):
        return False
    if language_of(sentence) != ENGLISH:
        return re.match(rf"(?: {_PREDICATE_ELSEWHERE}|(?:['’]s)? ?{_PREDICATE})", after) is not None
    is_inside = bool(sentence[: run.start()].strip("\"“' ") or " " in name or "-" in name)
    if is_inside or (_THIRD_PERSON.match(after) and not _FIRST_PERSON.search(sentence)):
        return True
    # A word that begins its sentence is a name where it is or has something.
    return (
        re.match(
            rf"(?:['’]s)?,? ?{_PREDICATE}| {_PREDICATE_ELSEWHERE}|, (?:an?|the|our)\b| (?:and|&) {_CAPITAL}", after
        )
        is not None
    )


def _is_shown_a_person(sentence: str, run: re.Match[str]) -> bool:
    """Return whether what stands around a name is said of people alone, whatever a parse took it for."""
    before, after = sentence[: run.start()], sentence[run.end() :]
    is_done_to = _DONE_TO.search(before) is not None and _TO.match(after) is not None
    return is_done_to or _FORMAL.match(run[0]) is not None or _OF_KIN.match(after) is not None


def _relatives(sentence: str) -> Iterator[re.Match[str]]:
    """Yield whoever is named behind what they are to somebody: "aunt rosa and uncle ben"."""
    at = 0
    while match := _AFTER_KIN.search(sentence, at):
        at = match.start("name")
        yield match


def _subjects(sentence: str) -> Iterator[re.Match[str]]:
    """Yield whoever is, has or did something sensitive, in whatever letters."""
    at = 0
    while match := _SUBJECT.search(sentence, at):
        at = match.start() + 1
        name = match["name"]
        if is_sensitive(match["rest"]) and not is_sensitive(name) and not _is_noun(name) and _is_all_one(name):
            yield match


def _is_all_one(words: str) -> bool:
    """Return whether no other name follows the one that words begin with: "jonas, sadly", not "best mate Gaz"."""
    behind = words.removeprefix(_until_no_name(words)).split()
    return all(is_no_name(word) or word.lower() in KIN or _ADVERBIAL.search(word) for word in behind)


def _owners(sentence: str) -> Iterator[str]:
    """Yield whose illness, faith or deed it is: "rosa" of "sew again after rosa's stroke"."""
    for match in _OWNER.finditer(sentence):
        if is_sensitive(match["rest"]) and not _is_noun(match["name"]):
            words = match["name"].split(" ")
            last = max((place for place, word in enumerate(words[:-1]) if is_no_name(word)), default=-1)
            yield " ".join(words[last + 1 :])


def _is_noun(words: str) -> bool:
    """Return whether words begin or end like a phrase about no name: "the doctor", "my sister", "kids"."""
    first, last = words.lower().split(" ")[0], words.lower().split(" ")[-1]
    return first in _FUNCTION | _OF_SPEAKER or last in _FUNCTION | _NOUNS | KIN or last in _CALENDAR


def _until_no_name(words: str) -> str:
    """Return the words of a name up to the first that is none; nothing where the first is none."""
    kept_words: list[str] = []
    remaining = words.split(" ")
    while remaining and _TITLED.match(remaining[0]):
        remaining = remaining[1:]
    for part in remaining:
        is_smaller = bool(kept_words) and kept_words[0][0].isupper() and part[0].islower() and not _is_particle(part)
        if is_smaller or is_no_name(part) or part.lower() in KIN or _ADVERBIAL.search(part) or is_sensitive(part):
            break
        kept_words.append(part)
    while kept_words and _is_particle(kept_words[-1]):
        kept_words.pop()
    return " ".join(kept_words)


def is_no_name(word: str) -> bool:
    """Return whether a word is one of every day: a verb, a month, a word of grammar."""
    bare = _CONTRACTED.sub("", word.lower().strip('.,:;!?"“”()'))
    return (
        _NEGATED.search(word) is not None
        or bare in NO_NAMES.all
        or bare in _CALENDAR
        or bare.removesuffix("s") in _CALENDAR
    )


def _is_particle(word: str) -> bool:
    return re.fullmatch(_PARTICLE, word.lower()) is not None


def is_sensitive(text: str) -> bool:
    """Return whether a text speaks of a special category of personal data."""
    return any(is_of(kind, text) for kind in SPECIAL)


def _is_own(name: str, mine: set[str]) -> bool:
    return name.lower() in mine or all(part.lower() in mine for part in words_of(name) or (name,))


def _tells_somebody(name: str) -> bool:
    return bool(words_of(name)) or len(name) > 1
