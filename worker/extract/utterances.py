"""From turns to utterances: prose without code and pasted text, cut into sentences, each with its parse.

All that the rules know of a sentence they read off its `Utterance`; turns of a batch are parsed together, and nothing
of one changes how another is read but the question that it leaves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

import memory.parser.english as language
from policies.authority import authority_of
from policies.language.annotation import Note, notes_of, offsets_of
from policies.language.antecedents import antecedents
from policies.language.capacity import capacity_end, capacity_told, is_capacity
from policies.language.clauses import Mood, Tense, main_clauses
from policies.language.coreference import is_elliptical
from policies.language.dates_elsewhere import notes_elsewhere
from policies.language.discourse_markers import discourse_margins, frames
from policies.language.dropped_subject import states_own
from policies.language.jokes import is_kidding, is_laughed_at
from policies.language.languages import ENGLISH, language_of
from policies.language.make_believe import is_role, make_believe_places
from policies.language.orders import Order, orders_of
from policies.language.parse import Parsed
from policies.language.reported_speech import announces_words, drafted_places, reported_places
from policies.language.requests import is_request, told_apart
from policies.language.sentences import (
    MAX_SENTENCES,
    Sentence,
    end_with_quotation,
    prose_of,
    split_sentences,
    to_quote_end,
    without_quotes,
    words,
)
from policies.language.spans import Span
from policies.language.spelling import Spelt, spelt
from schema import AdmissionAction, AdmittedTurn, Question, Turn
from stores.embedding.reading import Reading

_SHARED: Final = re.compile(
    r"\[(?:i |you )?(?:shares?|shared|sends?|sent|attach(?:es|ed)|posts?|posted|uploads?|uploaded|image|photo|picture|"
    r"video)(?:[:,] ?| )(?P<what>[^\[\]\n]{3,200})\]",
    re.IGNORECASE,
)
"""The mark of what somebody shares, as chats write it: "[shares a photo of her dog]"."""
_IS_JOINT: Final = frozenset({",", ";", ":", "-", "–", "—", "and", "but", "so", "please", "pls", "."}).__contains__
_LEAVES_WORDS: Final = frozenset({"remember", "remind", "pin", "private", "style", "never_mention"})
_LEAVES_NOTHING: Final = frozenset({"stop", "resume", "unpin"})
"""Orders whose words are no memory whoever gives them; what they change of the user's wishes is not decided here."""
_OWN_DEEDS: Final = words("start finish leave move fly join begin graduate retire return")
"""Verbs of what nobody asks an assistant to do on a day, so that "I" is left out: "Start driving for UPS on the
4th"."""
_SELF: Final = re.compile(r"\b(?:i|my|me|we|our|us)\b", re.IGNORECASE)
"""Who speaks of themself: "I", "my"."""
_SHOWN: Final = frozenset({"it", "this", "that", "them", "these"})
_PERSONAL: Final = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours|you|your|yours)\b", re.IGNORECASE)
"""Words that mean whoever speaks or is spoken to, "my". Without one, what somebody wrote is passed on as what is so:
"the landlord texted, the rent's going up"."""
_NOT: Final = frozenset({"no", "not", "never", "only", "nothing"})
_POLITE: Final = frozenset({"please", "pls", "plz"})
_COLON: Final = re.compile(r":(?=\s)")
"""The mark before what a task is about: "Write to the guest: breakfast is at 8"."""
_MARKS: Final = "\"'“„«‘"
"""How quotation marks open."""
_ORDINAL_END: Final = re.compile(r"(?<!\d)\d{1,2}\.\Z")
"""A full stop that ends no sentence in German: "am 3."."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question that the other side asked last, and the turn in which it did if it was an earlier one."""

    text: str
    turn_id: str | None


