"""Orders of a user to their memory: remember, remind, forget, pin, keep private, stop, and the rest.

Forms of the table (`intents`) give an order where they begin a clause of the user's own words; the head is the second
opinion, and finds those that no form has. What stands in quotation marks, in pasted text, after a task's colon or in
another's mouth gives no order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from policies.language.heads import Judgement, judge
from policies.language.intents import Forms, forms_of
from policies.language.languages import language_of
from policies.language.life_topics import says_whole
from policies.language.reported_speech import (
    Place,
    asks_for_writing,
    given_places,
    is_attributed,
    reported_places,
    speaks_again,
)
from policies.language.sentences import Sentence, prose_of, split_sentences
from policies.language.told_before import points_back, told_before

MAX_CHARS: Final = 16_000
DESTRUCTIVE: Final = frozenset({"forget", "stop", "resume"})
"""Orders that take something away or change consent: in doubt they ask."""
_BARE: Final = frozenset({"style", "call_me", "never_mention", "stop", "resume", "unpin"})
"""Orders that tell nothing of the user beside what they want."""
_OF_A_THING: Final = frozenset({"forget", "remember", "never_mention", "stop", "resume", "unpin"})
_OF_A_CLAIM: Final = frozenset({"remember", "remind"})
_AGREES: Final = 0.25
_SURELY_AGREES: Final = 0.5
_HEAD_ALONE: Final = 0.75
"""From there on nine in ten of what it finds of authors who were held out are orders."""
_SURER_ALONE: Final = 0.85
"""More for what tasks and plain statements look like."""
_TELLS: Final = 0.5
"""How likely a sentence is worth a memory from which it tells something."""
_ALONE: Final = {"remember": _SURER_ALONE, "style": _SURER_ALONE}
_SURELY: Final = 0.9
"""From there on an order is believed though it reads as if it told something of the user, or as if it may be a task."""
_NOT_OWN: Final = frozenset({"task", "fiction", "quoted", "reported"})
_NOT_OWN_SURE: Final = 0.6
_PLANTED: Final = 0.5
_LONGEST_LEAD: Final = 5
"""How many words may lead up to a colon, behind which stands what an order is about."""
_LINE_CHARS: Final = 200
_MOST_COLONS: Final = 20
_HIDDEN: Final = "_"

_QUOTED: Final = re.compile(
    r"\"[^\"\n]{1,2000}(?:\"|\Z)|“[^”]{1,2000}(?:”|\Z)|«[^»]{1,2000}»|„[^“”\"]{1,2000}[“”\"]|「[^」]{1,2000}」|(?<!\w)'\S[^'\n]{1,400}'(?!\w)"
)
"""A quotation, to the end where its mark is missing: "she said “forget my job”"."""
_COLON: Final = re.compile(r"[:：](?=\s|[^\W\d])")
"""A colon after which something is said, none inside a time: "write this: hello"."""
_BOUNDARY: Final = re.compile(
    r"[,;，。；！？]\s*|\s[–—-]\s+|:\s+|：|\s+(?=(?:and|but|so|then|y|pero|und|aber|et|mais|ale)\s)", re.IGNORECASE
)
"""Where a clause of an order may begin or end: "I quit, so forget my job"."""
_TAG_QUESTION: Final = re.compile(
    r"(?:,\s*[^\W\d_]+(?:\s[^\W\d_]+)?|"
    r"\s(?:yeah|yes|ok|okay|k|right|alright|please|pls|plz|(?:will|would|could|can) you))\s?[?？]\Z",
    re.IGNORECASE,
)
"""Tags that make no question of an order: ", capisce?", "forget my job, would you?"."""
_PRONOUN: Final = re.compile(r"\b(?:it|this|that|them|those|these)\b", re.IGNORECASE)
"""A pronoun that may be all that is named: "wipe it"."""
_NAMED: Final = re.compile(
    r"\b(?i:my|our|his|her|their|the|all|everything|anything|nothing|about|of)\s+[\w'-]+|"
    r"\b(?i:this|that|those|these)\s+"
    r"(?!(?:from|in|out|off|on|at|isn|is|was|anymore|any|please|to|for|now|then)\b)[\w-]+|"
    r"(?<=[\w,] )[A-Z][\w'-]+",
)
"""A thing that is named, by a possessive, an article or its name: "remove my age, it is old"."""
_JOINED: Final = re.compile(r"(?:and|so|then|y|und|et)\s", re.IGNORECASE)
"""A clause that is joined to the one before it: "and forget my job"."""


@dataclass(frozen=True, slots=True)
class Order:
    """One order and what it is about.

    `object_text` is in the user's words, "" where `reaches_back` says that it is about what was just said, or where
    `scope` is "all". `start` and `end` are characters of the message. A `doubtful` one may not be an order: it
    takes nothing away and changes no consent before somebody was asked, and its words are never a memory. `sure` says
    that a form gave it that needs no second opinion.
    """

    intent: str
    object_text: str
    reaches_back: bool
    scope: Literal["thing", "all"]
    doubtful: bool
    start: int
    end: int
    sure: bool = False
    closed: bool = False
    """True where its form goes on behind what it is about, so that nothing after that belongs to it."""
    of_conversation: bool = False
    """True where it is about all of the conversation in which it stands: "don't save this chat"."""
    whole: bool = False
    """True where all about the thing is meant: "everything about my job"."""


def orders_of(text: str, before: str = "", language: str | None = None) -> tuple[Order, ...]:
    """Return the orders of a user's message in the order in which they stand, at most one a clause.

    `before` is what the assistant said just before, `language` that of the message: what it looks like where nothing is
    said. Linear in the length of the text, of which `MAX_CHARS` are read.
    """
    text = text[:MAX_CHARS].replace("’", "'").replace("‘", "'")
    language = language or language_of(text)
    forms = forms_of(language)
    given, reported = given_places(text), tuple(reported_places(text))
    own, unsure_from = _own(prose_of(text), given, reported, forms)
    if not own.strip(_HIDDEN + " \n"):
        return ()
    message = judge(text, None, before, language)
    foreign = _is_foreign(message)
    drafting = False
    orders: list[Order] = []
    for sentence in split_sentences(own):
        if not sentence.text.strip(_HIDDEN + " ") or is_attributed(sentence.text):
            continue
        drafting = drafting and not speaks_again(sentence.text)
        judgement = message if sentence.text == text else judge(sentence.text, None, before, language)
        for order in _in_sentence(sentence.text, sentence.start, text, forms, judgement):
            # What is planted to be kept is the screen's to hold; what it would take away is not taken.
            unsure = (message.planted >= _PLANTED or drafting) and order.intent in DESTRUCTIVE
            # "Make a note: the licence runs out" looks like a task to the head, and opens with its order.
            opens = order.sure and order.start == 0 and order.intent not in DESTRUCTIVE
            doubt = order.doubtful or (foreign and not opens) or order.start > unsure_from or unsure
            orders.append(_or_of_what_was_told(replace(order, doubtful=doubt), text))
        drafting = drafting or _leaves_open(sentence, given, reported)
    if (
        len(orders) == 1
        and _keeps_back(only := orders[0])
        and points_back(text, only.start, only.end, before, language)
    ):
        return (replace(only, intent="forget"),)
    return tuple(orders)


def _or_of_what_was_told(order: Order, text: str) -> Order:
    """Return an order, or the one to forget what was told before that an order not to keep it can only mean."""
    told = told_before(text, order.start, order.end) if _keeps_back(order) else None
    if told is None:
        return order
    what, start, end = told
    return Order("forget", what, False, "thing", True, start, end)


def _keeps_back(order: Order) -> bool:
    return order.intent == "stop" and order.reaches_back and not order.of_conversation


def _is_foreign(judgement: Judgement) -> bool:
    return judgement.whose in _NOT_OWN and judgement.whose_sure >= _NOT_OWN_SURE


def _leaves_open(sentence: Sentence, given: Sequence[Place], reported: Sequence[Place]) -> bool:
    """Return whether it is unclear after a sentence whose words follow: it asks for something to be written, or repeats
    what another says."""
    end = sentence.start + len(sentence.text)
    if any(sentence.start <= start <= end + 1 for start, _ in given):
        return False  # That text has an end, behind which the user speaks.
    return asks_for_writing(sentence.text) or any(start < end and sentence.start < stop for start, stop in reported)


def _own(prose: str, given: Sequence[Place], reported: Sequence[Place], forms: Forms) -> tuple[str, int]:
    """Return the prose with others' words blanked out, and from where on it is unclear whose words stand there."""
    own = _QUOTED.sub(lambda match: _HIDDEN * len(match.group()), prose)
    for start, end in reported:
        own = own[:start] + _HIDDEN * (end - start) + own[end:]
    unsure = len(own)
    for number, colon in enumerate(_COLON.finditer(own)):
        line = own[max(own.rfind("\n", 0, colon.start()), colon.start() - _LINE_CHARS, 0) : colon.start()]
        if number == _MOST_COLONS:
            return own[: colon.end()] + _HIDDEN * (len(own) - colon.end()), unsure
        if _is_order(line.strip(), forms) or any(colon.start() < start <= colon.end() for start, _ in given):
            continue
        if forms.foreign.search(forms.mine_said.sub("", line)):
            end = _speaks_again_at(own, colon.end())
            own = own[: colon.end()] + _HIDDEN * (end - colon.end()) + own[end:]
            continue
        unsure = min(unsure, colon.start())
    return own, unsure


