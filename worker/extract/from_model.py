"""Candidates from a language model's answer: those that the user's own words bear out, and nothing else."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Final

import memory.parser.english as language
from policies.authority import SOURCE_CONFIDENCE
from policies.language.annotation import notes_of, with_notes
from policies.language.languages import ENGLISH, language_of
from policies.language.life_topics import says_whole
from policies.language.orders import Order, orders_of
from policies.language.reading.attributes import USER
from policies.language.stems import comparable, stems
from schema import (
    MAX_SUMMARY_CHARS,
    MAX_TOPIC_CHARS,
    Candidate,
    Context,
    Entity,
    Fact,
    ForgetRequest,
    Kind,
    MemoryType,
    OpenTopic,
)
from worker.extract.answer_form import Answer, ToldForgetting, ToldKind, ToldMemory
from worker.extract.classify import category_of, is_hedged, topics_of
from worker.extract.evidence import denies_more, is_quoted, is_supported, sentence_of, tells_of_somebody
from worker.extract.prompt_view import ShownTurn
from worker.extract.quotation import quotation
from worker.extract.sentiment import sentiment_of

MAX_ITEMS_A_TURN: Final = 10
_ASKED_FOR: Final = {"remember", "remind", "pin"}
_STATED: Final = 0.95
_ANSWERED: Final = 0.85
_UNSURE: Final = 0.7
"""How sure a statement is: one that stands by itself, one that needs its question, one that the user doubts."""
_PAST: Final = timedelta(days=120 * 365)
_FUTURE: Final = timedelta(days=50 * 365)
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|(?:next|last|this|coming) (?:week|month|year|weekend|\w+day))\b",
    re.IGNORECASE,
)
"""A date that means another day each day: "tomorrow", "next week"."""
_YEAR: Final = re.compile(r"\b\d{4}\b")
"""A year: "2026"."""
_WHEN: Final = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")
"""A date as a model is to write it: "2026-10-09", "2026"."""
_ATTRIBUTE: Final = re.compile(
    r"(?:name|preferred_name|age|birthday|home_city|hometown|birthplace|nationality|employer|job_title|school|"
    r"field_of_study|partner|marital_status|diet|religion|car|phone|salary|rent|height|weight|timezone|blood_type|"
    r"budget|(?:favorite|budget)_[a-z_]{1,30}|[a-z]{1,20}_name)"
)
"""An attribute that a model may name: "home_city", "favorite_film"."""
_FAVOURITE: Final = re.compile(r"^favourite_")
"""The British form of a favourite's attribute: "favourite_film"."""
_SORTS: Final = {
    ToldKind.FACT: (MemoryType.SEMANTIC, Kind.USER_FACT),
    ToldKind.PREFERENCE: (MemoryType.SEMANTIC, Kind.USER_PREFERENCE),
    ToldKind.EVENT: (MemoryType.EPISODIC, Kind.USER_FACT),
    ToldKind.ROUTINE: (MemoryType.SEMANTIC, Kind.EVENT_PATTERN),
    ToldKind.REMINDER: (MemoryType.EPISODIC, Kind.PROACTIVE_ACTION),
    ToldKind.INSTRUCTION: (MemoryType.PROCEDURAL, Kind.AGENT_PROCEDURE),
}
_ALL: Final = "all"
Dropped = Callable[[str], None]
Items = Mapping[str, Sequence[Candidate | ForgetRequest]]


