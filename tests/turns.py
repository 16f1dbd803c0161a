"""Turns as a backend sends them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from schema import Subject

WHEN = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)


def a_turn(user: str, number: int, said: str) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "turn_id": f"{user}-{number}",
        "tenant_id": "acme",
        "user_id": user,
        "conversation_id": "c",
        "messages": [{"role": "user", "name": user.title(), "content": said}],
        "occurred_at": datetime(2026, 11, 2, 8, number, tzinfo=UTC).isoformat(),
    }


def subject(user: str) -> Subject:
    return Subject(tenant_id="acme", subject_id=user)