def _speaks_again_at(own: str, at: int) -> int:
    """Return where the user says that they speak for themself again, the end of the text if nowhere."""
    return next(
        (sentence.start + at for sentence in split_sentences(own[at:]) if speaks_again(sentence.text)), len(own)
    )


def _is_order(head: str, forms: Forms) -> bool:
    """Return whether what stands before a colon tells the memory to keep what stands after it."""
    start = max((boundary.end() for boundary in re.finditer(r"[.!?;]\s+|,\s+", head)), default=0)
    return any(
        form.sure and form.pattern.match(probe)
        for begin in _starts(head[start:], forms)
        for probe in (head[start + begin :], head[start + begin :] + ": x")
        for form in forms.forms
    )


def _starts(clause: str, forms: Forms) -> list[int]:
    """Return where a form may begin: at the beginning, and after each opener."""
    starts = [0]
    while (opener := forms.opener.match(clause, starts[-1])) and opener.end() > starts[-1] and len(starts) < 6:
        starts.append(opener.end())
    return starts


def _in_sentence(sentence: str, offset: int, text: str, forms: Forms, judgement: Judgement) -> list[Order]:
    sentence = _TAG_QUESTION.sub("", sentence)
    begins = [0, *(boundary.end() for boundary in _BOUNDARY.finditer(sentence))][:12]
    ends = [boundary.start() for boundary in _BOUNDARY.finditer(sentence) if boundary.group().strip()[:1] != ":"][:12]
    orders: list[Order] = []
    looks: set[str] = set()
    for begin in begins:
        if orders and begin < orders[-1].end - offset:
            continue
        if _reported(sentence[:begin], forms):
            return orders
        short = next((end for end in ends if end > begin), len(sentence))
        for end in dict.fromkeys((short, len(sentence))):
            order = _order(sentence, begin, end, offset, text, forms, judgement)
            if isinstance(order, str):
                looks.add(order)
            elif order and (
                end == len(sentence)
                or order.reaches_back
                or order.scope == "all"
                or order.closed
                or not order.object_text
            ):
                orders.append(order)
                break
            elif order and (other := _joined_to(order, sentence, end, offset, text, forms)):
                orders += [order, other]
                break
    # "Don't forget to rest" has the looks of an order, and is none of another kind either.
    alone = None if orders or looks else _by_head(sentence, offset, text, judgement, forms)
    return [alone] if alone else orders


