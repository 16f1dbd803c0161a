"""The dates of a sentence beside its words: in place of a whole adverbial, in brackets after anything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from policies.language.clauses import AUXILIARIES, Tense, clause_of, governor, is_had, is_verb, tense_at
from policies.language.date_grammar import HOLIDAY, MONTH
from policies.language.dates import Looks, When, find_dates
from policies.language.habits import ON_ITS_DAY, is_habit
from policies.language.parse import Parsed
from policies.language.sentences import words
from policies.language.spans import MONTHS, Span, shifted

_LOOKS_OF: Final = {
    Tense.PAST: Looks.BACK,
    Tense.PERFECT: Looks.EITHER,
    Tense.PRESENT: Looks.AHEAD,
    Tense.FUTURE: Looks.AHEAD,
    Tense.NONE: Looks.UNKNOWN,
}
_AHEAD: Final = words(
    "due effective starting beginning moving leaving joining flying travelling traveling coming returning heading by "
    "starts begins ends opens closes next"
)
_ARRANGED: Final = words(
    "signed booked rebooked registered scheduled reserved planned arranged rearranged moved postponed rescheduled "
    "pushed delayed extended changed put set confirmed approved accepted enrolled enroled entered"
)
_SHIFTS: Final = words("moved changed pushed postponed delayed extended")
"""Verbs of shifting: the day behind them is the one that a thing is shifted to; the day on which it was done is
past."""
_GRANTS: Final = words("gave give gives giving given granted allowed offered")
"""Verbs of giving: a day that is given is to come, and so is one until which something is."""
_CALLS: Final = words("invited called offered got given booked")
"""Verbs of being given or called to something that is on its day: "invited me to an interview on July 9th"."""
_OBTAINS: Final = words("got accepted found rented signed landed")
"""Verbs of what one has from a day on: "he got a place in Odense from September"."""
_NAMES: Final = words("called named nicknamed")
_BACK: Final = frozenset({"since", "ago", "back"})
_WHOLE: Final = frozenset(
    {"npadvmod", "advmod", "pobj", "tmod", "ROOT", "dep", "attr", "nsubj", "pcomp", "dobj", "oprd"}
)
_PARTS_OF_NOUN: Final = frozenset({"compound", "amod", "nmod", "poss", "nummod", "appos"})
_FOR_SO_LONG = re.compile(
    r"\bfor (?:about |around |over |almost |nearly |like )?(?:the (?:last|past) )?"
    r"(?P<n>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty) "
    r"(?P<unit>years?|months?)\b(?! from| old)"
)
"""For how long something has been so: "for about 3 years", "for the last month"."""
_MONTH: Final = re.compile(MONTH, re.IGNORECASE)
"""A month: "March"."""
_HOLIDAY: Final = re.compile(rf"(?:(?:this past|last|this coming|this|next) )?{HOLIDAY}", re.IGNORECASE)
"""A day with a name, which says more than its date: "Christmas Eve"."""
_COUNTS_DOWN: Final = re.compile(r"[\w ]{1,24}\b(?:day|week|month)s? (?:to go )?(?:till|until)\b", re.IGNORECASE)
"""How long it is until a day: "two weeks until the exam"."""
_ORDINAL: Final = re.compile(r"(?:the )?\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
"""A number that may be a day of the month or the place in a row: "the 4th"."""
_COUNTED: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Note:
    """A note beside the words from `start` to `end` (characters): in their place if they are a `whole`
    adverbial, which begins at `lead` with its preposition, else in brackets after them; nothing if `text` is "",
    because the words say it all."""

    start: int
    end: int
    lead: int
    text: str
    preposition: str
    whole: bool
    when: When | None


def offsets_of(parsed: Parsed) -> list[int]:
    """Return where each word of a sentence begins, in characters."""
    places, at = [], 0
    for token in parsed.tokens:
        places.append(at)
        at += len(token.text) + token.space
    return places


def looks_of(parsed: Parsed, index: int) -> Looks:
    """Return where the clause of a word looks: what is arranged, due or begins on a day lies ahead of who
    speaks of it."""
    tokens = parsed.tokens
    if is_verb(tokens[index]):  # the parser took "sept" for one
        return Looks.UNKNOWN
    verb, path, at = governor(parsed, index), {tokens[index].lower}, index
    told_at = index
    if verb is not None and tokens[verb].lower in _NAMES and tokens[verb].dep == "acl":
        verb = told_at = governor(parsed, tokens[verb].head) or verb  # "She marries a lad called Tyler on 29 August".
    while at != verb and tokens[at].head != at:
        at = tokens[at].head
        path.add(tokens[at].lower)
    spliced = _before_comma(parsed, index, verb)
    if spliced is not None:
        verb, path = spliced, path | {tokens[spliced].lower}
    before = tokens[index - 1] if index else None
    # "Up from 70 in June" was then; "down to four days from June" begins then.
    begins = before is not None and before.lower == "from" and tokens[index - 2].lower not in ("up", "down")
    rose = path & {"from"} and not begins and any(token.lower in ("up", "down") for token in tokens[:index])
    if rose or (before is not None and before.lower in _BACK):
        return Looks.BACK
    # "Ten years come June", "I got a surgery set for March tenth", "we have tickets for 3 May".
    is_to_come = before is not None and (
        before.lower == "come" or (before.lower == "for" and (path & _ARRANGED or _is_for_a_day(parsed, index)))
    )
    # "Going to days from November, they said yes".
    goes_from = begins and verb == 0 and tokens[verb].tag == "VBG"
    limit = tokens[index - 2] if before is not None and before.lower == "the" and index > 1 else before
    is_limit = limit is not None and limit.lower in ("by", "until", "till")
    is_limit = is_limit and limit is not None and (_holds(parsed, verb) or limit.head != verb)
    if path & _AHEAD or is_to_come or goes_from or is_limit:
        return Looks.AHEAD
    if verb is not None and any(token.text == ":" for token in tokens[verb:index]):
        return Looks.UNKNOWN  # "I found a way out: the half in Kilkenny in September".
    by_verb = None if verb is None else _looks_by_verb(parsed, index, verb)
    return by_verb or _LOOKS_OF[tense_at(parsed, told_at if spliced is None else spliced)]


def _looks_by_verb(parsed: Parsed, index: int, verb: int) -> Looks | None:
    """Return where a clause looks that tells what had been planned or what is arranged; None of any other."""
    tokens = parsed.tokens
    if _is_past_perfect(parsed, verb):
        return Looks.BACK
    if _is_put_to(parsed, index, verb) or _is_granted(parsed, index, verb) or _is_called_for(parsed, index, verb):
        return Looks.AHEAD
    # "Booked the ferry, sailing 3 July".
    if tokens[verb].tag == "VBG" and tokens[tokens[verb].head].lower in _ARRANGED:
        return Looks.AHEAD
    if tokens[verb].lower not in _ARRANGED or _moved_oneself(parsed, verb):
        return None
    attached = tokens[index].head
    # "Moved the interview a week later, July 15" names the new day as "to July 15" does.
    later = any(tokens[child].lower in ("later", "earlier") for child in parsed.children(verb))
    if tokens[attached].lower in ("to", "until", "till", "from", "for") or tokens[attached].head != verb or later:
        return Looks.AHEAD
    return None if tokens[verb].lower in _SHIFTS else Looks.EITHER


def _is_put_to(parsed: Parsed, index: int, verb: int) -> bool:
    """Return whether a thing is put to a day, whatever the verb: "they bumped my surgery to June 2nd", "the exam
    slipped to May". What reaches from one day to another, or up to one, is not."""
    tokens = parsed.tokens
    lead = [token.lower for token in tokens[verb + 1 : index]]
    while lead and (lead[-1] in ("the", "of") or lead[-1][0].isdigit()):
        lead.pop()
    if lead[-1:] != ["to"] or {"from", "up"} & set(lead):
        return False
    subject = clause_of(parsed, verb).subject
    takes = any(tokens[child].dep in ("dobj", "nsubjpass") for child in parsed.children(verb))
    return takes or (subject is not None and tokens[subject].tag in ("NN", "NNS"))


