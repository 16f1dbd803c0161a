"""Which elements of a queue kombu can read: whatever else it is given ends the worker."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.unreadable import fault_of

SENT = {"exchange": "memory_ingest_queue", "routing_key": "memory_ingest_queue"}
SOUND: dict[str, Any] = {
    "body": "W10=",
    "properties": {"delivery_tag": "1", "delivery_info": SENT, "body_encoding": "base64"},
}


def with_properties(**changed: Any) -> bytes:
    return json.dumps(SOUND | {"properties": SOUND["properties"] | changed}).encode()


def test_a_message_has_no_fault() -> None:
    assert fault_of(json.dumps(SOUND).encode()) is None
    assert fault_of(with_properties(body_encoding=None)) is None


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (b"", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no delivery tag"),
        (b'{"properties": []}', "no delivery tag"),
        (with_properties(delivery_tag=None), "no delivery tag"),
        (with_properties(delivery_info=None), "where it was sent to"),
        (with_properties(delivery_info={"exchange": ""}), "where it was sent to"),
        (with_properties(body_encoding="rot13"), "unknown encoding"),
        (with_properties(body_encoding=["base64"]), "unknown encoding"),
        (json.dumps(SOUND | {"body": "a"}).encode(), "no base64"),
        (json.dumps(SOUND | {"body": 7}).encode(), "no base64"),
    ],
)
def test_what_kombu_would_fail_on_is_named(item: bytes, fault: str) -> None:
    assert fault in (fault_of(item) or "")


NAMES = st.sampled_from(["properties", "delivery_tag", "delivery_info", "body_encoding", "body"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
)


@given(st.binary(max_size=200) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_nothing_makes_it_raise(item: bytes) -> None:
    fault_of(item)