@dataclass(frozen=True)
class Reading:
    """An answer beside what it was asked about. `orders` are what the rules heard the user order in so many words, and
    what was attached, by turn_id; `dropped` is told why something of the answer is not taken."""

    shown: Sequence[ShownTurn]
    context: Context
    name: str
    categories: Sequence[str]
    orders: Items = field(default_factory=dict)
    dropped: Dropped = field(default=lambda _why: None)

    @cached_property
    def _open(self) -> dict[str, ShownTurn]:
        return {shown_turn.label: shown_turn for shown_turn in self.shown if shown_turn.open}

    @cached_property
    def _known(self) -> dict[str, uuid.UUID]:
        return {f"K{number}": memory.id for number, memory in enumerate(self.context.known, start=1)}

    @cached_property
    def _heard(self) -> str:
        """Return all that may be spoken of wherever it was said: the user's words, what is known, topics, names."""
        spoken = [shown_turn.said_by("user") for shown_turn in self.shown]
        before = [text for recent_turn in self.context.recent for role, text in recent_turn.lines if role == "user"]
        names = [name for shown_turn in self.shown for message in shown_turn.turn.messages if (name := message.name)]
        summaries = [memory.summary for memory in self.context.known]
        topics = [topic.text for topic in self.context.open_topics.values()]
        return " ".join((*spoken, *before, *names, self.name, *summaries, *topics))

    def items(self, answer: Answer) -> list[Candidate | ForgetRequest]:
        """Return the candidates and requests to forget, turn by turn, in the order of the answer.

        What the user ordered in so many words is done whether the model saw it or not, and so are attachments kept:
        there the rules' own stand.
        """
        by_turn: dict[str, list[Candidate | ForgetRequest]] = {shown_turn.turn.turn_id: [] for shown_turn in self.shown}
        for asked in answer.forget:
            if (request := self._forgetting(asked, by_turn)) is not None:
                by_turn[request.turn_id].append(request)
        for memory in answer.memories:
            if (candidate := self._candidate(memory, by_turn)) is not None:
                by_turn[candidate.turn_id].append(candidate)
        for turn_id, items in by_turn.items():
            items.extend(list(self._overlooked(turn_id, items)))
        return [
            item.model_copy(update={"ordinal": ordinal})
            for items in by_turn.values()
            for ordinal, item in enumerate(items)
        ]

    def topics(self, answer: Answer) -> tuple[OpenTopic, ...]:
        """Return what is open, the last that was told of each agent."""
        by_agent = {}
        for open_topic in answer.open_topics:
            shown_turn = self._open.get(open_topic.turn)
            if shown_turn is not None and open_topic.topic:
                agent = shown_turn.turn.agent_id
                text = open_topic.topic[:MAX_TOPIC_CHARS]
                by_agent[agent] = OpenTopic(agent_id=agent, text=text, turn_id=shown_turn.turn.turn_id)
        return tuple(by_agent.values())

    def _candidate(self, memory: ToldMemory, by_turn: Items) -> Candidate | None:
        shown_turn = self._open.get(memory.turn)
        why = "unknown_turn" if shown_turn is None else self._against(memory, shown_turn)
        if shown_turn is None or why:
            self.dropped(why)
            return None
        before = by_turn[shown_turn.turn.turn_id]
        if len(before) >= MAX_ITEMS_A_TURN:
            self.dropped("too_many")
            return None
        if why := self._unfaithful(memory, shown_turn):
            self.dropped(why)
            if (words := self._own_sentence(memory, shown_turn)) is None:
                return None
            candidate = self._quoted(memory, shown_turn, words)
        else:
            candidate = self._taken(memory, shown_turn)
        if any(
            isinstance(item, Candidate) and comparable(item.summary) == comparable(candidate.summary) for item in before
        ):
            self.dropped("said_twice")
            return None
        return candidate

    def _against(self, memory: ToldMemory, shown_turn: ShownTurn) -> str:
        """Return why a memory that was told of a turn is none, or ""."""
        if not memory.summary or len(memory.summary) > MAX_SUMMARY_CHARS:
            return "no_sentence"
        if not is_quoted(memory.evidence, shown_turn.said_by("user")):
            return "no_evidence"
        if not is_quoted(memory.evidence, shown_turn.in_own_words()):
            return "pasted"
        return ""

    def _unfaithful(self, memory: ToldMemory, shown_turn: ShownTurn) -> str:
        """Return why a sentence does not tell what its user said, or ""."""
        changes = memory.ended or memory.replaces
        if not is_supported(memory.summary, shown_turn, self._heard) or (
            not changes and denies_more(memory.summary, shown_turn)
        ):
            return "not_the_users"
        names_whom = memory.kind is ToldKind.INSTRUCTION or _has_word(memory.summary, self.name)
        if not names_whom and language_of(memory.summary) == ENGLISH and not _tells_of_somebody(memory.summary):
            return "no_subject"
        return ""

    def _own_sentence(self, memory: ToldMemory, shown_turn: ShownTurn) -> str | None:
        """Return the user's own sentence that a memory leans on; None where that has nothing to do with it, or tells of
        nobody and answers nothing."""
        if not stems(memory.evidence) & stems(memory.summary):
            return None
        words = sentence_of(memory.evidence, shown_turn.in_own_words())
        tells = shown_turn.question is not None or not shown_turn.is_english or _tells_of_somebody(words)
        return words if tells else None

    def _quoted(self, memory: ToldMemory, shown_turn: ShownTurn, words: str) -> Candidate:
        """Return what a memory leans on in the user's own words: it replaces nothing, and has no fact."""
        candidate = self._taken(memory, shown_turn)
        (parsed,) = language.parse([words])
        question = None if tells_of_somebody(parsed) else shown_turn.question
        dated = with_notes(words, notes_of(parsed, words, shown_turn.turn.occurred_at))
        return candidate.model_copy(
            update={
                "summary": quotation(dated, self.name, question),
                "facts": (),
                "entities": (),
                "replaces": (),
                "occurred_at": shown_turn.turn.occurred_at,
                "quoted": True,
            }
        )

    def _taken(self, memory: ToldMemory, shown_turn: ShownTurn) -> Candidate:
        at, own_text = shown_turn.turn.occurred_at, shown_turn.in_own_words()
        when = _moment(memory.when, at)
        summary = _dated(memory.summary, when if len(memory.when) == len("2026-11-02") else None)
        orders = [order for order in orders_of(own_text) if not order.doubtful]
        ordered = [order for order in orders if order.intent in _ASKED_FOR and _is_of(order, memory.evidence, own_text)]
        certainty = _STATED if shown_turn.question is None else _ANSWERED
        topics = topics_of(f"{summary} {memory.evidence}")
        valence, intensity = sentiment_of(memory.evidence)
        type_, kind = _SORTS[memory.kind]
        is_sure = memory.sure and not is_hedged(memory.evidence)
        return Candidate(
            turn_id=shown_turn.turn.turn_id,
            ordinal=0,
            context_turn_ids=self._understood_by(shown_turn, summary),
            type=type_,
            kind=kind,
            category=category_of(topics, self.categories),
            summary=summary,
            tags=topics or ("personal",),
            entities=self._entities(memory),
            facts=self._facts(memory, is_sure=is_sure),
            source=shown_turn.turn.source,
            valence=valence,
            intensity=intensity,
            confidence=round((certainty if is_sure else _UNSURE) * SOURCE_CONFIDENCE[shown_turn.turn.source], 3),
            occurred_at=when or at,
            said_at=at,
            explicit=bool(ordered),
            pinned=any(order.intent == "pin" for order in ordered),
            private=any(order.intent == "private" for order in orders),
            replaces=self._ids(memory.replaces),
            by_model=True,
        )

    def _ids(self, labels: Iterable[str]) -> tuple[uuid.UUID, ...]:
        ids: dict[uuid.UUID, None] = {}
        for label in labels:
            if (id_ := self._known.get(label)) is None:
                self.dropped("unknown_memory")
            else:
                ids[id_] = None
        return tuple(ids)

    def _understood_by(self, shown_turn: ShownTurn, summary: str) -> tuple[str, ...]:
        """Return the turns without which the statement says less: that which asked, that which opened the topic."""
        topic = self.context.open_topics.get(shown_turn.turn.agent_id)
        opened = topic.turn_id if topic and stems(topic.text) & stems(summary) else None
        return tuple(
            dict.fromkeys(id_ for id_ in (opened, shown_turn.asked_in) if id_ and id_ != shown_turn.turn.turn_id)
        )

    def _is_user(self, word: str) -> bool:
        return word.casefold() in ("user", "the user", "i", "me", self.name.casefold())

    def _entities(self, memory: ToldMemory) -> tuple[Entity, ...]:
        named = comparable(f"{memory.summary} {memory.evidence}")
        entities: dict[str, Entity] = {}
        for entity in memory.entities:
            sort, _, text = entity.partition(" ")
            if comparable(text) in named and not self._is_user(text):
                entities.setdefault(text[:200], Entity.model_validate({"text": text[:200], "type": sort}))
        return tuple(entities.values())[:12]

    def _facts(self, memory: ToldMemory, *, is_sure: bool) -> tuple[Fact, ...]:
        """Return what the memory says of whom. What its sentence does not say must not supersede what another one does,
        and what is over is no value."""
        attribute = _FAVOURITE.sub("favorite_", "_".join(memory.attribute.lower().split()))
        if not (memory.of and attribute and memory.value):
            return ()
        if memory.ended or not stems(memory.value) <= stems(f"{memory.summary} {memory.evidence}"):
            return ()
        return (
            Fact(
                entity=USER if self._is_user(memory.of) else memory.of[:200],
                verb=attribute.replace("_", " ")[:100],
                object=memory.value[:300],
                attribute=attribute if is_sure and _ATTRIBUTE.fullmatch(attribute) else None,
            ),
        )

    def _forgetting(self, forgetting: ToldForgetting, by_turn: Items) -> ForgetRequest | None:
        """Return a request to forget, which is the user's order: it must be quoted, and say which known memories it
        means, unless rules heard it too or are deaf to its language."""
        shown_turn = self._open.get(forgetting.turn)
        if shown_turn is None or not forgetting.what:
            return None
        own_text = shown_turn.in_own_words()
        known_ids = self._ids(label for label in forgetting.known if label.lower() != _ALL)
        everything = any(label.lower() == _ALL for label in forgetting.known)
        named = bool(known_ids) or everything
        forget_orders = [order for order in orders_of(own_text) if order.intent == "forget"]
        if not (named or forget_orders or not shown_turn.is_english) or not is_quoted(forgetting.evidence, own_text):
            self.dropped("nothing_to_forget")
            return None
        if len(by_turn[shown_turn.turn.turn_id]) >= MAX_ITEMS_A_TURN:
            self.dropped("too_many")
            return None
        return ForgetRequest(
            turn_id=shown_turn.turn.turn_id,
            ordinal=0,
            what=forgetting.what[:MAX_SUMMARY_CHARS],
            scope="all" if everything else "thing",
            whole=says_whole(forgetting.evidence),
            known=known_ids,
            doubtful=not named and bool(forget_orders) and all(order.doubtful for order in forget_orders),
        )

    def _overlooked(
        self, turn_id: str, items: Sequence[Candidate | ForgetRequest]
    ) -> Iterator[Candidate | ForgetRequest]:
        kept = any(isinstance(item, Candidate) and item.explicit for item in items)
        forgot = any(isinstance(item, ForgetRequest) for item in items)
        for order in self.orders.get(turn_id, ()):
            if isinstance(order, ForgetRequest):
                if not forgot and not order.doubtful:
                    yield order
            elif "attachment" in order.tags or (order.explicit and not kept):
                yield order