def _joined_to(order: Order, sentence: str, end: int, offset: int, text: str, forms: Forms) -> Order | None:
    """Return the order that is joined to one, and is no more of what that is about: "never mention the exam and delete
    it". What is to be remembered may go on like an order: "that I panic and forget my keys"."""
    joint = _BOUNDARY.match(sentence, end)
    joined = joint and _JOINED.match(sentence, joint.end())
    if not joined or not order.object_text:
        return None
    # By itself: the head hears in the whole sentence what comes first.
    judgement = judge(sentence[joined.end() :], None, "", forms.language)
    other = _order(sentence, joined.end(), len(sentence), offset, text, forms, judgement)
    if not isinstance(other, Order) or other.doubtful or not (other.sure or other.reaches_back):
        return None
    return other if other.reaches_back or order.intent not in _OF_A_CLAIM else None


def _by_head(sentence: str, offset: int, text: str, judgement: Judgement, forms: Forms) -> Order | None:
    """Return the order that no form has, if the head is sure of it and nothing else is told."""
    alone = _ALONE.get(judgement.intent, _HEAD_ALONE)
    if judgement.intent == "none" or judgement.intent_sure < alone or sentence.rstrip().endswith(("?", "？")):
        return None
    tells = judgement.intent in _BARE and judgement.worth >= _TELLS
    doubted = tells or judgement.whose in _NOT_OWN
    if _is_foreign(judgement) or (doubted and judgement.intent_sure < _SURELY):
        return None
    doubt = judgement.intent in DESTRUCTIVE
    words = text[offset : offset + len(sentence)]
    lead, _, behind = words.partition(": ")
    # "For later: ..." only leads up to what is told; a longer sentence before a colon tells something itself.
    about = (behind if behind and len(lead.split()) <= _LONGEST_LEAD else words).strip()
    if judgement.intent == "forget":
        if names_by_pronoun(words):
            return Order("forget", "", True, "thing", doubt, offset, offset + len(sentence))
        cut = forms.next_clause.search(words)
        about = _without_lead((words[: cut.start()] if cut and cut.start() else words).strip(), forms)
    return Order(
        judgement.intent, about, False, "thing", doubt, offset, offset + len(sentence), whole=says_whole(words)
    )


