"""What a language model says of the known memories that it was shown."""

from __future__ import annotations

from uuid import UUID

import pytest

from schema import Context, ForgetRequest, KnownMemory
from tests.scripted import Scripted, answer, told
from tests.unit.extract.asking import WHEN, ask, candidates, said

KNOWN = Context(
    known=(
        KnownMemory(id=UUID(int=1), summary="Maya lives in Porto.", said_at=WHEN),
        KnownMemory(id=UUID(int=2), summary="Maya earns 84k.", said_at=WHEN),
    )
)


@pytest.mark.parametrize("named", [["K1"], ["k1", "K1", "K7"], "K1", [1], ["[K1]"]])
def test_what_a_memory_replaces_is_known_by_its_label(named: object) -> None:
    memory = told("I live in Lisbon", "Maya lives in Lisbon.", replaces=named)
    [candidate] = candidates(ask(Scripted(answer(memory)), said("I live in Lisbon."), context=KNOWN))
    assert candidate.replaces == (UUID(int=1),)


def test_a_quoted_wish_to_forget_that_names_what_is_known_is_honoured_though_no_rule_heard_it() -> None:
    asks = {"turn": "T1", "evidence": "pay is nobody's business", "what": "Maya's pay", "known": ["K2"]}
    text = "My pay is nobody's business from here on."
    [request] = ask(Scripted(answer(forget=[asks])), said(text), context=KNOWN).items
    assert isinstance(request, ForgetRequest)
    assert (request.known, request.scope) == ((UUID(int=2),), "thing")
    made_up = asks | {"evidence": "delete my pay"}
    assert ask(Scripted(answer(forget=[made_up])), said(text), context=KNOWN).items == ()
    everything = asks | {"known": ["all"]}
    [request] = ask(Scripted(answer(forget=[everything])), said(text), context=KNOWN).items
    assert isinstance(request, ForgetRequest)
    assert (request.known, request.scope) == ((), "all")