def _is_of(order: Order, evidence: str, own_text: str) -> bool:
    """Return whether a quotation is of what an order is about: its object, or what was said before it."""
    if order.reaches_back:
        return 0 <= own_text.find(evidence) < order.start
    about, quoted = comparable(order.object_text), comparable(evidence)
    return quoted in about or (bool(about) and about in quoted) or len(stems(about) & stems(quoted)) > 1


def _has_word(text: str, word: str) -> bool:
    """Return whether a word, or several, stand in a text and are no part of longer ones: "Li" does in "Li's flat"."""
    return re.search(rf"(?<!\w){re.escape(word.casefold())}(?!\w)", text.casefold()) is not None


def _tells_of_somebody(text: str) -> bool:
    return any(map(tells_of_somebody, language.parse([text], [False])))


def _dated(summary: str, when: datetime | None) -> str:
    """Return a summary with the day in brackets behind a relative date that the model left in it."""
    relative = _RELATIVE.search(summary)
    if when is None or relative is None or _YEAR.search(summary):
        return summary
    return f"{summary[: relative.end()]} [{when.day} {when:%B %Y}]{summary[relative.end() :]}"[:MAX_SUMMARY_CHARS]


def _moment(written: str, said_at: datetime) -> datetime | None:
    """Return when it happened, in the zone of who said it: noon of a day, or of the first of a month or year; None for
    what is no date or too far away to be meant."""
    match = _WHEN.fullmatch(written)
    if match is None:
        return None
    year, month, day = (int(part) if part else 1 for part in match.groups())
    try:
        moment = datetime.combine(date(year, month, day), time(12), tzinfo=said_at.tzinfo)
        return moment if said_at - _PAST <= moment <= said_at + _FUTURE else None
    except (ValueError, OverflowError):
        return None