def _is_granted(parsed: Parsed, index: int, verb: int) -> bool:
    """Return whether a day is what somebody is given, until when, or from when on they have what they got: "they gave
    me 3 June", "gave us until May", "got a job from May"."""
    tokens, at, joints = parsed.tokens, index, list[str]()
    while at != verb and tokens[at].head != at:
        at = tokens[at].head
        joints += [tokens[at].lower] if tokens[at].tag == "IN" else []
    if tokens[verb].lower in _OBTAINS:
        return joints == ["from"]
    return tokens[verb].lower in _GRANTS and joints in ([], ["until"], ["till"])


def _is_called_for(parsed: Parsed, index: int, verb: int) -> bool:
    """Return whether a day is that of an appointment to which somebody is called, or which they are given: "an
    interview on July 9th"."""
    before = [token for token in parsed.tokens[verb:index] if token.lower != "the"]
    is_on = len(before) > 2 and before[-1].lower in ("on", "in", "at") and before[-2].lower in ON_ITS_DAY
    return is_on and parsed.tokens[verb].lower in _CALLS


def _is_for_a_day(parsed: Parsed, index: int) -> bool:
    """Return whether what stands behind "for" is a day for which there is a thing: "a slot for Monday", "got tickets
    for 3 May"; not a month, whose bill may have come long ago."""
    tokens, head = parsed.tokens, parsed.tokens[index - 1].head
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    is_day_named = following is not None and (following.tag == "CD" or following.text[:1].isdigit())
    if _MONTH.fullmatch(tokens[index].text) and not is_day_named:
        return False
    return tokens[head].tag.startswith("NN") or any(tokens[child].dep == "dobj" for child in parsed.children(head))