def names_by_pronoun(sentence: str) -> bool:
    """Return whether a sentence names a thing by a pronoun alone: "I'd feel better if you no longer had it"."""
    return _PRONOUN.search(sentence) is not None and _NAMED.search(sentence) is None


def _reported(before: str, forms: Forms) -> bool:
    """Return whether what stands before a clause says that another's words follow: "he said, ..."."""
    return any(forms.foreign.fullmatch(word.strip(",:;-")) for word in before[-_LINE_CHARS:].split()[-2:])


def _order(
    sentence: str, begin: int, end: int, offset: int, text: str, forms: Forms, judgement: Judgement
) -> Order | str | None:
    """Return the order of a clause, or the name of an intent of which it only has the looks."""
    clause = sentence[begin:end]
    asking = sentence.rstrip().endswith(("?", "？"))
    joined = _JOINED.match(clause) is not None and begin > 0
    starts = list(enumerate(_starts(clause, forms)))
    # Sure forms first at any place: in "Bitte speichere nichts" a weak one takes the opener for its own.
    tries = ((form, *at) for sure in (True, False) for at in starts for form in forms.forms if form.sure is sure)
    for form, number, start in tries:
        if asking and end == len(sentence) and not forms.asks.search(clause[:start]):
            continue
        chance = judgement.intents.get(form.intent, 0.0)
        if chance < _AGREES and (not form.sure or (joined and number <= 1)):
            continue
        if match := form.pattern.match(clause[start:]):
            order = _made(form.intent, match, begin + start, offset, text, forms)
            reported = (
                match.groupdict().get("object")
                and match.start("object") == 0
                and (
                    _reported(match["object"], forms)
                    or any(_reported(match["object"][: b.start()], forms) for b in _BOUNDARY.finditer(match["object"]))
                )
            )
            doubt = bool(reported) or (not form.sure and chance < _SURELY_AGREES)
            return replace(order, doubtful=doubt, sure=form.sure) if order else form.intent
    return None


