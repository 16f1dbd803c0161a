"""Preferences that a subject speaks, turn by turn of a batch: topics that are left alone, and consent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from memory.draft import Draft
from memory.parser.english import parse
from memory.preferences import of_one_topic
from policies.authority import authority_of
from policies.language.dates import find_dates
from policies.language.languages import ENGLISH, language_of
from policies.language.orders import Order, only_opens, orders_of
from policies.language.people import people_in
from policies.language.sentences import split_sentences
from policies.privacy.quoted_text import own_words
from policies.topics import EVERYTHING, is_everything, named_in, topic_of
from schema import (
    MAX_BLOCKED_TOPICS,
    Admission,
    AdmissionAction,
    AdmittedTurn,
    AuditAction,
    Preference,
    PreferenceName,
    Preferences,
)
from schema.preferences import MAX_PAUSED_CONVERSATIONS, conversation_key
from stores.embedding.reading import MAY_BE_ANOTHERS, read_as

if TYPE_CHECKING:
    from stores.embedding.utterance_reader import UtteranceReader

_INTENTS = ("stop", "resume", "never_mention")
_MAY_PREFER = frozenset({"off_the_record", *(f"command_{intent}" for intent in _INTENTS)})
"""Reasons of an admission that say that a turn may tell what is to be kept."""
_OF_A_PERSON: Final = re.compile(r"\b(?:him|her|them)\b", re.IGNORECASE)
"""A pronoun for somebody: "never mention her again"."""
_WITHHELD = "consent_withdrawn"
_MAY_NOT_PREFER = "its source may not say what the user wants kept"
_OTHERS_WORDS = "it reads like the words of somebody else"
_CONSENT_IS_LATER = "an earlier wish does not change a consent that was given or withdrawn later"
_TOO_MANY_PAUSED = "as many conversations are paused as can be"


@dataclass
class SpokenPreferences:
    """`blocked` are the topics of which nothing may be kept, by the id of each turn; `withheld` the turns of which
    nothing at all may be."""

    blocked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    def topics(self, turn_id: str) -> tuple[str, ...]:
        """Return the topics of which nothing of a turn may be kept."""
        return self.blocked.get(turn_id, ())


@dataclass
class Consent:
    """Consent as it stands while turns are heard. `since` is when it was given or withdrawn last, None where it never
    was; the clocks of those who send turns may disagree by `tolerance`."""

    since: datetime | None
    tolerance: timedelta
    is_given: bool = True

    def hear(self, turn_id: str, said_at: datetime, *, gives: bool, draft: Draft) -> None:
        """Give or withdraw it on the draft, unless that was surely said before it was changed last."""
        is_older = self.since is not None and said_at + self.tolerance < self.since
        if is_older and gives is not self.is_given:
            draft.audit_refusal(AuditAction.REFUSED, turn_id, _CONSENT_IS_LATER)
            return
        self.is_given, self.since = gives, max(said_at, self.since or said_at)
        preference = Preference(name=PreferenceName.CONSENT, value="granted" if gives else "withdrawn")
        draft.set_preference(preference, turn_id, f"consent_{preference.value}")
        draft.consent_given_at = self.since


def spoken_preferences(
    turns: Sequence[AdmittedTurn],
    earlier: Preferences,
    consent: Consent,
    arrivals: Mapping[str, datetime],
    draft: Draft,
    reader: UtteranceReader | None = None,
) -> SpokenPreferences:
    """Return what holds for each of the turns, oldest first: what was wanted before, and what they say themselves.

    A preference holds for the turn that says it and all after it. It goes onto the draft. `arrivals` are when the turns
    came, by their ids: none was said later. What reads like another's words to a `reader`, behind what announces them,
    says nothing.
    """
    preferences = SpokenPreferences()
    topics, consent.is_given = dict.fromkeys(earlier.blocked_topics), earlier.consent != "withdrawn"
    unmentioned = dict.fromkeys(earlier.unmentioned_topics)
    paused = set(earlier.paused_conversations)
    for admitted in turns:
        turn_id = admitted.turn.turn_id
        orders, moment = _own_orders_of(admitted, reader, draft), admitted.turn.occurred_at
        topics_said = [(topic, order.intent) for order, text in orders for topic in _topics_of(order, text, moment)]
        pauses = [order.intent == "stop" for order, _ in orders if order.of_conversation]
        if (topics_said or pauses) and not authority_of(admitted.turn.source).prefers:
            draft.audit_refusal(AuditAction.REFUSED, turn_id, _MAY_NOT_PREFER)
            topics_said, pauses = [], []
        for topic, intent in topics_said:
            is_blocked = intent == "stop"
            if intent == "never_mention":
                if topic not in unmentioned and len(unmentioned) < MAX_BLOCKED_TOPICS and not is_everything(topic):
                    unmentioned[topic] = None
                    preference = Preference(name=PreferenceName.UNMENTIONED_TOPIC, value=topic)
                    draft.set_preference(preference, turn_id, "topic_unmentioned")
                continue
            if is_everything(topic):
                consent.hear(turn_id, min(moment, arrivals[turn_id]), gives=not is_blocked, draft=draft)
                if is_blocked:
                    # Also where it changes nothing: of what came with it nothing was to be kept.
                    preferences.withheld.add(turn_id)
                continue
            preference = Preference(name=PreferenceName.BLOCKED_TOPIC, value=topic)
            if not is_blocked and (topic in topics or topic in unmentioned):
                topics.pop(topic, None)
                unmentioned.pop(topic, None)
                for each in of_one_topic(preference):
                    draft.unset_preference(each, turn_id, "topic_unblocked")
            elif is_blocked and topic not in topics and len(topics) < MAX_BLOCKED_TOPICS:
                topics[topic] = None
                draft.set_preference(preference, turn_id, "topic_blocked")
        key = conversation_key(admitted.turn.conversation_id)
        if pauses and pauses[-1] is not (key in paused):
            _pause(key, pauses[-1], paused, turn_id, draft)
        preferences.blocked[turn_id] = tuple(topics)
        if not consent.is_given or key in paused:
            preferences.withheld.add(turn_id)
    return preferences


def _pause(key: str, pauses: bool, paused: set[str], turn_id: str, draft: Draft) -> None:
    """Note on the draft that a conversation is paused, or goes on; and among those that are `paused`."""
    preference = Preference(name=PreferenceName.PAUSED_CONVERSATION, value=key)
    if not pauses:
        paused.remove(key)
        draft.unset_preference(preference, turn_id, "conversation_resumed")
    elif len(paused) < MAX_PAUSED_CONVERSATIONS:
        paused.add(key)
        draft.set_preference(preference, turn_id, "conversation_paused")
    else:
        draft.audit_refusal(AuditAction.REFUSED, turn_id, _TOO_MANY_PAUSED)


def without_withheld(turns: Sequence[AdmittedTurn], preferences: SpokenPreferences) -> list[AdmittedTurn]:
    """Return the turns, with those skipped that may not be looked at. What asks for something to be forgotten still
    is."""
    return [
        AdmittedTurn(admitted.turn, Admission(action=AdmissionAction.SKIP, reasons=(_WITHHELD,)))
        if admitted.turn.turn_id in preferences.withheld and "command_forget" not in admitted.admission.reasons
        else admitted
        for admitted in turns
    ]


def _orders_of(admitted: AdmittedTurn) -> list[tuple[Order, str]]:
    """Return the user's orders about what is kept and mentioned, in the order of the words, each with its message."""
    if not _MAY_PREFER.intersection(admitted.admission.reasons):
        return []
    texts = [own_words(message.content) for message in admitted.turn.messages if message.role == "user"]
    return [
        (order, text)
        for text in texts
        for order in orders_of(text)
        if order.intent in _INTENTS and not order.doubtful and (order.sure or order.intent != "never_mention")
    ]