def _is_own_plan(parsed: Parsed, verb: int) -> bool:
    """Return whether a bare verb says what its speaker will do rather than what the assistant is to do."""
    takes = any(parsed.tokens[child].dep == "dobj" for child in parsed.children(verb))
    return parsed.tokens[verb].lower in _OWN_DEEDS and not takes


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence of the user's: as typed, where it begins in its message, as a parser reads it, and its parse.

    `number` counts the sentences of the message, `asked` is the question to which its message replies, `orders`
    what it tells the memory to do, `language` the code of its language; `within_request` says that it stands in a
    question or a task, `of_task` that it is behind the colon of one, `of_others` that it repeats words of somebody
    else, `repeats_from` where in its message those begin if they speak in the first person, behind words of its
    own, and `laughed` that its speaker laughs at it. `parsed` is None outside English; `part` is what of it is left
    without what only opens or ends it, `shift` where that begins (characters), and `notes` are its dates.
    `readings` are those of its message, by the words that were read.
    """

    turn: Turn
    message: int
    number: int
    start: int
    text: str
    spelt: Spelt
    asked: Asked | None = None
    orders: tuple[Order, ...] = ()
    within_request: bool = False
    of_task: bool = False
    of_others: bool = False
    language: str = ENGLISH
    parsed: Parsed | None = None
    part: Parsed | None = None
    shift: int = 0
    notes: tuple[Note, ...] = ()
    readings: Mapping[str, Reading] = field(default_factory=dict, compare=False)
    repeats_from: int | None = None
    laughed: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def other(self) -> str | None:
        """Return the name of the other side, if it has one."""
        return next((m.name for m in self.turn.messages if m.role == "assistant" and m.name), None)

    @property
    def asks(self) -> bool:
        """Return whether it asks, orders or supposes, and tells nothing."""
        if self.text.rstrip(" )\"'!").endswith("?"):
            return not frames(self.spelt.plain[: self.shift])  # "Did I mention I'm vegan?"
        if self.parsed is None:
            return False
        part = self.part or self.parsed
        if states_own(part) or is_elliptical(part):
            return False
        tops = main_clauses(part)
        if not tops:
            says_what_not = self.parsed.tokens[0].lower in _NOT  # "no pork for me please"
            return not says_what_not and any(token.lower in _POLITE for token in self.parsed.tokens)
        if tops[0].mood is Mood.ORDER and _is_own_plan(part, tops[0].head):
            return all(note.when is None for note in self.notes)
        return tops[0].mood in (Mood.ASKING, Mood.ORDER, Mood.SUPPOSING)


@dataclass
class Heard:
    """A user's message: its sentences, the orders to the memory in it, readings of the whole and of what it says;
    `others` says how likely the utterance that begins at a place holds another's words, behind all before it, `asking`
    how likely it is by itself a wish to forget, where the whole may be one."""

    turn: Turn
    content: str
    asked: Asked | None
    language: str
    orders: tuple[Order, ...]
    utterances: list[Utterance] = field(default_factory=list)
    reading: Reading | None = None
    readings: dict[str, Reading] = field(default_factory=dict)
    others: dict[int, float] = field(default_factory=dict)
    asking: dict[int, float] = field(default_factory=dict)

    @property
    def shared(self) -> str | None:
        """Return what a transcript says in brackets that was sent with the message: "[sends a photo of a red barn]"."""
        match = _SHARED.search(self.content[:16_000]) if "[" in self.content else None
        return match["what"].strip(" .") if match else None


def question_of(text: str) -> str | None:
    """Return the question with which a text ends, if it ends with one."""
    sentences = [sentence.text for sentence in split_sentences(prose_of(text[-1_000:]))]
    for index in range(len(sentences) - 1, max(-1, len(sentences) - 3), -1):
        question = sentences[index]
        if question.endswith("?") and 3 <= len(question) <= 300:
            return question
    return None


def heard_in(turns: Sequence[AdmittedTurn], questions: Mapping[str, Question]) -> list[Heard]:
    """Return the user's messages of some turns, read; those of skipped turns are left out but for the question they
    answer."""
    asked = {conversation: Asked(pending.text, pending.turn_id) for conversation, pending in questions.items()}
    messages: list[Heard] = []
    for admitted in turns:
        turn = admitted.turn
        for number, message in enumerate(turn.messages):
            if message.role == "assistant":
                question = question_of(message.content)
                asked.pop(turn.conversation_id, None)
                if question is not None:
                    asked[turn.conversation_id] = Asked(question, turn.turn_id)
            if message.role != "user":
                continue
            before = asked.pop(turn.conversation_id, None)
            if admitted.admission.action is AdmissionAction.SKIP:
                continue
            if before is not None and before.turn_id == turn.turn_id:
                before = Asked(before.text, None)
            spoken = language_of(prose_of(message.content))
            orders = orders_of(message.content, before.text if before else "", spoken)
            heard = Heard(
                turn, message.content, before, spoken, tuple(order for order in orders if _is_obeyed(order, turn))
            )
            heard.utterances = list(_cut(heard, number))
            messages.append(heard)
    _parse([utterance for heard in messages for utterance in heard.utterances], messages)
    return messages


def _is_obeyed(order: Order, turn: Turn) -> bool:
    """Return whether an order counts. In doubt only a wish to forget does, of which somebody is asked; where no sure
    form has it, only one that leaves a memory of all that is said. Who may not prefer may only remember; what they want
    not kept is heard as the order that it is, of which no memory is made."""
    if order.intent == "forget":
        return True
    if order.intent != "remember" and not authority_of(turn.source).prefers:
        return order.intent in _LEAVES_NOTHING
    return not order.doubtful and (order.sure or order.intent in _LEAVES_WORDS)


def _glued(sentences: Iterable[Sentence], content: str, language: str) -> Iterator[Sentence]:
    """Join sentences cut where none ends: after an ordinal in German, after three dots before a small letter."""
    last: Sentence | None = None
    for sentence in sentences:
        if last is not None and (
            (language == "de" and _ORDINAL_END.search(last.text))
            or (last.text.endswith(("...", "…")) and sentence.text[:1].islower())
        ):
            last = Sentence(content[last.start : sentence.start + len(sentence.text)], last.start)
            continue
        if last is not None:
            yield last
        last = sentence
    if last is not None:
        yield last


def _cut(heard: Heard, message_number: int) -> Iterator[Utterance]:
    content = heard.content
    unquoted, quotes = without_quotes(prose_of(content))
    for start, stop in make_believe_places(unquoted):
        if not _is_ordered(start, heard.orders):
            unquoted = f"{unquoted[:start]}{' ' * (stop - start)}{unquoted[stop:]}"
    personal = (span for span in reported_places(unquoted) if _PERSONAL.search(unquoted, *span))
    reported = [to_quote_end(span, quotes, content) for span in personal]
    drafted = list(drafted_places(unquoted))
    for number, sentence in enumerate(_glued(split_sentences(unquoted), unquoted, heard.language)):
        end = sentence.start + len(sentence.text)
        orders = tuple(order for order in heard.orders if sentence.start <= order.start < end)
        if any(order.start < sentence.start and end <= order.end for order in heard.orders):
            continue
        asks = not orders and is_request(sentence.text)
        spoken = language_of(sentence.text, heard.language)
        colon = _COLON.search(sentence.text)
        is_task = colon is not None and is_request(sentence.text[: colon.start()])
        apart = tuple(told_apart(sentence, asks=asks))
        begins = [sentence.start, *(piece.start for piece, _ in apart[1:]), end]
        for index, (piece, within_request) in enumerate(apart):
            until = piece.start + len(piece.text)
            if any(start <= piece.start and until <= stop for start, stop in reported):
                continue
            if within_request and is_role(piece.text, sentence.text[: piece.start - sentence.start]):
                continue
            if any(order.start < begins[index] and until <= order.end for order in orders):
                continue
            until = end_with_quotation(until, quotes, content)
            typed = content[piece.start : until]
            others = any(start < until and piece.start < stop for start, stop in (*quotes, *reported, *drafted))
            repeats = (
                start
                for start, stop in (*quotes, *reported)
                if piece.start < start < until
                and _SELF.search(content, start, stop)
                and (content[start] in _MARKS or announces_words(content[piece.start : start]))
            )
            of_task = is_task and colon is not None and piece.start >= sentence.start + colon.end()
            is_capacity = piece.start == sentence.start and capacity_end(sentence.text) == len(piece.text)
            words = " ".join(piece.text.split())
            read = capacity_told(words) if is_capacity else spelt(words, heard.turn.user_name() or "")
            own_orders = tuple(order for order in orders if begins[index] <= order.start < begins[index + 1])
            yield Utterance(
                heard.turn, message_number, number, piece.start, typed, read, heard.asked, own_orders,
                within_request, of_task, others, spoken, readings=heard.readings,
                repeats_from=min(repeats, default=None),
            )  # fmt: skip


def _is_ordered(position: int, orders: Iterable[Order]) -> bool:
    """Return whether a place stands in an order to the memory: "pretend I never told you"."""
    return any(order.start <= position < order.end for order in orders)


def _parse(utterances: Sequence[Utterance], messages: Sequence[Heard]) -> None:
    """Put a parse to each English utterance, all in one call."""
    english = [utterance for utterance in utterances if utterance.language == ENGLISH][
        : MAX_SENTENCES * max(1, len(messages))
    ]
    parses = dict(zip(map(id, english), language.parse([utterance.spelt.plain for utterance in english]), strict=True))
    for heard in messages:
        earlier: Span | None = None
        before: Parsed | None = None
        for index, utterance in enumerate(heard.utterances):
            read = _with_parse(utterance, parses.get(id(utterance)), earlier)
            if before is not None and read.part is not None:
                read = replace(read, notes=tuple(sorted((*read.notes, *antecedents(read.part, before)), key=_start)))
            heard.utterances[index] = read
            before = None if read.orders or read.of_others else read.part
            days = [
                n.when.span for n in read.notes if n.when is not None and n.when.span.granularity in ("day", "month")
            ]
            earlier = days[-1] if days else earlier
        heard.utterances = list(_meant(heard.utterances))


def _meant(utterances: Sequence[Utterance]) -> Iterator[Utterance]:
    """Yield the utterances of a message that say what is so by what stands behind them, and whether they are laughed
    at."""
    for number, (utterance, after) in enumerate(zip_longest(utterances, utterances[1:])):
        if number and is_kidding(utterance.text):
            continue
        if (
            after is None
            or utterance.orders
            or not (_is_of_the_past(utterance, after) or _is_worked_on(utterance, after) or is_kidding(after.text))
        ):
            yield replace(utterance, laughed=is_laughed_at(utterance.text, after.text if after else ""))


def _is_worked_on(utterance: Utterance, after: Utterance) -> bool:
    """Return whether what an utterance repeats is a text for the task that follows: "She wrote: “I'm 27.” Shorten
    it"."""
    part = after.part
    if utterance.repeats_from is None or part is None:
        return False
    return any(
        clause.mood is Mood.ORDER and any(part.tokens[index].lower in _SHOWN for index in part.subtree(clause.head))
        for clause in main_clauses(part)[:1]
    )


