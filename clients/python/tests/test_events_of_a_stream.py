"""The bytes of an event stream, however they are cut, are the events that were sent."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afterturn_client import Event, NotFound, Problem, RequestFailed, Unavailable
from afterturn_client.sse import GAP, Listening, Parser

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def written(events: list[Event], end: str) -> bytes:
    lines = [
        line
        for event in events
        for line in (": still here", f"event: {event.name}", f"id: {event.id}", f"data: {json.dumps(event.data)}", "")
    ]
    return (end.join(lines) + end).encode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_stream_that_comes_byte_by_byte_is_the_same(end: str) -> None:
    events = [Event("1-0", "memory.created", {"summary": "å"}), Event("2-0", "memory.deleted", {})]
    parser = Parser()
    heard = [event for byte in written(events, end) + b"\n" for event in parser.feed(bytes([byte]))]
    assert heard == events


@given(
    st.lists(st.dictionaries(WORDS, WORDS, max_size=3), max_size=5), st.sampled_from(["\n", "\r\n", "\r"]), st.data()
)
def test_events_are_the_same_however_the_stream_is_cut(
    payloads: list[dict[str, str]], end: str, data: st.DataObject
) -> None:
    events = [Event(f"{number}-0", "memory.created", payload) for number, payload in enumerate(payloads)]
    stream = written(events, end)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    parser = Parser()
    heard = [
        event
        for first, last in itertools.pairwise([0, *cuts, len(stream)])
        for event in parser.feed(stream[first:last])
    ]
    # A lone CR at the end is an end only once something follows it.
    heard += list(parser.feed(b"\n"))
    assert heard == events


def test_signs_that_unicode_ends_lines_with_are_part_of_what_was_said() -> None:
    payload = {"summary": "one\u2028two\u0085three\x0bfour"}
    stream = f"id: 1\nevent: memory.created\ndata: {json.dumps(payload, ensure_ascii=False)}\n\n".replace(
        "\x0b", "\\u000b"
    )
    assert [event.data for event in Parser().feed(stream.encode())] == [payload]


def test_data_over_several_lines_is_one_text() -> None:
    assert [event.data for event in Parser().feed(b'data: {"a":\ndata: 1}\n\n')] == [{"a": 1}]


def test_a_connection_goes_on_behind_the_last_event_that_was_whole() -> None:
    listening = Listening((("user_id", "maya"),), Parser("7-0"))
    assert ("Last-Event-ID", "7-0") in listening.request().headers
    list(listening.heard(b""))
    assert [event.id for event in listening.heard(b"id: 8-0\nevent: a\ndata: {}\n\nevent: b\ndata: {")] == ["8-0"]
    list(listening.heard(b""))
    assert ("Last-Event-ID", "8-0") in listening.request().headers
    assert [event.name for event in listening.heard(b"id: 9-0\nevent: b\ndata: {}\n\n")] == ["b"]


def test_a_listener_that_cannot_say_what_it_missed_says_that_there_is_a_gap() -> None:
    listening = Listening((), Parser())
    assert list(listening.heard(b"")) == []
    assert [event.name for event in listening.heard(b"")] == [GAP]


def test_a_service_that_is_away_is_waited_for_as_long_as_it_asks_and_ever_longer_otherwise() -> None:
    listening = Listening((), Parser(retry_seconds=2.0))
    assert listening.pause(Unavailable(None, "away", retry_after=5.0)) == 5.0
    pauses = [listening.pause(None) for _ in range(10)]
    assert all(1.0 <= pause <= 30.0 for pause in pauses)
    assert pauses[-1] >= 15.0


def test_a_service_that_refuses_is_not_asked_again() -> None:
    with pytest.raises(NotFound):
        Listening((), Parser()).pause(NotFound(Problem(404, "Not Found", "")))


def test_a_stream_of_something_else_is_given_up() -> None:
    with pytest.raises(RequestFailed, match="not JSON"):
        list(Parser().feed(b"data: hello\n\n"))
    with pytest.raises(RequestFailed, match="without an end"):
        list(Parser().feed(b"x" * (9 * 1024 * 1024)))