def _own_orders_of(admitted: AdmittedTurn, reader: UtteranceReader | None, draft: Draft) -> list[tuple[Order, str]]:
    """Return the orders without those that read like another's words, and what follows those in their message: of these
    a line goes onto the draft."""
    said, own, of_others = _orders_of(admitted), list[tuple[Order, str]](), set[str]()
    for order, text in said:
        if text in of_others or _reads_like_others(order, text, reader):
            of_others.add(text)
        else:
            own.append((order, text))
    if len(own) < len(said):
        draft.audit_refusal(AuditAction.REFUSED, admitted.turn.turn_id, _OTHERS_WORDS)
    return own


def _reads_like_others(order: Order, text: str, reader: UtteranceReader | None) -> bool:
    """Return whether an order that stands behind other words of its message reads like another's."""
    before, ordered = text[: order.start].strip(), text[order.start : order.end]
    if reader is None or not before or language_of(text) != ENGLISH:
        return False
    return reader.read([read_as(ordered, before)])[0].others >= MAY_BE_ANOTHERS


def _topics_of(order: Order, text: str, moment: datetime) -> tuple[str, ...]:
    """Return what an order is about: where that was just said, the topic of the sentence before it, of which nothing is
    to be mentioned; what is not to be kept is off the record."""
    if order.scope == "all":
        return (EVERYTHING,)
    if not order.reaches_back:
        return named_in(order.object_text)
    before = [sentence.text for sentence in split_sentences(text[: order.start].rstrip(" ,;-–—"))]
    said = [sentence for sentence in before if not only_opens(sentence, language_of(text))]
    if order.intent != "never_mention" or not said:
        return ()
    [parsed] = parse(said[-1:])
    if _OF_A_PERSON.search(text, order.start, order.end) and (people := people_in(parsed)):
        return named_in(people[-1].name or people[-1].noun or "")
    topic = topic_of(parsed, [(when.start, when.end) for when in find_dates(said[-1], moment)])
    return (topic,) if topic is not None else ()