def _is_past_perfect(parsed: Parsed, verb: int) -> bool:
    """Return whether a verb, or the one on which it hangs, tells what had been so: "we had planned to go in August"."""
    tokens = parsed.tokens
    while tokens[verb].dep == "xcomp" and tokens[verb].head != verb:
        verb = tokens[verb].head
    helpers = (child for child in parsed.children(verb) if tokens[child].dep == "aux")
    return any(tokens[child].lower == "had" or is_had(parsed, child) for child in helpers)


def _before_comma(parsed: Parsed, index: int, verb: int | None) -> int | None:
    """Return the verb of a clause that a comma ends behind a word which the parser gave to the next clause: "we're
    moving in September, Avi got the job"."""
    subject = None if verb is None or verb < index else clause_of(parsed, verb).subject
    if subject is None or all(token.text != "," for token in parsed.tokens[index:subject]):
        return None
    verbs = (i for i in range(index) if is_verb(parsed.tokens[i]) and parsed.tokens[i].dep not in AUXILIARIES)
    return max(verbs, default=None)


def _moved_oneself(parsed: Parsed, verb: int) -> bool:
    """Return whether somebody did something with nobody but themself: "we moved to Berlin on Thursday"."""
    subject = clause_of(parsed, verb).subject
    if subject is None or parsed.tokens[verb].lower not in _SHIFTS:
        return False
    takes = any(parsed.tokens[child].dep in ("dobj", "nsubjpass", "prt") for child in parsed.children(verb))
    who = parsed.tokens[subject]
    return not takes and who.tag in ("PRP", "NNP") and who.lower != "it"


def _holds(parsed: Parsed, verb: int | None) -> bool:
    return verb is None or clause_of(parsed, verb).tense is not Tense.PAST