def _start(note: Note) -> int:
    return note.start


def _is_of_the_past(capacity: Utterance, after: Utterance) -> bool:
    """Return whether an utterance says what somebody was when they did what the rest of its sentence tells: "As a
    student I lived in Oslo"."""
    if capacity.number != after.number or after.part is None or not is_capacity(capacity.text):
        return False
    return any(clause.tense is Tense.PAST for clause in main_clauses(after.part))


def with_part(utterance: Utterance, part: Parsed) -> Utterance:
    """Return an utterance of which only a part is told; where it is quoted after all, that part is."""
    text = part.text_of(range(len(part.tokens)))
    whole = utterance.part.text_of(range(len(utterance.part.tokens))) if utterance.part is not None else ""
    at = whole.find(text)
    if at < 0:
        days = [n.when.span for n in utterance.notes if n.when is not None and whole[n.start : n.end] not in text]
        notes = notes_of(part, text, utterance.turn.occurred_at, days[-1] if days else None)
    else:
        inside = (note for note in utterance.notes if at <= note.start and note.end <= at + len(text))
        notes = tuple(replace(n, start=n.start - at, end=n.end - at, lead=max(0, n.lead - at)) for n in inside)
    return replace(utterance, text=text, spelt=Spelt(text), part=part, shift=0, notes=notes)


