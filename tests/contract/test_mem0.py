"""What mem0 knows, taken over by the decision of what is stated here."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.erasure.memories import ERASED, erase_memories
from memory.mem0 import NotMem0, take_over
from schema import Kind, Status, Subject
from tests.contract.pipeline import Worker

ROWS: list[Any] = [
    {
        "id": "m1",
        "memory": "Is allergic to peanuts",
        "hash": "h",
        "user_id": "maya",
        "created_at": "2025-03-04T05:06:07-08:00",
        "updated_at": None,
        "metadata": {"category": "personal", "tags": ["diet"], "source": "app"},
        "categories": ["health"],
    },
    {"id": "m2", "memory": "Is allergic to peanuts", "user_id": "maya", "run_id": "r1"},
    {"id": "m3", "memory": "", "user_id": "maya"},
    {"id": "m4", "memory": "Lives in Porto"},
    {"id": "m5", "memory": "x" * 601, "user_id": "maya"},
    {"id": "m6", "memory": "Likes tea", "user_id": "maya", "created_at": "yesterday"},
    {"id": "m7", "memory": "My password is hunter2-Zx9!kLm", "user_id": "maya"},
    "no row",
]


def test_a_row_that_a_quota_keeps_out_is_named_and_those_of_others_are_taken(worker: Worker) -> None:
    bounded = worker.with_parts(settings=worker.context.settings.model_copy(update={"quota_user_memories": 1}))
    said = (("oda", "Lives in Porto"), ("oda", "Is allergic to peanuts"), ("pia", "Lives in Porto"))
    text = "\n".join(json.dumps({"id": memory, "memory": memory, "user_id": user}) for user, memory in said)
    taken = take_over(text, bounded.context, tenant_id="acme", user_id=None, now=datetime(2026, 11, 2, tzinfo=UTC))
    assert taken.outcomes == {"created": 2}
    [bad] = taken.bad
    assert "AFTERTURN_QUOTA_USER_MEMORIES" in bad
    taken = take_over(text, worker.context, tenant_id="acme", user_id=None, now=datetime(2026, 11, 2, tzinfo=UTC))
    assert (taken.outcomes, taken.bad) == ({"known": 2, "created": 1}, [])


def test_each_row_is_decided_on_and_a_second_time_nothing_is_doubled(worker: Worker) -> None:
    now = datetime(2026, 11, 2, tzinfo=UTC)
    text = "\n".join(json.dumps(row) for row in ROWS)
    for _ in range(2):
        taken = take_over(text, worker.context, tenant_id="acme", user_id="nora", now=now)
        assert [row.split(":")[0] for row in taken.bad] == [
            "row 3 (id m3)",
            "row 5 (id m5)",
            "row 6 (id m6)",
            "row 7 (id m7)",
            "row 8",
        ]
        assert taken.left_out == {"metadata.source": 1, "run_id": 1}
    [memory] = worker.known(Subject(tenant_id="acme", subject_id="maya"))
    assert (memory.summary, memory.kind, memory.category) == ("Is allergic to peanuts", Kind.USER_FACT, "Personal")
    assert {"diet", "health"} <= set(memory.tags)
    assert [(fact.entity, fact.object) for fact in memory.facts] == [("user", "peanuts")]
    [of_nora] = worker.known(Subject(tenant_id="acme", subject_id="nora"))
    assert [(fact.object, fact.attribute) for fact in of_nora.facts] == [("Porto", "home_city")]


def test_what_was_written_further_ahead_than_a_turn_may_be_said_is_named_and_takes_no_place(worker: Worker) -> None:
    now = datetime(2026, 11, 2, tzinfo=UTC)
    soon, far = (now + timedelta(seconds=worker.context.settings.max_ahead_seconds + seconds) for seconds in (-60, 60))
    rows = [
        {"id": "a", "memory": "Lives in Oslo", "user_id": "vera", "created_at": far.isoformat()},
        {"id": "b", "memory": "Lives in Rome", "user_id": "vera", "created_at": "2099-01-01T00:00:00"},
        {
            "id": "c",
            "memory": "Lives in Porto",
            "user_id": "vera",
            "created_at": "2025-03-01",
            "updated_at": "2099-01-01",
        },
        {"id": "d", "memory": "Lives in Berlin", "user_id": "vera", "created_at": "2025-04-01T00:00:00"},
        {"id": "e", "memory": "Plays chess", "user_id": "vera", "created_at": soon.isoformat()},
    ]
    taken = take_over(json.dumps(rows), worker.context, tenant_id="acme", user_id=None, now=now)
    assert [row.partition(": ")[0] for row in taken.bad] == ["row 1 (id a)", "row 2 (id b)"]
    assert all("AFTERTURN_MAX_AHEAD_SECONDS" in row for row in taken.bad)
    assert taken.outcomes == {"created": 3}
    known = {memory.summary for memory in worker.known(Subject(tenant_id="acme", subject_id="vera"))}
    assert known == {"Lives in Berlin", "Plays chess"}


@pytest.mark.parametrize("is_reversed", [False, True])
def test_what_mem0_wrote_last_is_true_in_whatever_order_the_rows_come_and_however_often(
    worker: Worker, is_reversed: bool
) -> None:
    user = f"zoe-{is_reversed}"
    rows = [
        {"id": f"{user}-1", "memory": "Lives in Porto", "user_id": user, "created_at": "2025-03-01T00:00:00"},
        {
            "id": f"{user}-2",
            "memory": "Lives in Berlin",
            "user_id": user,
            "created_at": "2025-01-01T00:00:00",
            "updated_at": "2025-06-01T00:00:00-07:00",
        },
    ]
    text = json.dumps({"results": rows[::-1] if is_reversed else rows})
    whose = Subject(tenant_id="acme", subject_id=user)
    for outcome in ("created", "known", "known"):
        taken = take_over(text, worker.context, tenant_id="acme", user_id=None, now=datetime(2026, 11, 2, tzinfo=UTC))
        assert taken.outcomes == {outcome: 2}
        assert [memory.summary for memory in worker.known(whose)] == ["Lives in Berlin"]
        assert [memory.summary for memory in worker.known(whose, Status.SUPERSEDED)] == ["Lives in Porto"]


@pytest.mark.parametrize("is_by_word", [False, True])
def test_what_was_forgotten_since_stays_forgotten(worker: Worker, is_by_word: bool) -> None:
    """However it was forgotten, and whether the row was kept by itself or merged into what was known."""
    user = f"ivo-{is_by_word}"
    whose, now = Subject(tenant_id="acme", subject_id=user), datetime(2026, 11, 2, tzinfo=UTC)
    worker.hear(user, "I am allergic to nuts.", tenant_id="acme")
    said = ("Is allergic to nuts", "Lives in Porto")
    text = json.dumps([{"id": f"{user}-{memory}", "memory": memory, "user_id": user} for memory in said])
    take_over(text, worker.context, tenant_id="acme", user_id=None, now=now)
    if is_by_word:
        worker.hear(user, "Forget my nut allergy.", "Forget where I live.", tenant_id="acme", first=1)
    else:
        ids = [memory.id for memory in worker.known(whose)]
        erase_memories(whose, ids, worker.context, by="operator", reason=ERASED, now=now)
    assert worker.known(whose) == []
    again = take_over(text, worker.context, tenant_id="acme", user_id=None, now=now)
    assert (again.outcomes, worker.known(whose)) == ({"known": 2}, [])


@pytest.mark.parametrize(
    "wrong", [{"memory": "Likes \ud800 tea"}, {"categories": ["\ud800"]}, {"user_id": "\ud800"}, {"memory": "a\0b"}]
)
def test_a_row_that_is_no_text_is_named_and_those_beside_it_are_taken(worker: Worker, wrong: dict[str, Any]) -> None:
    rows = [{"id": "w1", "memory": "Likes tea", "user_id": "ruth"} | wrong, {"memory": "Sings alto", "user_id": "ruth"}]
    now = datetime(2026, 11, 2, tzinfo=UTC)
    taken = take_over(json.dumps(rows), worker.context, tenant_id="acme", user_id=None, now=now)
    assert [row.split(":")[0] for row in taken.bad] == ["row 1 (id w1)"]
    assert sum(taken.outcomes.values()) == 1


@pytest.mark.parametrize("text", ["nonsense", "3", '{"rows": []}', '{"memory": "a"}\nnonsense', "[" * 100_000])
def test_a_file_of_something_else_is_refused(worker: Worker, text: str) -> None:
    with pytest.raises(NotMem0):
        take_over(text, worker.context, tenant_id="acme", user_id="nora", now=datetime(2026, 11, 2, tzinfo=UTC))
