"""What is taken of a language model's answer: candidates that the user's own words bear out, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Final

from policies.language.orders import Order, orders_of
from policies.language.spans import MONTHS
from policies.language.spelling import mended
from schema import (
    MAX_SUMMARY_CHARS,
    MAX_TOPIC_CHARS,
    Candidate,
    Context,
    Entity,
    Fact,
    ForgetRequest,
    OpenTopic,
)
from worker.extract.answer_form import Answer, ToldFact, ToldForgetting, ToldMemory
from worker.extract.attributes import USER, attribute_facts
from worker.extract.dates import resolve_dates
from worker.extract.evidence import is_quoted, is_supported, plain, stems
from worker.extract.rules import SOURCE_CONFIDENCE
from worker.extract.shown import ShownTurn

MAX_ITEMS_A_TURN: Final = 10
_ASKED_FOR: Final = {"remember", "remind", "pin"}
_ANSWERED: Final = 0.85
_STATED: Final = 0.95
"""How sure a statement can be: one that needs its question to be understood, and one that stands by itself."""
_PAST: Final = timedelta(days=120 * 365)
_FUTURE: Final = timedelta(days=50 * 365)
_RELATIVE: Final = re.compile(r"\b(?:today|tonight|tomorrow|yesterday|next|last|this|coming|ago)\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"\b\d{4}\b")
_ATTRIBUTE: Final = re.compile(
    r"(?:name|preferred_name|age|birthday|home_city|hometown|birthplace|nationality|employer|job_title|school|"
    r"field_of_study|partner|marital_status|diet|religion|car|phone|salary|rent|height|weight|timezone|blood_type|"
    r"budget|(?:favorite|budget)_[a-z_]{1,30}|[a-z]{1,20}_name)"
)
_CALENDAR: Final = " ".join((*MONTHS, "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"))
Dropped = Callable[[str], None]


@dataclass(frozen=True)
class Reading:
    """An answer beside what it was asked about. `hints` are what the rules propose, by turn_id; `dropped` is told
    why something of the answer is not taken."""

    shown: Sequence[ShownTurn]
    context: Context
    name: str
    categories: Sequence[str]
    hints: Mapping[str, Sequence[Candidate | ForgetRequest]]
    dropped: Dropped = field(default=lambda _why: None)

    @cached_property
    def _open(self) -> dict[str, ShownTurn]:
        return {one.label.lower(): one for one in self.shown if one.open}

    @cached_property
    def _heard(self) -> str:
        """All that may be spoken of wherever it was said: the user's words, topics, names."""
        said = [one.said_by("user") for one in self.shown]
        names = [name for one in self.shown for message in one.turn.messages if (name := message.name)]
        return " ".join((*said, *names, self.name, *(topic.text for topic in self.context.open_topics.values())))

    def items(self, answer: Answer) -> list[Candidate | ForgetRequest]:
        """The candidates and requests to forget, turn by turn, in the order of the answer.

        What the user ordered in so many words is done whether the model saw it or not, and so are attachments kept:
        there the rules' own stand.
        """
        by_turn: dict[str, list[Candidate | ForgetRequest]] = {one.turn.turn_id: [] for one in self.shown}
        for told in answer.memories:
            if (candidate := self._candidate(told, by_turn)) is not None:
                by_turn[candidate.turn_id].append(candidate)
        for asked in answer.forget:
            if (request := self._forgetting(asked, by_turn)) is not None:
                by_turn[request.turn_id].append(request)
        for turn_id, items in by_turn.items():
            items.extend(list(self._ordered(turn_id, items)))
        return [
            item.model_copy(update={"ordinal": ordinal})
            for items in by_turn.values()
            for ordinal, item in enumerate(items)
        ]

    def topics(self, answer: Answer) -> tuple[OpenTopic, ...]:
        """What is open, the last that was told of each agent."""
        found = {}
        for told in answer.open_topics:
            one = self._open.get(told.turn.lower())
            if one is not None and told.topic:
                agent = one.turn.agent_id
                text = told.topic[:MAX_TOPIC_CHARS]
                found[agent] = OpenTopic(agent_id=agent, text=text, turn_id=one.turn.turn_id)
        return tuple(found.values())

    def _candidate(
        self, told: ToldMemory, by_turn: Mapping[str, Sequence[Candidate | ForgetRequest]]
    ) -> Candidate | None:
        one = self._open.get(told.turn.lower())
        why = "unknown_turn" if one is None else self._against(told, one)
        if one is None or why:
            self.dropped(why)
            return None
        before = by_turn[one.turn.turn_id]
        if len(before) >= MAX_ITEMS_A_TURN:
            self.dropped("too_many")
            return None
        candidate = self._taken(told, one)
        if any(isinstance(item, Candidate) and plain(item.summary) == plain(candidate.summary) for item in before):
            self.dropped("said_twice")
            return None
        return candidate

    def _against(self, told: ToldMemory, one: ShownTurn) -> str:
        """Why a memory that was told of a turn is none, or ""."""
        if not told.summary or len(told.summary) > MAX_SUMMARY_CHARS:
            return "no_sentence"
        if not is_quoted(told.evidence, one.said_by("user")):
            return "no_evidence"
        if not is_quoted(told.evidence, one.in_own_words()):
            return "pasted"
        at = one.turn.occurred_at
        when = resolve_dates(mended(told.evidence), at).text
        by_rules = [hint.summary for hint in self.hints.get(one.turn.turn_id, ()) if isinstance(hint, Candidate)]
        known = " ".join((self._heard, _CALENDAR, str(at.year - 1), str(at.year), str(at.year + 1), when, *by_rules))
        return "" if is_supported(told.summary, told.evidence, one, known) else "not_the_users"

    def _taken(self, told: ToldMemory, one: ShownTurn) -> Candidate:
        at, said = one.turn.occurred_at, one.in_own_words()
        summary = _dated(told.summary, at)
        orders = [order for order in orders_of(said) if not order.doubtful]
        ordered = [order for order in orders if order.intent in _ASKED_FOR and _is_of(order, told.evidence, said)]
        certainty = min(told.confidence, _STATED if one.question is None else _ANSWERED)
        moments = resolve_dates(mended(told.evidence), at).moments
        return Candidate(
            turn_id=one.turn.turn_id,
            ordinal=0,
            context_turn_ids=self._understood_by(one, summary),
            type=told.type,
            kind=told.kind,
            category=self._category(told.category),
            summary=summary,
            tags=tuple(tag.lower()[:60] for tag in told.tags[:5]),
            entities=self._entities(told),
            facts=self._facts(told),
            source=one.turn.source,
            valence=told.valence,
            intensity=told.intensity,
            confidence=round(certainty * SOURCE_CONFIDENCE[one.turn.source], 3),
            occurred_at=moments[0].at if len(moments) == 1 else _moment(told.occurred_at, at) or at,
            said_at=at,
            explicit=bool(ordered),
            pinned=any(order.intent == "pin" for order in ordered),
            private=any(order.intent == "private" for order in orders),
        )

    def _understood_by(self, one: ShownTurn, summary: str) -> tuple[str, ...]:
        """Earlier turns without which the statement says less: the one that asked, the one that opened the topic."""
        topic = self.context.open_topics.get(one.turn.agent_id)
        opened = topic.turn_id if topic and stems(topic.text) & stems(summary) else None
        return tuple(dict.fromkeys(id_ for id_ in (opened, one.asked_in) if id_ and id_ != one.turn.turn_id))

    def _category(self, told: str) -> str:
        known = {category.casefold(): category for category in self.categories}
        return known.get(told.casefold(), self.categories[-1])

    def _is_user(self, word: str) -> bool:
        return word.casefold() in ("user", "the user", "i", "me", self.name.casefold())

    def _entities(self, told: ToldMemory) -> tuple[Entity, ...]:
        named = plain(f"{told.summary} {told.evidence}")
        found = {
            entity.text[:200]: entity.type
            for entity in told.entities
            if entity.text and plain(entity.text) in named and not self._is_user(entity.text)
        }
        return tuple(Entity(text=text, type=type_) for text, type_ in list(found.items())[:12])

    def _facts(self, told: ToldMemory) -> tuple[Fact, ...]:
        # What the rules read off the user's own words is the same whichever model is asked.
        by_rules = attribute_facts(mended(told.evidence))
        taken = {fact.attribute for fact in by_rules}
        stated = stems(f"{told.summary} {told.evidence}")
        by_model = (fact for one in told.facts[:6] if (fact := self._fact(one, stated)) is not None)
        rest = [fact for fact in by_model if fact.attribute is None or fact.attribute not in taken]
        if by_rules:
            rest = [fact for fact in rest if fact.attribute is not None]
        return (*by_rules, *rest)

    def _fact(self, told: ToldFact, stated: set[str]) -> Fact | None:
        # What the sentence does not say must not supersede what another one does.
        if not (told.entity and told.verb and told.object) or not stems(told.object) <= stated:
            return None
        attribute = (told.attribute or "").lower()
        return Fact(
            entity=USER if self._is_user(told.entity) else told.entity[:200],
            verb=told.verb[:100],
            object=told.object[:300],
            attribute=attribute if _ATTRIBUTE.fullmatch(attribute) else None,
        )

    def _forgetting(
        self, told: ToldForgetting, by_turn: Mapping[str, Sequence[Candidate | ForgetRequest]]
    ) -> ForgetRequest | None:
        """A request to forget is the user's order, so a model may only put it into words: rules must have heard it,
        or be deaf to its language."""
        one = self._open.get(told.turn.lower())
        if one is None or not told.what:
            return None
        said = one.in_own_words()
        wishes = [order for order in orders_of(said) if order.intent == "forget"]
        heard = bool(wishes) or not one.is_english
        by_rules = any(isinstance(hint, ForgetRequest) for hint in self.hints.get(one.turn.turn_id, ()))
        if by_rules or not heard or not is_quoted(told.evidence, said):
            self.dropped("nothing_to_forget")
            return None
        if len(by_turn[one.turn.turn_id]) >= MAX_ITEMS_A_TURN:
            self.dropped("too_many")
            return None
        return ForgetRequest(
            turn_id=one.turn.turn_id,
            ordinal=0,
            what=told.what[:MAX_SUMMARY_CHARS],
            doubtful=bool(wishes) and all(wish.doubtful for wish in wishes),
        )

    def _ordered(self, turn_id: str, items: Sequence[Candidate | ForgetRequest]) -> Iterator[Candidate | ForgetRequest]:
        done = any(isinstance(item, Candidate) and item.explicit for item in items)
        for hint in self.hints.get(turn_id, ()):
            is_attachment = isinstance(hint, Candidate) and "attachment" in hint.tags
            if isinstance(hint, ForgetRequest) or is_attachment or (hint.explicit and not done):
                yield hint