def without_order(utterance: Utterance, start: int, end: int, fewest_words: int) -> Utterance | None:
    """Return what of an utterance stands between two places of its message (characters), None if that has fewer
    words."""
    if utterance.parsed is None:
        return None
    typed = [utterance.start + utterance.spelt.typed(offset) for offset in offsets_of(utterance.parsed)]
    inside = [index for index, at in enumerate(typed) if start <= at < end]
    while inside and _IS_JOINT(utterance.parsed.tokens[inside[0]].lower):
        inside.pop(0)
    while inside and _IS_JOINT(utterance.parsed.tokens[inside[-1]].lower):
        inside.pop()
    if len(inside) < fewest_words:
        return None
    whole = replace(utterance, part=utterance.parsed, shift=0, orders=())
    return with_part(whole, utterance.parsed.slice(inside[0], inside[-1] + 1))


def _with_parse(utterance: Utterance, parsed: Parsed | None, earlier: Span | None) -> Utterance:
    if parsed is None:
        return replace(
            utterance, notes=notes_elsewhere(utterance.spelt.plain, utterance.turn.occurred_at, utterance.language)
        )
    begin, end = discourse_margins(parsed, utterance.other)
    if begin == end:
        return replace(utterance, parsed=parsed)
    part = parsed.slice(begin, end)
    notes = notes_of(part, part.text_of(range(len(part.tokens))), utterance.turn.occurred_at, earlier)
    return replace(utterance, parsed=parsed, part=part, shift=offsets_of(parsed)[begin], notes=notes)
