"""The table of what each source may do."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import pytest

from policies.authority import AUTHORITIES, SOURCE_CONFIDENCE, as_heard, may_replace, speaker_of
from policies.importance import source_trust
from policies.merge import merge
from schema import MemoryType
from schema.turn import TurnSource
from tests.unit.policies.builders import NOON, candidate, memory

SOURCES: tuple[TurnSource, ...] = get_args(TurnSource)


def test_every_source_has_its_authority_trust_and_confidence() -> None:
    assert set(AUTHORITIES) == set(SOURCES) == set(SOURCE_CONFIDENCE)
    assert all(0 < source_trust(source) <= 1 for source in SOURCES)


@pytest.mark.parametrize("source", SOURCES)
def test_only_the_user_replaces_the_users_words_deletes_and_prefers(source: TurnSource) -> None:
    authority = AUTHORITIES[source]
    user = source == "chat"
    assert (may_replace(source, "chat"), authority.deletes, authority.prefers) == (user, user, user)


def test_a_source_replaces_itself_and_what_is_trusted_no_more() -> None:
    assert may_replace("agent", "agent")
    assert may_replace("agent", "external")
    assert not may_replace("external", "agent")
    assert not may_replace("instagram", "bank_api")
    assert all(may_replace("chat", other) for other in SOURCES)


def test_what_the_user_said_too_is_the_users() -> None:
    assert speaker_of(["bank_api", "chat"]) == "chat"
    assert speaker_of(["external", "agent"]) == "agent"


@pytest.mark.parametrize("type_", MemoryType)
def test_a_source_that_may_not_change_words_says_nothing_of_when_they_were_said(type_: MemoryType) -> None:
    later = NOON + timedelta(days=9)
    known = memory(type=type_, occurred_at=NOON.replace(hour=0), said_at=NOON)
    heard = as_heard(candidate(type=type_, source="external", occurred_at=later, said_at=later), known)
    merged = merge(known, heard, 0.4, later, "p")
    assert (merged.said_at, merged.occurred_at) == (known.said_at, known.occurred_at)
    assert "turn-2" in merged.source_turn_ids
