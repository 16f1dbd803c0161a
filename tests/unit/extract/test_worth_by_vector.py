"""What is worth a memory: where words leave it open, the sentence's vector is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from unittest.mock import Mock

import pytest

from policies.admission import admit
from policies.language.heads import EMBEDDER, judge, leaves_worth_open, weights, worth_by_vector
from schema import AdmittedTurn, Candidate, Context, Message, Policy, Turn
from schema.settings import Settings, load_settings
from stores.embedding import open_embedder
from stores.embedding.base import Embedder
from worker.extract import open_extractor

_SURE = "My sister Ola moved to Oslo in May and works as a nurse."
_SAID = f"stress test came back clean, cardiologist says the ticker's strong. Also got dumped. {_SURE}"


@cache
def _minilm() -> Embedder:
    return open_embedder(load_settings())


def _listening(name: str) -> Mock:
    """Return MiniLM under a name, which notes what it is asked."""
    listening = Mock(wraps=_minilm())
    listening.name = name
    return listening


def _told(embedder: Embedder | None) -> list[str]:
    turn = Turn(
        tenant_id="acme",
        user_id="noor",
        conversation_id="c",
        turn_id="t",
        occurred_at=datetime(2026, 11, 21, 18, 0, tzinfo=UTC),
        messages=(Message(role="user", content=_SAID),),
    )
    extractor = open_extractor(Settings(), None, Policy(), embedder)
    extraction = extractor.extract([AdmittedTurn(turn, admit(turn))], Context())
    return [item.summary for item in extraction.items if isinstance(item, Candidate)]


def test_of_what_words_leave_open_all_is_asked_in_one_call() -> None:
    listening = _listening(EMBEDDER)
    _told(listening)
    ((asked,), _) = listening.embed.call_args
    assert listening.embed.call_count == 1
    assert len(asked) == 2
    assert _SURE not in asked


def test_what_the_vector_finds_worth_a_memory_is_kept() -> None:
    assert any("stress test" in summary for summary in _told(_minilm()))
    assert not any("stress test" in summary for summary in _told(None))


def test_vectors_of_another_embedder_are_not_asked() -> None:
    listening = _listening("another")
    assert _told(listening) == _told(None)
    assert not listening.embed.called


@pytest.mark.parametrize("text", ["I like it here", "went pink", "the door is green"])
def test_the_second_head_says_how_likely_it_is(text: str) -> None:
    (vector,) = _minilm().embed([text])
    assert 0.0 <= worth_by_vector(text, None, "", tuple(vector.tolist())) <= 1.0


def test_the_second_head_has_a_weight_for_every_number_of_a_vector() -> None:
    assert weights().by_vector.vector.shape == (_minilm().dimensions,)


def test_words_that_settle_it_leave_nothing_open() -> None:
    assert not leaves_worth_open(judge(_SURE, None))
