"""The table of what each source may do."""

from __future__ import annotations

from typing import get_args

import pytest

from policies.authority import AUTHORITIES, SOURCE_CONFIDENCE, may_replace, speaker_of
from policies.importance import source_trust
from schema.turn import TurnSource

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