def _made(intent: str, match: re.Match[str], begin: int, offset: int, text: str, forms: Forms) -> Order | None:
    """Return the order that a form gives, None if its object says that it is none."""
    groups = match.groupdict()
    start = offset + begin
    end = start + match.end()
    if not groups.get("object"):
        whole = match.group().strip(" .!?…")
        back = forms.back.search(whole) or forms.this.match(whole.rpartition(" ")[2])
        of_conversation = bool(forms.conversation.search(whole))
        everything = intent in DESTRUCTIVE and not back and not of_conversation
        scope: Literal["thing", "all"] = "all" if everything else "thing"
        return Order(intent, "", not everything, scope, False, start, end, of_conversation=of_conversation)
    first, last = match.span("object")
    object_text = text[start + first : start + last].strip(" ,.!;:")
    if intent in ("forget", "stop") and (cut := forms.next_clause.search(object_text)):
        end = start + first + cut.start()
        object_text = forms.tail.sub("", object_text[: cut.start()]).strip(" ,.!;:")
    if forms.idle[intent].match(object_text) or forms.for_now.search(object_text):
        return None
    bare = _without_lead(object_text, forms)
    readings = (object_text, bare, object_text.partition(",")[0])
    is_this = any(forms.this.match(reading) for reading in readings)
    if intent in ("forget", "remember") and not is_this and forms.assistant.match(object_text):
        return None
    everything = intent in ("forget", "stop") and any(forms.all.match(reading) for reading in (object_text, bare))
    # What has no letter and no digit ("Remember that --- please") names nothing: it is about what was just said.
    names_nothing = not any(map(str.isalnum, bare))
    is_whom = intent == "forget" and any(forms.whom.match(reading) for reading in readings)
    points_back = names_nothing or is_this or is_whom
    of_conversation = intent in ("stop", "resume") and bool(forms.conversation.search(match.group()))
    points_back = points_back or of_conversation
    names_a_topic = forms.about.search(text[start : start + first + object_text.find(bare)])
    if intent == "stop" and not (everything or points_back or names_a_topic):
        # It means what is being said: "don't store that I'm bald".
        points_back, end = True, start + first
    if points_back or everything:
        scope = "thing" if points_back else "all"
        return Order(intent, "", points_back, scope, False, start, end, of_conversation=of_conversation)
    about = bare if intent in _OF_A_THING else object_text
    closed = intent == "forget" and bool(forms.closing.search(match.group()[last:]))
    return Order(
        intent, about or object_text, False, "thing", False, start, end, closed=closed, whole=says_whole(match.group())
    )


def only_opens(text: str, language: str) -> bool:
    """Return whether words say nothing but what may open an order: "ugh, could you please"."""
    return _starts(text, forms_of(language))[-1] >= len(text)


def about_of(text: str, language: str) -> str:
    """Return what words are about, without what leads up to it: "What I told you about my ex" is "my ex"."""
    return _without_lead(text.strip(" ,.!;:…-–—"), forms_of(language))


def _without_lead(text: str, forms: Forms) -> str:
    """Return what an order is about, without what leads up to it: "what I told you about my ex" is "my ex"."""
    for _ in range(3):
        lead = forms.lead.match(text)
        if lead is None or lead.end() >= len(text):
            break
        text = text[lead.end() :].strip(" ,:")
    return text