def notes_of(parsed: Parsed, text: str, moment: datetime, earlier: Span | None = None) -> tuple[Note, ...]:
    """Return the dates of a sentence and how each is to be written. `text` is that of `parsed`, `earlier` the last date
    that was named before it."""
    starts = offsets_of(parsed)

    def token_at(offset: int) -> int:
        return max((i for i, begin in enumerate(starts) if begin <= offset), default=0)

    def looks(offset: int) -> Looks:
        return looks_of(parsed, token_at(offset)) if parsed.tokens else Looks.UNKNOWN

    notes: list[Note] = []
    for when in find_dates(text, moment, looks, earlier):
        if when.span.granularity == "year" and any(when.span.text in note.text for note in notes):
            continue
        first, last = token_at(when.start), token_at(max(when.start, when.end - 1))
        if _ORDINAL.fullmatch(text[when.start : when.end]) and _counts(parsed, last):
            continue
        if parsed.tokens and is_habit(parsed, first, last):
            continue
        says_more = _HOLIDAY.match(text, when.start) or _COUNTS_DOWN.match(text, when.start)
        whole = _is_whole(parsed, first, last) and not says_more
        has_year = str(when.span.first.year) in text[when.start : when.end]
        notes.append(
            Note(
                when.start, when.end, when.lead, "" if has_year else when.span.text, when.span.preposition, whole, when
            )
        )
    if since := _since(parsed, text, moment, token_at):
        notes.append(since)
    return tuple(sorted(notes, key=lambda note: note.start))


def _counts(parsed: Parsed, index: int) -> bool:
    """Return whether an ordinal says which of several things is meant: "the 4th quarter"."""
    token = parsed.tokens[index]
    apart = any(between.text == "," for between in parsed.tokens[index : token.head])  # "the 14th, same time"
    is_part = token.dep in _PARTS_OF_NOUN and token.head > index and not apart
    return is_part and parsed.tokens[token.head].tag.startswith("NN")


def _since(parsed: Parsed, text: str, moment: datetime, token_at: Callable[[int], int]) -> Note | None:
    match = _FOR_SO_LONG.search(text)
    if match is None or tense_at(parsed, token_at(match.start())) is not Tense.PERFECT:
        return None
    word = match["n"].lower()
    count = int(word) if word.isdigit() else _COUNTED[word]
    if match["unit"].startswith("year"):
        since = str(max(1, moment.year - count))
    else:
        year, month = shifted(moment.date(), -count)
        since = f"{MONTHS[month - 1]} {year}"
    return Note(match.start(), match.end(), match.start(), f"since about {since}", "", False, None)


def _is_whole(parsed: Parsed, first: int, last: int) -> bool:
    """Return whether the words from `first` to `last` are all of an adverbial, and no part of another phrase."""
    tokens = parsed.tokens
    inside = range(first, last + 1)
    heads = [i for i in inside if tokens[i].head not in inside or tokens[i].head == i]
    if len(heads) != 1 or tokens[heads[0]].dep in _PARTS_OF_NOUN:
        return False
    after = tokens[last + 1] if last + 1 < len(tokens) else None
    if after is not None and after.tag == "POS":
        return False
    outside = [c for c in parsed.children(heads[0]) if c not in inside and tokens[c].tag not in (".", ",", ":", "IN")]
    before = tokens[first - 1] if first else None
    determined = before is not None and before.tag in ("PRP$", "DT", "JJ", "NN", "POS", "CD") and before.head in inside
    return not outside and not determined


def with_notes(text: str, notes: Sequence[Note], moved: Mapping[int, int] | None = None) -> str:
    """Return the words letter by letter, with each date in brackets after its own. `moved` says where a place of the
    text that was parsed stands in this one."""
    pieces: list[str] = []
    at = 0
    for note in notes:
        end = moved.get(note.end, note.end) if moved is not None else note.end
        if not note.text or end < at or end > len(text) or note.text.lower() in text.lower():
            continue
        pieces += (text[at:end], f" [{note.text}]")
        at = end
    return "".join((*pieces, text[at:]))
