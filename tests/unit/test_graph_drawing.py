"""Facts as a picture: every name once, from left to right, whatever they say of each other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from interfaces.http.pages.graph_drawing import draw, draw_bars
from recall.registry import Span, Stated
from schema import Fact, Kind, Memory, MemoryType, Subject, memory_id

NOW = datetime(2026, 11, 2, tzinfo=UTC)
NAMES = st.sampled_from(["User", "user", "Lea", "Tom", "Berlin", "tea", "X" * 80])


def stated(*facts: tuple[str, str, str]) -> list[Stated]:
    maya = Subject(tenant_id="acme", subject_id="maya")
    memory = Memory(
        id=memory_id(maya, MemoryType.SEMANTIC, "t1", 0),
        **maya.model_dump(),
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Personal",
        summary="Maya drinks tea.",
        source_turn_ids=("t1",),
        importance=0.5,
        trust_score=0.5,
        confidence=0.5,
        occurred_at=NOW,
        said_at=NOW,
        created_at=NOW,
        updated_at=NOW,
        last_accessed=NOW,
        embedding_model="m",
        policy_version="1",
    )
    return [Stated(Fact(entity=who, verb=verb, object=what), memory) for who, verb, what in facts]


def test_what_is_said_of_somebody_stands_to_their_right() -> None:
    drawing = draw(
        stated(("User", "has sister", "Lea"), ("Lea", "lives in", "Berlin"), ("Tom", "likes", "tea")), "user", str
    )
    place = {node.name: node.x for node in drawing.nodes}
    assert place["User"] == place["Tom"] < place["Lea"] == place["tea"] < place["Berlin"]
    assert [node.verbs for node in drawing.nodes if node.name == "Lea"] == ["has sister"]
    assert len(drawing.paths) == 3


@given(st.lists(st.tuples(NAMES, st.sampled_from(["likes", "is"]), NAMES), max_size=12))
def test_every_name_stands_once_in_a_place_of_its_own(facts: list[tuple[str, str, str]]) -> None:
    drawing = draw(stated(*facts), "user", str)
    named = {name.casefold() for who, _, what in facts for name in (who, what)}
    assert {node.name.casefold() for node in drawing.nodes} == named
    assert len({(node.x, node.y) for node in drawing.nodes}) == len(drawing.nodes) == len(named)
    assert all(0 <= node.x < drawing.width and 0 <= node.y < drawing.height for node in drawing.nodes)


def test_a_bar_is_as_long_as_it_held_and_the_last_reaches_to_now() -> None:
    [one] = stated(("User", "lives in", "Berlin"))
    half = NOW - timedelta(days=50)
    spans = [Span(one, NOW - timedelta(days=100), half), Span(one, half, None)]
    first, second = draw_bars(spans, NOW)
    assert (first.x, second.x) == (0.0, 50.0)
    assert first.width == second.width == 50.0
