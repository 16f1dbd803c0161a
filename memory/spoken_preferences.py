"""What a subject wants of their memory, turn by turn of a batch: blocked topics and consent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory.draft import Draft
from policies.language.commands import find_commands
from policies.privacy.quoted_text import own_words
from policies.topics import is_everything, named_in
from schema import (
    MAX_BLOCKED_TOPICS,
    Admission,
    AdmissionAction,
    AdmittedTurn,
    Preference,
    PreferenceName,
    Preferences,
)

_WISHES = ("block", "unblock")
_WITHHELD = "consent_withdrawn"


@dataclass
class Wishes:
    """`blocked` are the topics of which nothing may be kept, by the id of each turn; `withheld` the turns of which
    nothing at all may be."""

    blocked: dict[str, tuple[str, ...]] = field(default_factory=dict)
    withheld: set[str] = field(default_factory=set)

    def topics(self, turn_id: str) -> tuple[str, ...]:
        return self.blocked.get(turn_id, ())


def wishes_of(turns: Sequence[AdmittedTurn], kept: Preferences, draft: Draft) -> Wishes:
    """What holds for each of the turns, oldest first: what was wanted before, and what they say themselves.

    A wish holds for the turn that says it and all after it. It goes onto the draft.
    """
    wishes = Wishes()
    topics, consent = dict.fromkeys(kept.blocked_topics), kept.consent != "withdrawn"
    for one in turns:
        turn_id = one.turn.turn_id
        for topic, blocked in _said(one):
            if is_everything(topic):
                consent = not blocked
                granted = Preference(name=PreferenceName.CONSENT, value="granted" if consent else "withdrawn")
                draft.prefer(granted, turn_id, f"consent_{granted.value}")
                continue
            preference = Preference(name=PreferenceName.BLOCKED_TOPIC, value=topic)
            if not blocked and topic in topics:
                del topics[topic]
                draft.prefer_no_longer(preference, turn_id, "topic_unblocked")
            elif blocked and topic not in topics and len(topics) < MAX_BLOCKED_TOPICS:
                topics[topic] = None
                draft.prefer(preference, turn_id, "topic_blocked")
        wishes.blocked[turn_id] = tuple(topics)
        if not consent:
            wishes.withheld.add(turn_id)
    return wishes


def without_withheld(turns: Sequence[AdmittedTurn], wishes: Wishes) -> list[AdmittedTurn]:
    """The turns, with those skipped that may not be looked at. What asks for something to be forgotten still is."""
    return [
        AdmittedTurn(one.turn, Admission(action=AdmissionAction.SKIP, reasons=(_WITHHELD,)))
        if one.turn.turn_id in wishes.withheld and "command_forget" not in one.admission.reasons
        else one
        for one in turns
    ]


def _said(one: AdmittedTurn) -> list[tuple[str, bool]]:
    """The topics that the user wants blocked (True) or not any more (False), in the order in which they are said."""
    if not any(f"command_{verb}" in one.admission.reasons for verb in _WISHES):
        return []
    return [
        (topic, command.verb == "block")
        for message in one.turn.messages
        if message.role == "user"
        for command in find_commands(own_words(message.content))
        if command.verb in _WISHES
        for topic in named_in(command.object_text)
    ]