def _is_of(order: Order, evidence: str, said: str) -> bool:
    """Whether a quotation is of what an order is about: its object, or what was said before it."""
    if order.reaches_back:
        return 0 <= said.find(evidence) < order.start
    about, quoted = plain(order.object_text), plain(evidence)
    return quoted in about or (bool(about) and about in quoted) or len(stems(about) & stems(quoted)) > 1


def _dated(summary: str, at: datetime) -> str:
    """A summary without relative dates, in case that the model left one."""
    if not _RELATIVE.search(summary) or _YEAR.search(summary):
        return summary
    return resolve_dates(summary, at).text[:MAX_SUMMARY_CHARS]


def _moment(told: str | None, said_at: datetime) -> datetime | None:
    """When it happened, in the zone of who said it: noon of a day, or of the first of a month or year; None for what
    is no date or too far away to be meant."""
    if told is None:
        return None
    if re.fullmatch(r"\d{4}(?:-\d\d)?", told):
        told = f"{told}-01-01"[:10]
    try:
        moment = (
            datetime.combine(date.fromisoformat(told), time(12)) if len(told) <= 10 else datetime.fromisoformat(told)
        )
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=said_at.tzinfo)
        return moment if said_at - _PAST <= moment <= said_at + _FUTURE else None
    except (ValueError, OverflowError):
        return None
